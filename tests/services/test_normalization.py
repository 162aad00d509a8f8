"""Adaptation of tools and normalization of results with their services."""

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.mcp.context import Context
from sidecheck_server.core.mcp.results.normalize import Value
from sidecheck_server.core.mcp.subjects import ReportLimits, ResultProfile
from sidecheck_server.registry.sqlite import open_registry
from sidecheck_server.services.calls import ResultChecker
from sidecheck_server.services.normalization import Normalizer, ValueToNormalize
from sidecheck_server.services.resolution import TargetResolver, ToolAdapter
from sidecheck_server.services.schemas import CompiledSchemas
from sidecheck_server.services.targets import InlineTool
from sidecheck_server.services.validation import Validator
from support.checkers import checker_of, run_in_process
from support.converting import resolver_for

LIMITS = Limits(inline_bytes=2000)
LIST = {"type": "array", "items": {"type": "string"}}


def tool(output: Any) -> InlineTool:
    definition = {"name": "t", "inputSchema": {"type": "object"}, "outputSchema": output}
    return InlineTool(json.dumps(definition).encode())


@pytest.fixture
async def resolver() -> AsyncIterator[TargetResolver]:
    registry = open_registry(None)
    yield resolver_for(registry, LIMITS)
    registry.close()


@pytest.fixture
async def normalizer(resolver: TargetResolver) -> Normalizer:
    schemas = CompiledSchemas(run_in_process, LIMITS, 1 << 20, 1 << 20)
    validator = Validator(run_in_process)
    results = ResultChecker(resolver, validator, checker_of(schemas, LIMITS))
    return Normalizer(resolver, ToolAdapter(LIMITS), results, LIMITS)


def request_for(
    value: Any, target: InlineTool | None, *, hide_values: bool = False
) -> ValueToNormalize:
    return ValueToNormalize(
        returned=Value(json.dumps(value).encode()),
        target=target,
        profile=ResultProfile.SPECIFICATION,
        context=Context(version="2025-11-25", hide_values=hide_values),
        limits=ReportLimits(),
    )


@pytest.mark.parametrize("length", [10, 100_000])
async def test_short_and_long_values_are_wrapped_alike(normalizer: Normalizer, length: int) -> None:
    """Short values are handled in the event loop, long ones in a worker."""
    value = ["a" * length]
    outcome = await normalizer.normalize(request_for(value, tool(LIST)))

    assert outcome.verdict.valid
    assert {"result": value} == json.loads(outcome.json)["structuredContent"]


async def test_values_can_be_hidden(normalizer: Normalizer) -> None:
    """Neither the verdict nor the result repeats a hidden value."""
    outcome = await normalizer.normalize(request_for([12345], tool(LIST), hide_values=True))

    assert ["TYPE"] == [violation.code for violation in outcome.verdict.violations]
    assert b"12345" not in outcome.json


@pytest.mark.parametrize("descriptions", ["", "d" * 100_000])
async def test_a_definition_is_adapted_once(resolver: TargetResolver, descriptions: str) -> None:
    """The adapted definition is cached; its size does not matter."""
    adapter = ToolAdapter(LIMITS)
    target = tool({**LIST, "description": descriptions})
    first = await adapter.adapt(target, "2025-06-18")
    again = await adapter.adapt(target, "2025-06-18")
    second_adaptation = await adapter.adapt(target, "2026-07-28")

    assert first is again
    assert ("result", "", target.json) == (
        first.wrapped_property,
        second_adaptation.wrapped_property,
        second_adaptation.json,
    )
