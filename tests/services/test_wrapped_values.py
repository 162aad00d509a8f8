"""A value is valid if the tool's own output schema admits it, in every use."""

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from itertools import product
from typing import Any

import pytest
from sidecheck_server.core.evaluate import EvaluationOptions
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.mcp.context import VERSIONS, Context, has_structured_content
from sidecheck_server.core.mcp.results.normalize import Value, WholeResult
from sidecheck_server.core.mcp.subjects import CheckRequest, ReportLimits, ResultProfile, ToolResult
from sidecheck_server.registry.sqlite import open_registry
from sidecheck_server.services.calls import ResultChecker
from sidecheck_server.services.normalization import NormalizedResult, Normalizer, ValueToNormalize
from sidecheck_server.services.resolution import TargetResolver, ToolAdapter
from sidecheck_server.services.schemas import CompiledSchemas
from sidecheck_server.services.targets import InlineTool, Side
from sidecheck_server.services.validation import Validator
from support.checkers import checker_of, run_in_process
from support.compiling import evaluate_all
from support.converting import resolver_for

LIMITS = Limits()
SCHEMAS: list[Any] = [
    {},
    {"properties": {"ab": {"type": "string"}}},
    {"minimum": 3},
    {"not": {"required": ["a"]}},
    {"type": ["object", "null"], "required": ["a"]},
    {"anyOf": [{"type": "object", "required": ["ab"]}, {"type": "integer"}]},
    {"oneOf": [{"type": "array"}, {"properties": {"result": {"type": "integer"}}}]},
    {"enum": [1, "a", {"a": 1}, {"result": 1}]},
    {"additionalProperties": {"type": "integer"}},
    {"maxProperties": 1, "propertyNames": {"maxLength": 2}},
    {"$ref": "#/$defs/a", "$defs": {"a": {"properties": {"ab": {"$ref": "#/$defs/b"}}}, "b": {}}},
    {"$ref": "#/$defs/a", "$defs": {"a": {"minProperties": 2, "type": ["object", "array"]}}},
    {"type": "array", "items": {"type": "integer"}},
    {"type": "object", "properties": {"ab": {"type": "string"}}},
    {"type": "object", "properties": {"result": {"type": "integer"}}, "required": ["result"]},
]
VALUES: list[Any] = [
    *(None, True, 1, 3, "a", [], [1], ["a"], {}, {"a": 1}, {"ab": 1}, {"ab": "x"}, {"abc": 1}),
    *({"a": 1, "ab": "x"}, {"result": 1}, {"result": {"ab": 1}}, {"result": "x"}),
]


@dataclass
class Services:
    """The services of the test, without workers."""

    resolver: TargetResolver
    validator: Validator
    results: ResultChecker
    normalizer: Normalizer


@pytest.fixture
async def services() -> AsyncIterator[Services]:
    """Return the services around an empty registry."""
    registry = open_registry(None)
    resolver = resolver_for(registry, LIMITS)
    schemas = CompiledSchemas(run_in_process, LIMITS, 1 << 20, 1 << 20)
    validator = Validator(run_in_process)
    results = ResultChecker(resolver, validator, checker_of(schemas, LIMITS))
    normalizer = Normalizer(resolver, ToolAdapter(LIMITS), results, LIMITS)
    yield Services(resolver, validator, results, normalizer)
    registry.close()


def tool(output: Any) -> InlineTool:
    """Return a tool with that output schema."""
    definition = {"name": "t", "inputSchema": {"type": "object"}, "outputSchema": output}
    return InlineTool(json.dumps(definition).encode())


async def normalize(
    services: Services, returned: Value | WholeResult, target: InlineTool, version: str
) -> dict[ResultProfile, NormalizedResult]:
    """Return the outcomes by profile."""
    return {
        profile: await services.normalizer.normalize(
            ValueToNormalize(returned, target, profile, Context(version=version), ReportLimits())
        )
        for profile in ResultProfile
    }


@pytest.mark.parametrize("schema", SCHEMAS, ids=json.dumps)
async def test_normalization_agrees_with_the_schema_of_the_tool(
    services: Services, schema: Any
) -> None:
    """It agrees in all versions with structured content, both profiles, values and whole results.

    What it makes is valid to the checks of received results, and the content in it to those of
    content.
    """
    target = tool(schema)
    valid = evaluate_all(schema, VALUES)
    versions = [version for version in VERSIONS if has_structured_content(version)]
    for (value, wanted), version in product(zip(VALUES, valid, strict=True), versions):
        text = json.dumps(value).encode()
        whole = json.dumps({"content": [], "structuredContent": value}).encode()
        for returned in (Value(text), WholeResult(whole)):
            if isinstance(returned, WholeResult) and value is None:
                continue  # Serializers write null for what is not set.
            outcomes = await normalize(services, returned, target, version)
            validity = {profile: outcome.verdict.valid for profile, outcome in outcomes.items()}
            assert dict.fromkeys(ResultProfile, wanted) == validity, (returned, version)
            if wanted:
                result = outcomes[ResultProfile.SPECIFICATION].json
                await check_as_received(services, result, target, version)


async def check_as_received(
    services: Services, result: bytes, target: InlineTool, version: str
) -> None:
    """Fail if the *result* of *target* is not valid to who receives it."""
    request = CheckRequest(ToolResult(result), Context(version=version), ReportLimits())
    checked = await services.results.check(request, target)
    assert checked.findings.verdict().valid, result
    schema = await services.resolver.resolve_schema(
        target, Side.OUTPUT, version, assert_formats=False
    )
    content = json.dumps(json.loads(result)["structuredContent"]).encode()
    verdict = await services.validator.validate(schema, content, EvaluationOptions(), lambda: None)
    assert verdict.valid, content


@pytest.mark.parametrize(
    ("schema", "value", "location"),
    [
        ({"properties": {"ab": {"type": "string"}}}, {"ab": 1}, "/ab"),
        ({"minimum": 3}, 1, ""),
        ({"not": {"required": ["a"]}}, {"a": 1}, ""),
    ],
)
async def test_a_wrapped_value_must_satisfy_its_own_schema(
    services: Services, schema: Any, value: Any, location: str
) -> None:
    """The wrapper is an object, which the schema itself may admit."""
    returned = Value(json.dumps(value).encode())
    outcomes = await normalize(services, returned, tool(schema), "2025-06-18")

    for outcome in outcomes.values():
        assert [f"/structuredContent/result{location}"] == [
            violation.instance_location for violation in outcome.verdict.violations
        ]
        assert json.loads(outcome.json)["isError"] is True


MARKED = {
    "type": "object",
    "properties": {"result": {"properties": {"ab": {"type": "string"}}}},
    "required": ["result"],
    "x-fastmcp-wrap-result": True,
}
OPEN = {"properties": {"ab": {"type": "string"}}}


@pytest.mark.parametrize(
    ("schema", "version", "content", "outcome"),
    [
        pytest.param(OPEN, "2025-11-25", {"result": {"ab": "x"}}, [], id="wrapped"),
        pytest.param(OPEN, "2025-11-25", {"ab": "x"}, ["OUTPUT_READING"], id="plain"),
        pytest.param(OPEN, "2025-11-25", {"result": {"ab": 1}}, ["OUTPUT_READING"], id="either"),
        pytest.param(OPEN, "2025-11-25", {"ab": 1}, ["TYPE"], id="neither"),
        pytest.param(OPEN, "2026-07-28", {"result": {"ab": 1}}, [], id="plain by the version"),
        pytest.param(MARKED, "2025-11-25", {"ab": "x"}, ["REQUIRED"], id="wrapped by the marker"),
        pytest.param(MARKED, "2026-07-28", {"ab": "x"}, [], id="unwrapped for the version"),
        pytest.param(
            MARKED, "2026-07-28", {"result": {"ab": "x"}}, ["OUTPUT_READING"], id="as it was marked"
        ),
    ],
)
async def test_received_content_is_read_in_the_form_that_it_may_have(
    services: Services, schema: Any, version: str, content: Any, outcome: list[str]
) -> None:
    """A reading that is not the one of the version is named."""
    resolved = await services.resolver.resolve_schema(
        tool(schema), Side.OUTPUT, version, assert_formats=False
    )
    verdict = await services.validator.validate(
        resolved, json.dumps(content).encode(), EvaluationOptions(), lambda: None
    )

    assert outcome == [violation.code for violation in verdict.violations]
    assert verdict.valid is (outcome in ([], ["OUTPUT_READING"]))
