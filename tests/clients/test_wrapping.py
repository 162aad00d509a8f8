"""Unwrapping of values by wrapping markers, in the client."""

from typing import Any

import pytest
from mcp.types import CallToolResult, TextContent, Tool
from sidecheck import NoValue, WrapMismatch, unwrap

SIDECHECK = {
    "type": "object",
    "properties": {"v": {"type": "array"}},
    "required": ["v"],
    "x-dedalus-box": {"field": "v"},
}
FASTMCP = {"type": "object", "properties": {"result": {}}, "x-fastmcp-wrap-result": True}
META = {"fastmcp": {"wrap_result": True}}


def result(content: Any, **options: Any) -> dict[str, Any]:
    return {"content": [], "structuredContent": content, **options}


def tool(schema: Any) -> dict[str, Any]:
    return {"name": "t", "inputSchema": {"type": "object"}, "outputSchema": schema}


@pytest.mark.parametrize(
    ("expected", "tool_result", "options"),
    [
        ([1], result({"v": [1]}), {"output_schema": SIDECHECK}),
        ([1], result({"v": [1]}), {"tool": tool(SIDECHECK)}),
        (None, result({"result": None}), {"tool": tool(FASTMCP)}),
        (1, result({"result": 1}, _meta=META), {}),
        (1, result({"result": 1}, _meta=META), {"output_schema": {"type": "object"}}),
        ({"result": 1}, result({"result": 1}), {}),
        ({"result": 1}, result({"result": 1}), {"output_schema": {"type": "object"}}),
        ({"result": 1}, result({"result": 1}), {"tool": {"name": "t", "inputSchema": {}}}),
        ({"v": 1}, result({"v": 1}, _meta={"fastmcp": None}), {}),
        ([1], result([1]), {"output_schema": {"type": "array"}}),
        (None, result(None), {}),
    ],
)
def test_a_value_is_unwrapped_by_its_marker(
    expected: Any, tool_result: Any, options: dict[str, Any]
) -> None:
    """Content without a marker is returned unchanged."""
    assert expected == unwrap(tool_result, **options)


def test_sdk_objects_are_unwrapped() -> None:
    """Results and tools may be objects of the SDK."""
    text = TextContent(type="text", text="[1]")
    tool_result = CallToolResult(content=[text], structured_content={"v": [1]})
    marked = CallToolResult(content=[text], structured_content={"result": 2}, _meta=META)
    sdk_tool = Tool(name="t", input_schema={"type": "object"}, output_schema=SIDECHECK)

    assert ([1], 2) == (unwrap(tool_result, tool=sdk_tool), unwrap(marked))


class Renamed:
    """SDK result whose camel-case attributes are deprecated."""

    is_error = False
    structured_content = {"v": 3}  # noqa: RUF012  (attribute of the SDK)

    @property
    def isError(self) -> bool:  # noqa: N802
        raise DeprecationWarning("isError is is_error now")

    @property
    def structuredContent(self) -> Any:  # noqa: N802
        raise DeprecationWarning("structuredContent is structured_content now")


def test_deprecated_names_are_not_used() -> None:
    assert 3 == unwrap(Renamed(), output_schema=SIDECHECK)


@pytest.mark.parametrize(
    ("kind", "tool_result", "schema"),
    [
        (NoValue, {"content": []}, SIDECHECK),
        (NoValue, result({"v": 1}, isError=True), SIDECHECK),
        (WrapMismatch, result({"result": 1}), SIDECHECK),
        (WrapMismatch, result([1]), SIDECHECK),
        (WrapMismatch, result({"v": 1}, _meta=META), None),
        (WrapMismatch, result({"v": 1}), {**SIDECHECK, "x-dedalus-box": {}}),
        (WrapMismatch, result({"v": 1}), {**SIDECHECK, "x-dedalus-box": {"field": "w"}}),
        (WrapMismatch, result({"v": 1}), {**FASTMCP, "properties": {}}),
    ],
)
def test_results_without_a_value_are_errors(
    kind: type[Exception], tool_result: Any, schema: Any
) -> None:
    """A marker without its property is an error too."""
    with pytest.raises(kind):
        unwrap(tool_result, output_schema=schema)
