"""Parsing of tool definitions, and the errors of invalid ones."""

import json
from collections.abc import Iterable
from typing import Any

import pytest
from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.json_values import digest_of
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.mcp.check import check
from sidecheck_server.core.mcp.subjects import CheckRequest, ToolJson
from sidecheck_server.core.mcp.tool_definitions import ToolDefinition, find_tool, read_tool
from sidecheck_server.core.schemas.dialects import SchemaSource
from sidecheck_server.core.types import Document, Severity, Violation
from support.compiling import LIMITS
from support.rule_cases import PROTOCOL_SCHEMAS

SCHEMA: dict[str, Any] = {"type": "object", "properties": {"b": {}, "a": {}}}
TOOL: dict[str, Any] = {"name": "t", "inputSchema": SCHEMA}


def text_of(value: Any) -> bytes:
    return json.dumps(value).encode()


def error_info_of(text: bytes, limits: Limits = LIMITS) -> RequestError:
    with pytest.raises(RequestError) as excinfo:
        read_tool(text, (), limits)
    return excinfo.value


def test_schemas_of_a_definition_are_extracted() -> None:
    """The text of the definition is unchanged; properties keep their order."""
    tool = {**TOOL, "outputSchema": {"type": "string"}, "_meta": {"x": 1}}
    documents = (Document("urn:d", b"{}"),)
    text = json.dumps(tool, indent=2).encode()

    expected = ToolDefinition(
        name="t",
        json=text,
        digest=digest_of(tool, documents),
        input=SchemaSource(b'{"type":"object","properties":{"b":{},"a":{}}}', documents),
        input_digest=digest_of(SCHEMA, documents),
        output=SchemaSource(b'{"type":"string"}', documents),
        output_digest=digest_of({"type": "string"}, documents),
    )
    assert expected == read_tool(text, documents, LIMITS)


def test_output_schema_is_optional() -> None:
    """Without one, structured content is not validated."""
    tool = read_tool(text_of(TOOL), (), LIMITS)

    assert (None, None) == (tool.output, tool.output_digest)


def test_numbers_in_schemas_are_exact() -> None:
    """Holds for large integers and for doubles."""
    numbers = "[18446744073709551616,-9223372036854775809,9007199254740993,1e+22,1.0,5e-324,0.1]"
    text = f'{{"name": "t", "inputSchema": {{"enum": {numbers}}}}}'.encode()

    enum = json.loads(read_tool(text, (), LIMITS).input.json)["enum"]

    expected = json.loads(numbers)
    assert expected == enum
    assert [type(value) for value in expected] == [type(value) for value in enum]


MISSING = '"name" is required and missing; expected a string'
NO_SCHEMA = '"inputSchema" is required and missing; expected an object whose "type" is "object"'


@pytest.mark.parametrize(
    ("tool", "violations"),
    [
        pytest.param(
            [TOOL], [("", "TYPE", "expected an object, found an array of 1 item")], id="list"
        ),
        pytest.param({}, [("", "REQUIRED", NO_SCHEMA), ("", "REQUIRED", MISSING)], id="nothing"),
        pytest.param(
            {**TOOL, "name": 7}, [("/name", "TYPE", "expected a string, found 7")], id="name"
        ),
        pytest.param(
            {"name": "t", "inputSchema": True, "outputSchema": "s"},
            [
                ("/inputSchema", "TYPE", "expected an object, found true"),
                ("/outputSchema", "TYPE", 'expected an object, found the string "s"'),
            ],
            id="schemas",
        ),
    ],
)
def test_violations_of_an_unreadable_definition(
    tool: Any, violations: list[tuple[str, str, str]]
) -> None:
    """They are those of the check; message and metadata of the error name the first."""
    error = error_info_of(text_of(tool))
    checked = check(
        CheckRequest(ToolJson(text_of(tool), canonical=True)), LIMITS, PROTOCOL_SCHEMAS
    ).findings.verdict()

    pointer, code, message = violations[0]
    location = f" (at {pointer})" if pointer else ""
    assert ErrorReason.INVALID_TOOL == error.reason
    assert f"invalid tool definition: {message}{location}" == error.message
    assert {"code": code, "pointer": pointer} == error.metadata
    assert violations == _summary(error.violations)
    assert violations == _summary(checked.violations)


def _summary(violations: Iterable[Violation]) -> list[tuple[str, str, str]]:
    return [
        (violation.instance_location, violation.code, violation.message)
        for violation in violations
        if violation.severity is Severity.ERROR
    ]


@pytest.mark.parametrize(
    ("written", "read"),
    [
        pytest.param({**TOOL, "description": None, "outputSchema": None}, TOOL, id="nulls"),
        pytest.param({"name": "t", "input_schema": SCHEMA}, TOOL, id="Python's names"),
        pytest.param({**TOOL, "name": ""}, {**TOOL, "name": ""}, id="an empty name"),
    ],
)
def test_dumps_are_read_in_the_form_of_the_protocol(written: Any, read: Any) -> None:
    """Text and digest are those of that form."""
    tool = read_tool(text_of(written), (), LIMITS)

    assert (read, digest_of(read)) == (json.loads(tool.json), tool.digest)


@pytest.mark.parametrize(
    ("text", "code", "pointer"),
    [
        pytest.param(b'{"name": ', "PAYLOAD_NOT_JSON", "", id="not JSON"),
        pytest.param(
            b'{"name": "t", "inputSchema": {"a": 1, "a": 2}}',
            "DUPLICATE_KEY",
            "/inputSchema/a",
            id="duplicate key",
        ),
    ],
)
def test_definition_that_is_not_json_is_an_error(text: bytes, code: str, pointer: str) -> None:
    """So is JSON with duplicate keys."""
    error = error_info_of(text)

    assert ErrorReason.INVALID_TOOL == error.reason
    assert {"code": code, "pointer": pointer} == error.metadata


@pytest.mark.parametrize(
    ("text", "limits", "bound"),
    [
        pytest.param(
            text_of({**TOOL, "x": "y" * 200}), Limits(schema_bytes=100), "schema_bytes", id="bytes"
        ),
        pytest.param(
            b'{"a":' * 11 + b"1" + b"}" * 11, Limits(schema_depth=2), "schema_depth", id="nesting"
        ),
        pytest.param(b'{"a": 1e9999}', Limits(), "number_digits", id="digits of a number"),
    ],
)
def test_definition_beyond_a_limit_is_an_error(text: bytes, limits: Limits, bound: str) -> None:
    """The limits are twice the length of a schema and slightly more than its depth."""
    error = error_info_of(text, limits)

    assert (ErrorReason.LIMIT_EXCEEDED, bound) == (error.reason, error.metadata["bound"])


@pytest.mark.parametrize(
    "container",
    [
        pytest.param(lambda tools: tools[1], id="the tool alone"),
        pytest.param(lambda tools: tools, id="a list"),
        pytest.param(lambda tools: {"tools": tools}, id="a result"),
        pytest.param(lambda tools: {"tools": tools, "nextCursor": "x"}, id="a page"),
        pytest.param(
            lambda tools: {"jsonrpc": "2.0", "id": 1, "result": {"tools": tools}}, id="a response"
        ),
    ],
)
def test_select_a_tool_by_name(container: Any) -> None:
    """Accepts a server's response or any part of it that holds the tools."""
    other_tool = {**TOOL, "name": "other"}
    text = text_of(container([other_tool, TOOL, {**TOOL, "name": "third"}]))

    assert TOOL == json.loads(find_tool(text, "t", LIMITS))


@pytest.mark.parametrize(
    "text",
    [b"[]", b"{}", b"1", b"null", b'{"tools": []}', b'{"result": 1}', b'[1, {"name": 2}, "t"]'],
)
def test_unknown_tool_is_an_error(text: bytes) -> None:
    """Holds for every container."""
    with pytest.raises(RequestError) as excinfo:
        find_tool(text, "t", LIMITS)

    assert (
        RequestError(ErrorReason.UNKNOWN_TOOL, "no tool 't' in the file", {"tool": "t"})
        == excinfo.value
    )


def test_similar_tool_name_is_suggested() -> None:
    """A suggestion needs a tool with a similar name."""
    with pytest.raises(RequestError) as excinfo:
        find_tool(text_of([{**TOOL, "name": "get_weather"}]), "get_wether", LIMITS)

    assert "no tool 'get_wether' in the file; did you mean 'get_weather'?" == excinfo.value.message


def test_text_that_is_not_json_is_an_error() -> None:
    """The reason is INVALID_TOOL."""
    with pytest.raises(RequestError) as excinfo:
        find_tool(b"{", "t", LIMITS)

    assert ErrorReason.INVALID_TOOL == excinfo.value.reason
