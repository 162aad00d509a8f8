"""Errors of the client's converter for tools that cannot be converted."""

import pickle
from typing import Any

import pytest
from mcp.types import ListToolsResult
from sidecheck import ConversionError, ConversionFailure, MCPToOpenAIConverter

convert_tool = MCPToOpenAIConverter.convert_tool
convert_all_tools = MCPToOpenAIConverter.convert_all_tools

CANNOT = ", which JSON cannot express"


def tool(schema: Any, name: str = "t") -> dict[str, Any]:
    """Return a tool with an input schema."""
    return {"name": name, "description": "A tool.", "inputSchema": schema}


def function(parameters: Any, name: str = "t") -> dict[str, Any]:
    """Return the function that `tool` converts to, with these parameters."""
    inner = {"name": name, "description": "A tool.", "parameters": parameters}
    return {"type": "function", "function": inner}


def cyclic_schema() -> dict[str, Any]:
    """Return a schema that contains itself."""
    schema: dict[str, Any] = {}
    schema["properties"] = {"p": {"items": [schema]}}
    return schema


def exponential_schema() -> dict[str, Any]:
    """Return sixty shared objects that expand to 2**60."""
    schema: dict[str, Any] = {}
    for _ in range(60):
        schema = {"allOf": [schema, schema]}
    return schema


def conversion_error(mcp_tool: Any) -> str:
    """Return the message of the error that converting the tool raises."""
    with pytest.raises(ValueError, match=r"^(tool '|a tool without a name: )") as caught:
        convert_tool(mcp_tool)
    assert ValueError is caught.type
    return str(caught.value)


@pytest.mark.parametrize(
    ("expected", "mcp_tool"),
    [
        (
            "tool 't': missing property 'inputSchema'; expected an object",
            {"name": "t", "description": "d", "input_schema": {}},
        ),
        ("tool 't': /inputSchema is of type NoneType; expected an object", tool(None)),
        ("tool 't': /inputSchema is of type bool; expected an object", tool(True)),
        ("tool 't': /inputSchema is of type list; expected an object", tool([])),
        (
            "a tool without a name: missing property 'name'; expected a string",
            {"inputSchema": {}},
        ),
        (
            "a tool without a name: /name is of type int; expected a string",
            {"name": 1, "inputSchema": {}},
        ),
        (
            "tool 't': /description is of type list; expected a string",
            {"name": "t", "description": ["d"], "inputSchema": {}},
        ),
        ("a tool without a name: a tool must be an object, not of type str", "t"),
        (
            f"tool '{'n' * 199}…': /inputSchema is of type int; expected an object",
            tool(1, "n" * 201),
        ),
        (
            f"tool 't': /inputSchema/properties/a~1b~0/enum/1 is NaN or infinite{CANNOT}",
            tool({"properties": {"a/b~": {"enum": [1, float("nan")]}}}),
        ),
        (
            f"tool 't': /inputSchema/maximum is NaN or infinite{CANNOT}",
            tool({"maximum": float("inf")}),
        ),
        (
            f"tool 't': /inputSchema/properties has a property name of type int{CANNOT}",
            tool({"properties": {"a": {}, 1: {}}}),
        ),
        (
            f"tool 't': /inputSchema has a property name of type NoneType{CANNOT}",
            tool({None: 1}),
        ),
        (
            f"tool 't': /inputSchema/default is of type set{CANNOT}",
            tool({"default": {1}}),
        ),
        (
            f"tool 't': /inputSchema/const/0 is of type bytes{CANNOT}",
            tool({"const": (b"a",)}),
        ),
        (
            f"tool 't': /inputSchema/properties/p/items/0 contains itself{CANNOT}",
            tool(cyclic_schema()),
        ),
    ],
)
def test_errors_name_the_tool_and_the_location(expected: str, mcp_tool: Any) -> None:
    """Messages also name the value and the expectation."""
    assert expected == conversion_error(mcp_tool)


def test_shared_objects_that_expand_too_far_are_an_error() -> None:
    """Expansion stops at a limit, and the location in the message is cut."""
    message = conversion_error(tool(exponential_schema()))
    assert message.startswith("tool 't': /inputSchema/allOf/0/allOf/0/allOf")
    assert message.endswith(" exceeds the limit of 1,000,000 values")


def test_long_locations_are_cut() -> None:
    """Messages contain at most 200 characters of a location."""
    schema: dict[str, Any] = {"const": {1}}
    for _ in range(1_000):
        schema = {"not": schema}
    place = "/inputSchema" + "/not" * 47
    expected = f"tool 't': {place}… is of type set{CANNOT}"
    assert expected == conversion_error(tool(schema))


def test_an_error_lists_all_failures() -> None:
    """The error also has the tools that were converted, in order."""
    tools: list[Any] = [tool({"default": 1}, "a"), tool(None, "b"), 3, tool({}, "c"), tool({1}, "")]
    with pytest.raises(ConversionError) as caught:
        convert_all_tools(tools)
    failures = (
        ConversionFailure(1, "b", "/inputSchema is of type NoneType; expected an object"),
        ConversionFailure(2, "", "a tool must be an object, not of type int"),
        ConversionFailure(4, "", "/inputSchema is of type set; expected an object"),
    )
    assert failures == caught.value.failures
    assert [function({}, "a"), function({}, "c")] == caught.value.converted
    assert str(caught.value) == (
        "3 of 5 tools cannot be converted: "
        "[1] tool 'b': /inputSchema is of type NoneType; expected an object; "
        "[2] a tool without a name: a tool must be an object, not of type int; "
        "[4] a tool without a name: /inputSchema is of type set; expected an object"
    )
    unpickled = pickle.loads(pickle.dumps(caught.value))
    assert (failures, caught.value.converted) == (unpickled.failures, unpickled.converted)


def test_bad_tools_can_be_skipped() -> None:
    """The other tools are converted in order."""
    tools: list[Any] = [tool({}, "a"), tool(None, "b"), 3, tool({}, "c")]
    assert [function({}, "a"), function({}, "c")] == convert_all_tools(tools, skip_bad=True)


def test_an_object_is_not_a_list_of_tools() -> None:
    """A tools/list result in place of its list is an error, even with `skip_bad`."""
    result: Any = {"tools": [tool({})]}
    listed = ListToolsResult(tools=[])
    with pytest.raises(TypeError, match="expected a list of tools, not an object"):
        convert_all_tools(listed)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="expected a list of tools, not an object"):
        convert_all_tools(result, skip_bad=True)
