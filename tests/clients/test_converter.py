"""The client's converter of MCP tools to functions of OpenAI's Chat Completions."""

import ast
import copy
import json
import sys
from collections import OrderedDict
from pathlib import Path
from typing import Any

import pytest
import sidecheck.converter
import sidecheck.json_copies
import sidecheck.json_types
import sidecheck.json_values
import sidecheck.pointers
import sidecheck.sdk_objects
from hypothesis import given
from hypothesis import strategies as st
from mcp.types import Tool
from sidecheck import MCPToOpenAIConverter
from support.default_places import default_places, without_defaults
from support.shared_material import REPOSITORY, read_records, shared

CASES = json.loads((REPOSITORY / "tests" / "cases" / "convert" / "converter.json").read_bytes())
convert_tool = MCPToOpenAIConverter.convert_tool
convert_all_tools = MCPToOpenAIConverter.convert_all_tools


def tool(schema: Any, name: str = "t") -> dict[str, Any]:
    """Return a tool with an input schema."""
    return {"name": name, "description": "A tool.", "inputSchema": schema}


def function(parameters: Any, name: str = "t") -> dict[str, Any]:
    """Return the function that `tool` converts to, with these parameters."""
    inner = {"name": name, "description": "A tool.", "parameters": parameters}
    return {"type": "function", "function": inner}


# Basic conversions


def test_convert_basic_tool() -> None:
    """The name is kept and the input schema becomes the parameters."""
    result = convert_tool(tool({"type": "object", "properties": {"param1": {"type": "string"}}}))
    assert result["type"] == "function"
    assert result["function"]["name"] == "t"
    assert result["function"]["parameters"]["properties"]["param1"]["type"] == "string"


def test_converts_objects_of_the_sdk() -> None:
    """A tool of the SDK is converted as on the wire; a null in its schema is data."""
    schema = {"type": "object", "properties": {"a": {"const": None, "default": None}}}
    expected = function({"type": "object", "properties": {"a": {"const": None}}})
    listed: Any = Tool(name="t", description="A tool.", input_schema=schema)
    assert (expected, [expected]) == (convert_tool(listed), convert_all_tools([listed]))


def test_removes_default_values() -> None:
    """The default of a property is removed."""
    properties = {"param1": {"type": "string", "default": "value"}}
    result = convert_tool(tool({"type": "object", "properties": properties}))
    assert "default" not in result["function"]["parameters"]["properties"]["param1"]


def test_preserves_enum() -> None:
    """The values of an enum are kept."""
    properties = {"choice": {"type": "string", "enum": ["a", "b", "c"]}}
    result = convert_tool(tool({"type": "object", "properties": properties}))
    assert result["function"]["parameters"]["properties"]["choice"]["enum"] == ["a", "b", "c"]


def test_deep_copy() -> None:
    """The conversion does not modify the original tool."""
    properties = {"param1": {"type": "string", "default": "value"}}
    mcp_tool = tool({"type": "object", "properties": properties})
    result = convert_tool(mcp_tool)
    assert "default" in mcp_tool["inputSchema"]["properties"]["param1"]
    assert "default" not in result["function"]["parameters"]["properties"]["param1"]


def test_convert_all_tools() -> None:
    """Tools are converted in order."""
    schema: dict[str, Any] = {"type": "object", "properties": {}}
    result = convert_all_tools([tool(schema, "tool1"), tool(schema, "tool2")])
    assert len(result) == 2
    assert result[0]["function"]["name"] == "tool1"
    assert result[1]["function"]["name"] == "tool2"


def test_nested_objects() -> None:
    """The default of a nested property is removed."""
    nested = {"type": "object", "properties": {"param": {"type": "string", "default": "value"}}}
    result = convert_tool(tool({"type": "object", "properties": {"options": nested}}))
    options = result["function"]["parameters"]["properties"]["options"]
    assert "default" not in options["properties"]["param"]


# Complete tools


@pytest.mark.parametrize("case", [pytest.param(case, id=case["name"]) for case in CASES["cases"]])
def test_shared_case(case: dict[str, Any]) -> None:
    """The result equals that of the case, including the order of properties."""
    mcp_tool = copy.deepcopy(case["tool"])
    describes = case.get("describe_defaults", False)
    result = convert_tool(mcp_tool, describe_defaults=describes)
    assert json.dumps(case["want"]) == json.dumps(result)
    assert case["tool"] == mcp_tool
    assert [case["want"]] == convert_all_tools([mcp_tool], describe_defaults=describes)


def test_no_tools() -> None:
    """An empty list is converted to an empty list."""
    assert [] == convert_all_tools([])


def test_the_result_shares_no_values_with_the_tool() -> None:
    """Modifying the result does not modify the tool."""
    mcp_tool = tool({"enum": [{"a": [1]}], "required": []})
    result = convert_tool(mcp_tool)
    result["function"]["parameters"]["enum"][0]["a"].append(2)
    result["function"]["parameters"]["required"].append("b")
    assert tool({"enum": [{"a": [1]}], "required": []}) == mcp_tool


def test_an_object_shared_by_a_schema_and_data_is_converted_separately() -> None:
    """The default is removed from the schema and kept in the data."""
    shared_object = {"default": 1}
    assert function({"not": {}, "const": {"default": 1}}) == convert_tool(
        tool({"not": shared_object, "const": shared_object})
    )


def test_tuples_and_dict_subclasses_become_lists_and_dicts() -> None:
    """The result has only the types that the JSON decoder returns."""
    result = convert_tool(tool(OrderedDict(enum=("a", (1, None)))))
    assert function({"enum": ["a", [1, None]]}) == result
    assert dict is type(result["function"]["parameters"])


def test_defaults_are_removed_in_place() -> None:
    """The schema is modified, and None is returned."""
    schema: dict[str, Any] = {"default": 1, "items": {"default": 2}, "const": {"default": 3}}
    remove: Any = MCPToOpenAIConverter._remove_defaults
    assert remove(schema) is None
    assert {"items": {}, "const": {"default": 3}} == schema


def test_defaults_are_removed_in_place_from_a_cyclic_schema() -> None:
    """A cycle is not followed forever."""
    schema: dict[str, Any] = {"default": 1}
    schema["not"] = schema
    MCPToOpenAIConverter._remove_defaults(schema)
    assert ["not"] == list(schema)


# Depth


@pytest.mark.parametrize("depth", [2_000, 100_000])
@pytest.mark.parametrize("describes", [False, True])
def test_deep_schemas_are_converted(depth: int, describes: bool) -> None:
    """The default of every level is removed, and every level is kept."""
    schema: dict[str, Any] = {"type": "string"}
    for level in range(depth):
        inner = {"anyOf": [schema]} if level % 2 else {"properties": {"p": schema}}
        schema = {"default": level, **inner}
    parameters = convert_tool(tool(schema), describe_defaults=describes)["function"]["parameters"]
    for level in reversed(range(depth)):
        described = {"description": f"(default: {level})"} if describes else {}
        keyword = "anyOf" if level % 2 else "properties"
        assert {keyword, *described} == parameters.keys()
        assert described.get("description") == parameters.get("description")
        assert level == schema["default"]
        parameters = parameters[keyword][0] if level % 2 else parameters[keyword]["p"]
        schema = schema[keyword][0] if level % 2 else schema[keyword]["p"]
    assert {"type": "string"} == parameters


def test_long_defaults_are_cut_in_descriptions() -> None:
    """A default of 100,000 nested lists is described by its first characters."""
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    assert function({"description": f"(default: {'[' * 99}…)"}) == convert_tool(
        tool({"default": deep}), describe_defaults=True
    )


# Random schemas, and those of the corpus

KEYWORDS = st.sampled_from(
    [
        *("$defs", "definitions", "properties", "patternProperties", "dependentSchemas"),
        *("dependencies", "allOf", "anyOf", "oneOf", "prefixItems", "items", "not", "if", "then"),
        *("else", "contains", "propertyNames", "contentSchema", "additionalItems"),
        *("additionalProperties", "unevaluatedItems", "unevaluatedProperties"),
        *("default", "const", "enum", "examples", "x-note", "type", "description", "$ref"),
    ]
)
LEAVES = st.none() | st.booleans() | st.integers() | st.just(0.5) | st.sampled_from(["", "default"])
SCHEMAS = st.dictionaries(
    KEYWORDS,
    st.recursive(LEAVES, lambda inner: st.lists(inner) | st.dictionaries(KEYWORDS, inner)),
)


@given(SCHEMAS)
def test_only_defaults_are_removed(schema: dict[str, Any]) -> None:
    """Other keywords are kept, and the original is not modified."""
    before = copy.deepcopy(schema)
    result = convert_tool(tool(schema))["function"]["parameters"]
    assert before == schema
    assert [] == default_places(result)
    assert without_defaults(schema) == result


@pytest.mark.corpus
def test_only_defaults_are_removed_from_schemas_of_the_corpus() -> None:
    """Every tool of the corpus is converted."""
    tools = [record["tool"] for record in read_records(shared("corpus/tools.jsonl.gz"))]
    expected = [without_defaults(mcp_tool["inputSchema"]) for mcp_tool in tools]
    result = [item["function"]["parameters"] for item in convert_all_tools(tools)]
    assert expected == result
    assert [] == [place for schema in result for place in default_places(schema)]
    assert any(default_places(mcp_tool["inputSchema"]) for mcp_tool in tools)


#: The modules of the converter.
MODULES = [
    sidecheck.converter,
    sidecheck.json_copies,
    sidecheck.json_types,
    sidecheck.json_values,
    sidecheck.pointers,
    sidecheck.sdk_objects,
]


@pytest.mark.parametrize("module", MODULES)
def test_only_the_standard_library_is_imported(module: Any) -> None:
    """The only other imports are modules for which the same holds."""
    allowed = {*sys.stdlib_module_names, *(module.__name__ for module in MODULES)}
    text = Path(module.__file__).read_text(encoding="utf-8")
    assert "import" in text
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            assert allowed >= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0
            assert node.module in allowed or str(node.module).split(".")[0] in allowed
