"""Shares of the caches in their memory, and the weights of entries that are not schemas."""

import json
import tracemalloc
from collections.abc import Callable
from dataclasses import fields
from typing import Any

import pytest
from sidecheck_server.config.settings import Settings
from sidecheck_server.core.convert.providers import PROVIDERS
from sidecheck_server.core.convert.tool_conversion import convert_definition
from sidecheck_server.core.convert.types import ConversionOptions, ModelApi
from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.mcp.tool_definitions import read_tool
from sidecheck_server.core.mcp.wrapping.definitions import adapt_tool
from sidecheck_server.core.types import Violation
from sidecheck_server.services.cache import DEFAULT_SHARES, MemoryShares, weigh_entry
from sidecheck_server.services.targets import InlineTool

LIMITS = Limits()
SHARES = ("registered_schemas", "inline_schemas", "conversions", "inline_tools")
SMALL_SHARES = ("adapted_tools", "findings")


@pytest.mark.parametrize("memory", [1 << 20, 100_000_001, 256 << 20])
def test_the_shares_are_the_whole(memory: int) -> None:
    """The shares of all caches together are at most the setting, and nearly all of it."""
    shares = MemoryShares(memory)
    total = sum(getattr(shares, name) for name in (*SHARES, *SMALL_SHARES))

    assert ["memory_bytes"] == [field.name for field in fields(MemoryShares)]
    assert memory - 10 < total <= memory


def test_the_default_shares_match_the_default_setting() -> None:
    """Services do not read settings, so the default has two definitions."""
    assert Settings().memory_bytes == DEFAULT_SHARES.memory_bytes


def tool(number: int) -> InlineTool:
    """Return a tool with unions, optional properties and an output schema of its own."""
    properties = {
        f"p{index}": {"anyOf": [{"type": "string", "maxLength": number}, {"type": "null"}]}
        for index in range(60)
    }
    definition = {
        "name": f"tool{number}",
        "description": "x" * 500,
        "inputSchema": {"type": "object", "properties": properties},
        "outputSchema": {"type": "array", "items": {"const": number}},
    }
    return InlineTool(json.dumps(definition).encode())


def convert(inline: InlineTool) -> Any:
    definition = read_tool(inline.json, inline.documents, LIMITS)
    options = ConversionOptions()
    return convert_definition(definition, PROVIDERS[ModelApi.OPENAI_CHAT], options, LIMITS)


def fail(inline: InlineTool) -> Any:
    violations = tuple(
        Violation(f"/inputSchema/{index}", f"/{index}", "", "CODE", f"{inline.json[:30]!r}{index}")
        for index in range(300)
    )
    return RequestError(ErrorReason.INVALID_SCHEMA, "broken", {"place": "/x"}, violations)


@pytest.mark.parametrize(
    "compute",
    [
        pytest.param(lambda inline: read_tool(inline.json, (), LIMITS), id="inline tool"),
        pytest.param(
            lambda inline: adapt_tool(inline.json, "2025-06-18", LIMITS), id="adapted tool"
        ),
        pytest.param(convert, id="conversion"),
        pytest.param(fail, id="error"),
    ],
)
def test_the_weight_of_an_entry_approximates_its_allocation(
    compute: Callable[[InlineTool], Any],
) -> None:
    """The weight covers key and outcome, without the entry itself."""
    compute(tool(0))
    entries: list[tuple[InlineTool, Any]] = []
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        for number in range(100, 120):
            inline = tool(number)
            entries.append((inline, compute(inline)))
        allocated = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    weight = sum(weigh_entry(key, outcome) for key, outcome in entries)
    overhead = weigh_entry(None, None) * len(entries)

    assert 0.7 < (weight - overhead) / allocated < 1.5
