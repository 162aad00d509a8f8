"""Values taken out of results by the marks of boxes, on the client's side."""

from typing import Any

import pytest
from mcp.types import CallToolResult, TextContent, Tool
from sidecheck import NoValue, WrapMismatch, unwrap

OURS = {
    "type": "object",
    "properties": {"v": {"type": "array"}},
    "required": ["v"],
    "x-dedalus-box": {"field": "v"},
}
FASTMCP = {"type": "object", "properties": {"result": {}}, "x-fastmcp-wrap-result": True}
META = {"fastmcp": {"wrap_result": True}}


def result(content: Any, **more: Any) -> dict[str, Any]:
    return {"content": [], "structuredContent": content, **more}


def tool(schema: Any) -> dict[str, Any]:
    return {"name": "t", "inputSchema": {"type": "object"}, "outputSchema": schema}


@pytest.mark.parametrize(
    ("expected", "given", "more"),
    [
        ([1], result({"v": [1]}), {"output_schema": OURS}),
        ([1], result({"v": [1]}), {"tool": tool(OURS)}),
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
def test_a_value_is_known_by_its_mark(expected: Any, given: Any, more: dict[str, Any]) -> None:
    """Never by the form of the content."""
    assert expected == unwrap(given, **more)


def test_objects_of_an_sdk_are_taken_too() -> None:
    """By their attributes."""
    text = TextContent(type="text", text="[1]")
    given = CallToolResult(content=[text], structured_content={"v": [1]})
    marked = CallToolResult(content=[text], structured_content={"result": 2}, _meta=META)
    listed = Tool(name="t", input_schema={"type": "object"}, output_schema=OURS)

    assert ([1], 2) == (unwrap(given, tool=listed), unwrap(marked))


class Renamed:
    """A result of an SDK that warns of the names of the wire."""

    is_error = False
    structured_content = {"v": 3}  # noqa: RUF012  (as an SDK has it)

    @property
    def isError(self) -> bool:  # noqa: N802
        raise DeprecationWarning("isError is is_error now")

    @property
    def structuredContent(self) -> Any:  # noqa: N802
        raise DeprecationWarning("structuredContent is structured_content now")


def test_deprecated_names_are_not_used() -> None:
    assert 3 == unwrap(Renamed(), output_schema=OURS)


@pytest.mark.parametrize(
    ("kind", "given", "schema"),
    [
        (NoValue, {"content": []}, OURS),
        (NoValue, result({"v": 1}, isError=True), OURS),
        (WrapMismatch, result({"result": 1}), OURS),
        (WrapMismatch, result([1]), OURS),
        (WrapMismatch, result({"v": 1}, _meta=META), None),
        (WrapMismatch, result({"v": 1}), {**OURS, "x-dedalus-box": {}}),
        (WrapMismatch, result({"v": 1}), {**OURS, "x-dedalus-box": {"field": "w"}}),
        (WrapMismatch, result({"v": 1}), {**FASTMCP, "properties": {}}),
    ],
)
def test_results_without_a_value_are_errors(kind: type[Exception], given: Any, schema: Any) -> None:
    """Also a mark without its property."""
    with pytest.raises(kind):
        unwrap(given, output_schema=schema)
