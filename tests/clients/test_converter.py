"""The converter of the client: MCP tools as functions of OpenAI's Chat Completions."""

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
from hypothesis import given
from hypothesis import strategies as st
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
    """Return what `tool` is to become, given the schema that is left."""
    inner = {"name": name, "description": "A tool.", "parameters": parameters}
    return {"type": "function", "function": inner}


# What is asked of any such converter


def test_convert_basic_tool() -> None:
    """The schema stands as the parameters of a function that has the name of the tool."""
    result = convert_tool(tool({"type": "object", "properties": {"param1": {"type": "string"}}}))
    assert result["type"] == "function"
    assert result["function"]["name"] == "t"
    assert result["function"]["parameters"]["properties"]["param1"]["type"] == "string"


def test_removes_default_values() -> None:
    """A property has no default any more."""
    properties = {"param1": {"type": "string", "default": "value"}}
    result = convert_tool(tool({"type": "object", "properties": properties}))
    assert "default" not in result["function"]["parameters"]["properties"]["param1"]


def test_preserves_enum() -> None:
    """The values that are allowed are those that were."""
    properties = {"choice": {"type": "string", "enum": ["a", "b", "c"]}}
    result = convert_tool(tool({"type": "object", "properties": properties}))
    assert result["function"]["parameters"]["properties"]["choice"]["enum"] == ["a", "b", "c"]


def test_deep_copy() -> None:
    """The original keeps the default that the converted tool lost."""
    properties = {"param1": {"type": "string", "default": "value"}}
    mcp_tool = tool({"type": "object", "properties": properties})
    result = convert_tool(mcp_tool)
    assert "default" in mcp_tool["inputSchema"]["properties"]["param1"]
    assert "default" not in result["function"]["parameters"]["properties"]["param1"]


def test_convert_all_tools() -> None:
    """Tools are converted in their order."""
    schema: dict[str, Any] = {"type": "object", "properties": {}}
    result = convert_all_tools([tool(schema, "tool1"), tool(schema, "tool2")])
    assert len(result) == 2
    assert result[0]["function"]["name"] == "tool1"
    assert result[1]["function"]["name"] == "tool2"


def test_nested_objects() -> None:
    """A property of a property has no default any more."""
    nested = {"type": "object", "properties": {"param": {"type": "string", "default": "value"}}}
    result = convert_tool(tool({"type": "object", "properties": {"options": nested}}))
    options = result["function"]["parameters"]["properties"]["options"]
    assert "default" not in options["properties"]["param"]


# Whole values


@pytest.mark.parametrize("case", [pytest.param(each, id=each["name"]) for each in CASES["cases"]])
def test_shared_case(case: dict[str, Any]) -> None:
    """Each tool becomes what the case wants, member by member in the same order."""
    given_tool = copy.deepcopy(case["tool"])
    describes = case.get("describe_defaults", False)
    got = convert_tool(given_tool, describe_defaults=describes)
    assert json.dumps(case["want"]) == json.dumps(got)
    assert case["tool"] == given_tool
    assert [case["want"]] == convert_all_tools([given_tool], describe_defaults=describes)


def test_no_tools() -> None:
    """No tools are none."""
    assert [] == convert_all_tools([])


def test_the_result_shares_nothing_with_what_was_given() -> None:
    """A list that is changed afterwards is changed in one of them alone."""
    given_tool = tool({"enum": [{"a": [1]}], "required": []})
    result = convert_tool(given_tool)
    result["function"]["parameters"]["enum"][0]["a"].append(2)
    result["function"]["parameters"]["required"].append("b")
    assert tool({"enum": [{"a": [1]}], "required": []}) == given_tool


def test_one_object_at_two_places_is_judged_by_its_place() -> None:
    """What is a schema here and data there loses its default here alone."""
    one = {"default": 1}
    assert function({"not": {}, "const": {"default": 1}}) == convert_tool(
        tool({"not": one, "const": one})
    )


def test_what_json_writes_like_a_list_or_an_object_becomes_one() -> None:
    """A tuple becomes a list, and a mapping that is a dict becomes a plain one."""
    got = convert_tool(tool(OrderedDict(enum=("a", (1, None)))))
    assert function({"enum": ["a", [1, None]]}) == got
    assert dict is type(got["function"]["parameters"])


def test_defaults_go_in_place() -> None:
    """The part that works in place changes what it is given, and gives back nothing."""
    schema: dict[str, Any] = {"default": 1, "items": {"default": 2}, "const": {"default": 3}}
    remove: Any = MCPToOpenAIConverter._remove_defaults
    assert remove(schema) is None
    assert {"items": {}, "const": {"default": 3}} == schema


def test_defaults_go_in_place_from_an_object_within_itself() -> None:
    """Such a schema is no JSON, but an end there is."""
    schema: dict[str, Any] = {"default": 1}
    schema["not"] = schema
    MCPToOpenAIConverter._remove_defaults(schema)
    assert ["not"] == list(schema)


# Depth


@pytest.mark.parametrize("depth", [2_000, 100_000])
@pytest.mark.parametrize("describes", [False, True])
def test_deep_schemas_are_converted(depth: int, describes: bool) -> None:
    """Each level loses its default, and no level is lost."""
    schema: dict[str, Any] = {"type": "string"}
    for level in range(depth):
        inner = {"anyOf": [schema]} if level % 2 else {"properties": {"p": schema}}
        schema = {"default": level, **inner}
    left = convert_tool(tool(schema), describe_defaults=describes)["function"]["parameters"]
    for level in reversed(range(depth)):
        told = {"description": f"(default: {level})"} if describes else {}
        keyword = "anyOf" if level % 2 else "properties"
        assert {keyword, *told} == left.keys()
        assert told.get("description") == left.get("description")
        assert level == schema["default"]
        left = left[keyword][0] if level % 2 else left[keyword]["p"]
        schema = schema[keyword][0] if level % 2 else schema[keyword]["p"]
    assert {"type": "string"} == left


def test_deep_defaults_are_told_in_part() -> None:
    """A default of 100,000 lists within each other is told by its first characters."""
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    assert function({"description": f"(default: {'[' * 99}…)"}) == convert_tool(
        tool({"default": deep}), describe_defaults=True
    )


# Any schema, and real ones

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
def test_the_keyword_goes_and_nothing_else(schema: dict[str, Any]) -> None:
    """Of any object no default is left, all else is, and what was given is as before."""
    before = copy.deepcopy(schema)
    got = convert_tool(tool(schema))["function"]["parameters"]
    assert before == schema
    assert [] == default_places(got)
    assert without_defaults(schema) == got


@pytest.mark.corpus
def test_real_schemas_lose_their_defaults_and_nothing_else() -> None:
    """Of the corpus, every tool."""
    tools = [record["tool"] for record in read_records(shared("corpus/tools.jsonl.gz"))]
    wanted = [without_defaults(each["inputSchema"]) for each in tools]
    got = [one["function"]["parameters"] for one in convert_all_tools(tools)]
    assert wanted == got
    assert [] == [place for one in got for place in default_places(one)]
    assert any(default_places(each["inputSchema"]) for each in tools)


@pytest.mark.parametrize("module", [sidecheck.converter, sidecheck.json_copies])
def test_the_standard_library_is_enough(module: Any) -> None:
    """Nothing else is imported, but for copies of JSON, which need nothing else either."""
    known = {*sys.stdlib_module_names, "sidecheck.json_copies"}
    text = Path(module.__file__).read_text(encoding="utf-8")
    assert "import" in text
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            assert known >= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0
            assert node.module in known or str(node.module).split(".")[0] in known
