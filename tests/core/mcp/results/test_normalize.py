"""Normalization of tool output into results: shared cases and properties."""

import json
from collections.abc import Callable
from random import Random
from typing import Any

import pytest
from agreement.editions import EDITIONS
from agreement.payloads import PayloadMaker
from agreement.schemas import generate_schema
from sidecheck.text_contract import is_canonical
from sidecheck.wrapping import unwrap
from sidecheck_server.core.errors import RequestError
from sidecheck_server.core.json_values import json_equal
from sidecheck_server.core.limits import Exhausted
from sidecheck_server.core.mcp.check import check
from sidecheck_server.core.mcp.context import VERSIONS, Context
from sidecheck_server.core.mcp.protocol_schemas import compile_protocol_schemas
from sidecheck_server.core.mcp.results.normalize import (
    Content,
    Failure,
    ToolOutput,
    Value,
    WholeResult,
    normalize_output,
    text_result,
)
from sidecheck_server.core.mcp.subjects import CheckRequest, ReportLimits, ToolResult
from sidecheck_server.core.mcp.wrapping.definitions import adapt_tool
from sidecheck_server.core.payload import MalformedError
from sidecheck_server.core.types import Severity
from support.compiling import LIMITS, compile_value
from support.result_cases import RESULTS, text_of

PROTOCOL_SCHEMAS = compile_protocol_schemas(LIMITS)
NEWEST = EDITIONS[-1]
SCHEMAS = 60
KINDS: dict[str, Callable[[Any], ToolOutput]] = {
    "value": lambda value: Value(text_of(value)),
    "content": lambda value: Content(text_of(value)),
    "result": lambda value: WholeResult(text_of(value)),
    "error": Failure,
}


def result_of(returned: ToolOutput, version: str, tool: Any = None) -> Any:
    """Return the result, unchecked, of the tool of that definition."""
    output = None if tool is None else adapt_tool(text_of(tool), version, LIMITS).output
    return normalize_output(returned, output, version, LIMITS)


@pytest.mark.parametrize("case", [case for case in RESULTS if case.values[0]["want"]["valid"]])
def test_result_of_a_shared_case(case: dict[str, Any]) -> None:
    """The order of properties is compared too."""
    [(kind, value)] = case["returned"].items()
    in_text = case.get("profile") == "text"
    tool = None if in_text else case.get("tool")
    result = result_of(KINDS[kind](value), case["version"], tool)
    actual = text_result(result) if in_text else result

    assert json.dumps(case["want"]["result"]) == json.dumps(actual)
    assert is_canonical(actual) or not in_text


@pytest.mark.parametrize("kind", [Value, Content, WholeResult])
@pytest.mark.parametrize("text", [b"", b"[NaN]", b'{"a":1,"a":2}', b'"\xff"'])
def test_output_that_is_not_json_is_an_error(
    kind: Callable[[bytes], ToolOutput], text: bytes
) -> None:
    """No result is built from it."""
    with pytest.raises(MalformedError):
        result_of(kind(text), "2025-11-25")


def test_oversized_output_is_an_error() -> None:
    """The limit applies before parsing."""
    with pytest.raises(RequestError) as excinfo:
        result_of(Value(b" " * (LIMITS.payload_bytes + 1)), "2025-11-25")

    assert "payload_bytes" == excinfo.value.metadata["bound"]


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("value", [None, True, 0, 2**60, 1.5, "", "a", [], [1], {}, {"a": None}])
def test_a_value_makes_a_result_without_faults(version: str, value: Any) -> None:
    """It has no errors, no warnings, and no nulls except values."""
    result = result_of(Value(text_of(value)), version)

    assert [] == faults_of(result, version)
    assert is_canonical(text_result(result))


@pytest.mark.slow
@pytest.mark.parametrize("version", VERSIONS)
def test_round_trip_through_a_result(version: str) -> None:
    """A valid value of a random schema has a valid result, from which a client reads the value."""
    random = Random(f"round trip {version}")
    valid_count = 0
    for _ in range(SCHEMAS):
        generated = generate_schema(random, NEWEST)
        schema, documents = generated.question.schema, generated.question.documents
        tool = {"name": "t", "inputSchema": {"type": "object"}, "outputSchema": schema}
        form = adapt_tool(text_of(tool), version, LIMITS)
        adapt_schema = json.loads(form.json)
        try:
            compiled = compile_value(schema, documents)
            compiled_adapted = compile_value(adapt_schema.get("outputSchema", {}), documents)
        except RequestError:
            continue
        maker = PayloadMaker(random, generated.follow, names=generated.names)
        value = json.loads(json.dumps(maker.make(schema)))
        result = normalize_output(Value(text_of(value)), form.output, version, LIMITS)
        if version < "2025-06-18":
            assert {"content"} == result.keys()
            continue
        try:
            valid = compiled.complete.is_valid(value, [10_000_000])
        except Exhausted:
            continue
        assert valid == compiled_adapted.complete.is_valid(
            result["structuredContent"], [10_000_000]
        )
        assert json_equal(value, unwrap(result, tool=adapt_schema))
        if valid:
            assert [] == faults_of(result, version)
            valid_count += 1

    assert version < "2025-06-18" or valid_count > SCHEMAS // 5


def faults_of(result: Any, version: str) -> list[str]:
    """Return the codes of the errors and warnings about *result*.

    Which server it is of is for that server to say.
    """
    subject = ToolResult(json.dumps(result).encode())
    limits = ReportLimits(min_severity=Severity.WARNING)
    checked = check(
        CheckRequest(subject, Context(version=version), limits), LIMITS, PROTOCOL_SCHEMAS
    )
    codes = [violation.code for violation in checked.findings.verdict().violations]
    return [code for code in codes if code != "META_SERVER_INFO"]
