"""Wrapped outputs of FastMCP: recognized, unwrapped, and equal to normalized results."""

import json
from dataclasses import dataclass
from typing import Any

import pytest
from fastmcp.tools import Tool
from sidecheck import unwrap
from sidecheck_server.core.mcp.results.normalize import Value, WholeResult, normalize_output
from sidecheck_server.core.mcp.wrapping.definitions import adapt_tool
from support.compiling import LIMITS, evaluate_all


@dataclass
class Leaf:
    name: str


def leaves() -> list[Leaf]:
    return [Leaf("a")]


def number() -> int:
    return 1


def optional_leaf() -> Leaf | None:
    return None


def listed_definition(function: Any) -> bytes:
    """Return the definition that FastMCP lists."""
    mcp_tool = Tool.from_function(function).to_mcp_tool()
    return mcp_tool.model_dump_json(by_alias=True, exclude_none=True).encode()


@pytest.mark.parametrize(
    ("function", "value"), [(leaves, [{"name": "a"}]), (number, 1), (optional_leaf, None)]
)
async def test_wrapped_outputs_are_recognized_and_unwrapped(function: Any, value: Any) -> None:
    """This applies to listed definitions and to results."""
    text = listed_definition(function)
    old, new = (adapt_tool(text, version, LIMITS) for version in ("2025-11-25", "2026-07-28"))
    canonical_schema = json.loads(new.json)["outputSchema"]
    fastmcp_result: Any = (await Tool.from_function(function).run({})).to_mcp_result()
    output = WholeResult(fastmcp_result.model_dump_json(by_alias=True, exclude_unset=True).encode())
    wrapped = normalize_output(output, old.output, "2025-11-25", LIMITS)
    unwrapped = normalize_output(output, new.output, "2026-07-28", LIMITS)
    normalized = normalize_output(
        Value(json.dumps(value).encode()), old.output, "2025-11-25", LIMITS
    )

    assert ("result", "") == (old.wrapped_property, new.wrapped_property)
    assert [True, False] == evaluate_all(canonical_schema, [value, {"result": value}])
    assert [{"result": value}] * 2 == [
        wrapped["structuredContent"],
        normalized["structuredContent"],
    ]
    assert value == unwrapped["structuredContent"]
    assert "_meta" not in unwrapped
    assert [value] * 2 == [unwrap(wrapped), unwrap(normalized, tool=json.loads(old.json))]
