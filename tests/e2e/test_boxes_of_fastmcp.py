"""FastMCP's boxes: taken for what they are, and its client reads the results made for them."""

import json
from dataclasses import dataclass
from typing import Any

import pytest
from fastmcp.tools import Tool
from sidecheck import unbox
from sidecheck_server.core.mcp.results import Value, Whole, normalized
from sidecheck_server.core.mcp.wrapping.definitions import adapt_tool
from support.compiling import LIMITS, judges


@dataclass
class Leaf:
    name: str


def leaves() -> list[Leaf]:
    return [Leaf("a")]


def number() -> int:
    return 1


def one_of() -> Leaf | None:
    return None


def definition_of(function: Any) -> bytes:
    """Return the definition that FastMCP lists."""
    listed = Tool.from_function(function).to_mcp_tool()
    return listed.model_dump_json(by_alias=True, exclude_none=True).encode()


@pytest.mark.parametrize(
    ("function", "value"), [(leaves, [{"name": "a"}]), (number, 1), (one_of, None)]
)
async def test_its_boxes_are_known_and_opened(function: Any, value: Any) -> None:
    """Both what it lists and what it gives."""
    text = definition_of(function)
    old, new = (adapt_tool(text, version, LIMITS) for version in ("2025-11-25", "2026-07-28"))
    natural = json.loads(new.json)["outputSchema"]
    given: Any = (await Tool.from_function(function).run({})).to_mcp_result()
    whole = Whole(given.model_dump_json(by_alias=True, exclude_unset=True).encode())
    same = normalized(whole, old.output, "2025-11-25", LIMITS)
    opened = normalized(whole, new.output, "2026-07-28", LIMITS)
    made = normalized(Value(json.dumps(value).encode()), old.output, "2025-11-25", LIMITS)

    assert ("result", "") == (old.box, new.box)
    assert [True, False] == judges(natural, [value, {"result": value}])
    assert [{"result": value}] * 2 == [same["structuredContent"], made["structuredContent"]]
    assert value == opened["structuredContent"]
    assert "_meta" not in opened
    assert [value] * 2 == [unbox(same), unbox(made, tool=json.loads(old.json))]
