"""Transforms of objects: properties, maps, closing, requiring, and sibling keywords."""

from typing import Any

import pytest
from sidecheck_server.core.convert.providers.subset import Subset
from sidecheck_server.core.convert.schema_graph import Entries

from .transforms import ALL_REQUIRED, CLOSED, SMALL, supporting, transformed, transformed_property

A, B = {"type": "string"}, {"type": "integer"}
TEXT = {"type": "string", "description": "(any JSON value, as JSON text)"}
OBJECT_TEXT = {"type": "string", "description": "(any JSON object, as JSON text)"}
LISTED = "(a list of properties, each with its name and its value; no name twice)"
CLOSING = ("additionalProperties", "rewritten", "narrowed")
AS_NULL = ("required", "encoded", "equivalent")


def closed(required: list[str] | None = None, **properties: Any) -> dict[str, Any]:
    """Return the schema of a closed object."""
    required_keyword = {} if required is None else {"required": required}
    return {
        "type": "object",
        "properties": properties,
        **required_keyword,
        "additionalProperties": False,
    }


def entries(value: Any) -> dict[str, Any]:
    """Return the schema of a map that is encoded as a list."""
    item: dict[str, Any] = {
        "type": "object",
        "properties": {"name": A, "value": value},
        "required": ["name", "value"],
    }
    return {
        "type": "array",
        "items": {**item, "additionalProperties": False},
        "description": LISTED,
    }


CASES: dict[str, tuple[Subset, Any, Any, list[tuple[str, str, str]]]] = {
    "a closed object stays": (CLOSED, closed(a=A), closed(a=A), []),
    "an object that says nothing of others is closed": (
        CLOSED,
        {"type": "object", "properties": {"a": A}},
        closed(a=A),
        [CLOSING],
    ),
    "an object that is open is closed": (
        CLOSED,
        {"type": "object", "properties": {"a": A}, "additionalProperties": B},
        closed(a=A),
        [CLOSING],
    ),
    "a map is a list": (
        CLOSED,
        {"type": "object", "additionalProperties": B},
        entries(B),
        [("additionalProperties", "encoded", "equivalent")],
    ),
    "a map of so many properties": (
        CLOSED,
        {
            "type": "object",
            "additionalProperties": B,
            "minProperties": 1,
        },
        {**entries(B), "minItems": 1},
        [("additionalProperties", "encoded", "equivalent")],
    ),
    "a map where maps are not supported": (
        SMALL,
        {"type": "object", "additionalProperties": B},
        entries(B),
        [("additionalProperties", "encoded", "equivalent")],
    ),
    "an object of anything is text": (
        CLOSED,
        {"type": "object"},
        OBJECT_TEXT,
        [("", "encoded", "equivalent")],
    ),
    "a nullable object of anything": (
        CLOSED,
        {"type": ["object", "null"], "additionalProperties": True},
        {**OBJECT_TEXT, "type": ["string", "null"]},
        [("", "encoded", "equivalent"), ("additionalProperties", "dropped", "equivalent")],
    ),
    "an empty object where there are none": (
        SMALL,
        {"type": "object", "additionalProperties": False},
        {
            "type": "string",
            "description": "(no other properties; an empty JSON object, as JSON text)",
        },
        [("", "encoded", "equivalent"), ("additionalProperties", "described", "widened")],
    ),
    "any value is text": (CLOSED, {}, TEXT, [("", "encoded", "equivalent")]),
    "an object by its properties alone": (
        CLOSED,
        {"properties": {"a": A}, "additionalProperties": False},
        {
            "anyOf": [
                closed(a=A),
                {"type": "string", "description": "(any other JSON value, as JSON text)"},
            ]
        },
        [("type", "encoded", "equivalent")],
    ),
    "patterns of names are a map": (
        CLOSED,
        {"type": "object", "patternProperties": {"^x": B}, "additionalProperties": False},
        {
            **entries(B),
            "description": "(properties whose name matches ^x have a form of their own, and other "
            "undeclared ones are rejected; " + LISTED[1:],
        },
        [
            ("additionalProperties", "encoded", "equivalent"),
            ("patternProperties", "described", "widened"),
        ],
    ),
    "patterns and all others": (
        supporting("additionalProperties", "anyOf"),
        {"type": "object", "patternProperties": {"^x": B}, "additionalProperties": A},
        {
            "type": "object",
            "additionalProperties": {"anyOf": [B, A]},
            "description": "(properties whose name matches ^x have a form of their own)",
        },
        [("patternProperties", "described", "widened")],
    ),
    "patterns, and others are open": (
        supporting("additionalProperties", "anyOf"),
        {"type": "object", "patternProperties": {"^x": B}},
        {
            "type": "object",
            "description": "(properties whose name matches ^x have a form of their own)",
        },
        [("patternProperties", "described", "widened")],
    ),
    "a property that admits nothing": (
        CLOSED,
        closed(a=A, b=False),
        closed(a=A),
        [("properties", "rewritten", "equivalent")],
    ),
    "a property that admits nothing, of an open object": (
        supporting(boolean_schemas=False),
        {"type": "object", "properties": {"a": A, "b": False}},
        {"type": "object", "properties": {"a": A}, "description": '(never has "b")'},
        [("properties", "described", "widened")],
    ),
    "a property that must be and cannot": (
        CLOSED,
        closed(["a", "b"], a=A, b=False),
        {
            **closed(["a"], a=A),
            "description": '(never valid: "b" is required, and rejected)',
        },
        [("required", "described", "widened")],
    ),
    "a required property is declared": (
        CLOSED,
        {"type": "object", "properties": {"a": A}, "required": ["b"]},
        closed(["b"], a=A, b=TEXT),
        [("", "encoded", "equivalent"), CLOSING, ("required", "rewritten", "equivalent")],
    ),
    "optional properties may be null": (
        ALL_REQUIRED,
        closed(["a"], a=A, b=B, c={"enum": ["x"]}, d={"type": "array", "items": A}),
        closed(
            ["a", "b", "c", "d"],
            a=A,
            b={"type": ["integer", "null"]},
            c={"enum": ["x", None], "type": ["string", "null"]},
            d={"anyOf": [{"type": "array", "items": A}, {"type": "null"}]},
        ),
        [AS_NULL, AS_NULL, AS_NULL],
    ),
    "a union supports one more branch": (
        ALL_REQUIRED,
        closed(a={"anyOf": [A, B], "description": "d"}),
        closed(["a"], a={"anyOf": [A, B, {"type": "null"}], "description": "d"}),
        [AS_NULL],
    ),
    "null is the default": (
        ALL_REQUIRED,
        closed(a={"type": ["string", "null"], "default": None}),
        closed(["a"], a={"type": ["string", "null"], "description": "(default: null)"}),
        [("required", "rewritten", "equivalent"), ("default", "described", "equivalent")],
    ),
    "null means something": (
        ALL_REQUIRED,
        closed(a={"type": ["string", "null"]}),
        closed(["a"], a={"type": ["string", "null"]}),
        [("required", "rewritten", "narrowed")],
    ),
    "what is said of a string goes into the branches beside it": (
        CLOSED,
        {"type": "string", "anyOf": [{"pattern": "^a"}, {"format": "email"}]},
        {"anyOf": [{"type": "string", "pattern": "^a"}, {"type": "string", "format": "email"}]},
        [("type", "rewritten", "equivalent")],
    ),
}


@pytest.mark.parametrize(("subset", "schema", "expected", "reported"), CASES.values(), ids=CASES)
def test_objects(
    subset: Subset, schema: Any, expected: Any, reported: list[tuple[str, str, str]]
) -> None:
    assert transformed_property(schema, subset) == (expected, reported)


def test_a_map_at_the_root_is_wrapped() -> None:
    result = transformed({"type": "object", "additionalProperties": {"$ref": "#"}}, CLOSED)
    reference = {"$ref": "#/$defs/definition"}
    assert result.schema == {
        **closed(["input"], input=reference),
        "$defs": {"definition": entries(reference)},
    }
    assert result.root.encoding.wrapped == "input"
    assert result.root.keywords["properties"]["input"].encoding.entries == Entries()


def test_a_root_without_properties_is_closed() -> None:
    result = transformed({"type": "object"}, CLOSED)
    assert (result.schema, result.reported) == (closed(), [CLOSING])


def test_properties_are_renamed_in_every_keyword() -> None:
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {"a b": A, "c": A},
        "required": ["a b"],
        "allOf": [{"required": ["d e"]}],
        "propertyNames": {"maxLength": 3},
    }
    result = transformed(schema, Subset(), {"a b": "a_b", "d e": "d_e"})
    assert result.schema["properties"] == {"a_b": A, "c": A}
    assert result.schema["required"] == ["a_b", "d_e"]
    assert result.root.encoding.renamed == {"a_b": "a b", "d_e": "d e"}
    assert ("propertyNames", "described", "widened") in result.reported


def test_a_schema_of_supported_keywords_is_unchanged() -> None:
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {"a": {"minLength": 1, "pattern": "^(?=a)"}, "b": True, "c": False},
        "patternProperties": {"^x": {"enum": [1, {}]}},
        "additionalProperties": {"const": None},
        "required": ["z"],
        "minProperties": 1,
    }
    result = transformed(schema, Subset())
    assert (result.schema, result.reported) == (
        {**schema, "properties": {**schema["properties"], "b": {}}},
        [],
    )


def test_the_description_of_an_isolated_union_moves_to_its_first_branch() -> None:
    subset = supporting("anyOf", any_of_alone=True)
    result, reported = transformed_property(
        {"anyOf": [{**A, "description": "a"}, B], "description": "d"}, subset
    )
    assert result == {"anyOf": [{"type": "string", "description": "d a"}, B]}
    assert reported == [("description", "rewritten", "equivalent")]
