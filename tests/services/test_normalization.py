"""Projection and normalisation with all that a server has for them."""

import json
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from sidecheck_server.core.compiler.compilation import Artifact, compile_source
from sidecheck_server.core.compiler.compiled_schema import CompiledSchema
from sidecheck_server.core.evaluate import EvaluationOptions, judge
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.mcp.check import Checked, check
from sidecheck_server.core.mcp.context import Context
from sidecheck_server.core.mcp.protocol_schemas import compile_protocol_schemas
from sidecheck_server.core.mcp.results import Value
from sidecheck_server.core.mcp.subjects import CheckRequest, ReportLimits, ResultProfile
from sidecheck_server.core.schemas.source import SchemaSource
from sidecheck_server.core.types import Verdict
from sidecheck_server.registry.sqlite import open_registry
from sidecheck_server.services.adaptation import ToolAdapter
from sidecheck_server.services.normalization import Normalizer, ToNormalize
from sidecheck_server.services.protocol import Checker
from sidecheck_server.services.protocol_schemas import ProtocolSchemas
from sidecheck_server.services.results import ResultChecker
from sidecheck_server.services.schemas import CompiledSchemas
from sidecheck_server.services.targets import InlineTool
from sidecheck_server.services.validation import Validator

LIMITS = Limits(inline_bytes=2000)
SURFACES = compile_protocol_schemas(LIMITS)
LIST = {"type": "array", "items": {"type": "string"}}


def tool(output: Any) -> InlineTool:
    definition = {"name": "t", "inputSchema": {"type": "object"}, "outputSchema": output}
    return InlineTool(json.dumps(definition).encode())


async def compile_here(source: SchemaSource, begun: Callable[[], None]) -> Artifact:
    begun()
    return compile_source(source, LIMITS)


async def judge_here(compiled: CompiledSchema, payload: bytes, how: EvaluationOptions) -> Verdict:
    return judge(compiled, payload, how)


async def check_here(asked: CheckRequest) -> Checked:
    return check(asked, LIMITS, SURFACES)


@pytest.fixture
async def validator() -> AsyncIterator[Validator]:
    registry = open_registry(None)
    yield Validator(registry, CompiledSchemas(compile_here, LIMITS, 10, 10), judge_here, LIMITS)
    registry.close()


@pytest.fixture
async def normalizer(validator: Validator) -> Normalizer:
    schemas = CompiledSchemas(compile_here, LIMITS, 10, 10)
    surfaces = ProtocolSchemas(compile_here, LIMITS)
    checker = Checker(surfaces, schemas, check_here, judge_here, LIMITS)
    projector = ToolAdapter(validator, LIMITS)
    return Normalizer(validator, projector, ResultChecker(checker, validator), LIMITS)


def asked(value: Any, target: InlineTool | None, *, hide_values: bool = False) -> ToNormalize:
    return ToNormalize(
        returned=Value(json.dumps(value).encode()),
        target=target,
        profile=ResultProfile.SPECIFICATION,
        context=Context(version="2025-11-25", hide_values=hide_values),
        how=ReportLimits(),
    )


@pytest.mark.parametrize("length", [10, 100_000])
async def test_short_and_long_values_are_boxed_alike(normalizer: Normalizer, length: int) -> None:
    """In the event loop, or beside it."""
    value = ["a" * length]
    done = await normalizer.normalize(asked(value, tool(LIST)))

    assert done.verdict.valid
    assert {"result": value} == json.loads(done.json)["structuredContent"]


async def test_values_are_hidden_where_that_is_asked(normalizer: Normalizer) -> None:
    """From the verdict, and from the result that tells of it."""
    done = await normalizer.normalize(asked([12345], tool(LIST), hide_values=True))

    assert ["TYPE"] == [found.code for found in done.verdict.violations]
    assert b"12345" not in done.json


@pytest.mark.parametrize("descriptions", ["", "d" * 100_000])
async def test_a_definition_is_projected_once(validator: Validator, descriptions: str) -> None:
    """And known after that, short or long."""
    projector = ToolAdapter(validator, LIMITS)
    target = tool({**LIST, "description": descriptions})
    first = await projector.project(target, "2025-06-18")
    again = await projector.project(target, "2025-06-18")
    other = await projector.project(target, "2026-07-28")

    assert first is again
    assert ("result", "", target.json) == (first.box, other.box, other.json)
