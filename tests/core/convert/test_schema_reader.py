"""Schemas of each dialect in the keywords of 2020-12, and their losses."""

from typing import Any

import pytest
from sidecheck_server.core.convert.schema_graph import collect_reachable
from sidecheck_server.core.convert.schema_reader import read_schema
from sidecheck_server.core.convert.types import LossLog
from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.limits import Exhausted
from support.compiling import D04, D06, D07, D2019, LIMITS, source_of
from support.core_conversion import LossSummary, read, reported, written

SCHEMA: LossSummary = ("/in", "$schema", "dropped", "equivalent")


def dropped(keyword: str, pointer: str = "/in") -> LossSummary:
    return (pointer, keyword, "dropped", "equivalent")


CASES: list[tuple[str, Any, Any, list[LossSummary]]] = [
    ("as it is", {"type": "object", "required": ["a"]}, {"type": "object", "required": ["a"]}, []),
    ("true", True, {}, []),
    ("false", False, {"not": {}}, []),
    (
        "annotations stay, what is unknown goes",
        {"title": "T", "$id": "urn:a", "$comment": "c", "x-b": {"$ref": "?"}, "readOnly": True},
        {"title": "T", "readOnly": True},
        [dropped("$comment"), dropped("$id"), dropped("x-b")],
    ),
    (
        "annotations of another type than 2020-12 has",
        {"$schema": D04, "examples": {"a": 1}, "readOnly": "yes", "default": {"$ref": "?"}},
        {"default": {"$ref": "?"}},
        [SCHEMA, dropped("examples"), dropped("readOnly")],
    ),
    (
        "data is no schema",
        {"const": {"$ref": "#/x", "items": []}, "enum": [{"type": 1}]},
        {"const": {"$ref": "#/x", "items": []}, "enum": [{"type": 1}]},
        [],
    ),
    (
        "properties named like keywords",
        {"properties": {"$ref": {"type": "null"}, "default": {"properties": {"items": False}}}},
        {"properties": {"$ref": {"type": "null"}, "default": {"properties": {"items": False}}}},
        [],
    ),
    (
        "exclusive bounds of draft 4",
        {"$schema": D04, "minimum": 1, "exclusiveMinimum": True, "maximum": 3},
        {"exclusiveMinimum": 1, "maximum": 3},
        [SCHEMA],
    ),
    (
        "bounds that are not exclusive in draft 4",
        {"$schema": D04, "maximum": 3, "exclusiveMaximum": False},
        {"maximum": 3},
        [SCHEMA],
    ),
    (
        "integers of draft 4",
        {"$schema": D04, "type": ["integer", "null"]},
        {"type": ["integer", "null"]},
        [SCHEMA, ("/in", "type", "rewritten", "widened")],
    ),
    (
        "const and contains before draft 6",
        {"$schema": D04, "const": 1, "contains": {"type": "null"}, "propertyNames": {}},
        {},
        [SCHEMA, dropped("const"), dropped("contains"), dropped("propertyNames")],
    ),
    (
        "if before draft 7",
        {"$schema": D06, "if": {"type": "null"}, "then": False},
        {},
        [SCHEMA, dropped("if"), dropped("then")],
    ),
    (
        "lists of items",
        {"$schema": D07, "items": [{"type": "null"}, True], "additionalItems": False},
        {"prefixItems": [{"type": "null"}, {}], "items": False},
        [SCHEMA],
    ),
    (
        "additionalItems beside one schema of items",
        {"$schema": D2019, "items": {"type": "null"}, "additionalItems": False},
        {"items": {"type": "null"}},
        [SCHEMA, dropped("additionalItems")],
    ),
    (
        "dependencies",
        {"$schema": D07, "dependencies": {"a": ["b"], "c": {"minProperties": 2}}},
        {"dependentRequired": {"a": ["b"]}, "dependentSchemas": {"c": {"minProperties": 2}}},
        [SCHEMA],
    ),
    (
        "dependencies beside what took their place",
        {
            "dependencies": {"a": ["b"], "c": {"type": "null"}},
            "dependentRequired": {"a": ["d"]},
            "dependentSchemas": {"c": {"title": "x"}},
        },
        {
            "dependentRequired": {"a": ["b", "d"]},
            "dependentSchemas": {"c": {"allOf": [{"type": "null"}, {"title": "x"}]}},
        },
        [],
    ),
    (
        "what has no effect without another keyword",
        {"then": False, "minContains": 2, "additionalItems": False},
        {},
        [dropped("additionalItems"), dropped("minContains"), dropped("then")],
    ),
    (
        "a reference of draft 7 hides assertions, and leaves annotations",
        {
            "$schema": D07,
            "properties": {"a": {"$ref": "#/definitions/P", "minimum": 1, "description": "d"}},
            "definitions": {"P": {"type": "integer"}},
        },
        {
            "properties": {"a": {"$ref": "#/$defs/P", "description": "d"}},
            "$defs": {"P": {"type": "integer"}},
        },
        [SCHEMA, dropped("minimum", "/in/properties/a")],
    ),
    (
        "an embedded resource of draft 7, and one of draft 4",
        {
            "prefixItems": [
                {"$id": "urn:a", "$schema": D07, "items": [{"$ref": "#/items/1"}, False]},
                {"id": "urn:b", "$schema": D04, "minimum": 1, "exclusiveMinimum": True},
            ],
        },
        {
            "prefixItems": [
                {"prefixItems": [{"$ref": "#/$defs/1"}, False]},
                {"exclusiveMinimum": 1},
            ],
            "$defs": {"1": {"not": {}}},
        },
        [
            dropped("$id", "/in/prefixItems/0"),
            dropped("$schema", "/in/prefixItems/0"),
            dropped("$schema", "/in/prefixItems/1"),
            dropped("id", "/in/prefixItems/1"),
        ],
    ),
    (
        "a reference of 2020-12 has siblings",
        {"properties": {"a": {"$ref": "#", "minProperties": 1}}},
        {"properties": {"a": {"$ref": "#", "minProperties": 1}}},
        [],
    ),
    (
        "definitions that nothing refers to",
        {"$defs": {"a": {"$defs": {"b": {}}}, "c": True, "d": {}}, "items": {"$ref": "#/$defs/d"}},
        {"items": {"$ref": "#/$defs/d"}, "$defs": {"d": {}}},
        [dropped("", "/in/$defs/a")],
    ),
    (
        "a reference to true and one to false",
        {
            "items": {"$ref": "#/$defs/t"},
            "contains": {"$ref": "#/$defs/f"},
            "$defs": {"t": True, "f": False},
        },
        {
            "items": {"$ref": "#/$defs/t"},
            "contains": {"$ref": "#/$defs/f"},
            "$defs": {"t": {}, "f": {"not": {}}},
        },
        [],
    ),
    (
        "a static $dynamicRef",
        {"$dynamicAnchor": "n", "items": {"$dynamicRef": "#n"}},
        {"items": {"$ref": "#"}},
        [dropped("$dynamicAnchor")],
    ),
    (
        "a static $recursiveRef",
        {"$schema": D2019, "$recursiveAnchor": True, "items": {"$recursiveRef": "#"}},
        {"items": {"$ref": "#"}},
        [dropped("$recursiveAnchor"), SCHEMA],
    ),
    (
        "a $dynamicRef that depends on the way",
        {
            "items": {"$ref": "urn:list"},
            "unevaluatedItems": False,
            "$defs": {
                "l": {
                    "$id": "urn:list",
                    "contains": {"$dynamicRef": "#n"},
                    "$defs": {"n": {"$dynamicAnchor": "n", "type": "null"}},
                }
            },
        },
        {
            "items": {"$ref": "#/$defs/l"},
            "description": "(other properties may be rejected)",
            "$defs": {
                "l": {
                    "contains": {"description": "(of the same form as a schema that contains it)"}
                }
            },
        },
        [
            ("/in", "unevaluatedItems", "described", "widened"),
            dropped("$id", "/in/$defs/l"),
            dropped("", "/in/$defs/l/$defs/n"),
            ("/in/$defs/l/contains", "$dynamicRef", "described", "widened"),
        ],
    ),
    (
        "contains of 2019-09 evaluates nothing",
        {
            "$schema": D2019,
            "contains": {"type": "null"},
            "minContains": 2,
            "unevaluatedItems": False,
        },
        {
            "allOf": [{"not": {"not": {"contains": {"type": "null"}, "minContains": 2}}}],
            "unevaluatedItems": False,
        },
        [SCHEMA],
    ),
]


@pytest.mark.parametrize(
    ("schema", "expected", "losses"), [case[1:] for case in CASES], ids=[case[0] for case in CASES]
)
def test_read(schema: Any, expected: Any, losses: list[LossSummary]) -> None:
    root, log = read(schema)

    assert written(root) == expected
    assert reported(log) == losses


def test_nodes_have_the_paths_of_the_definition() -> None:
    """Documents are below the URI that they were sent with."""
    schema = {
        "$schema": D07,
        "items": [{"$ref": "urn:doc#/definitions/Po~1int"}, {"$ref": "#/x-more/a"}],
        "x-more": {"a": {"type": "null"}},
    }
    documents = {"urn:doc": {"definitions": {"Po/int": {"not": {"type": "null"}}}}}

    root, _ = read(schema, documents)

    assert [(node.path, node.name) for node in collect_reachable(root)] == [
        (("in",), ""),
        (("in", "items", 0), ""),
        (("in", "urn:doc", "definitions", "Po/int"), "Po/int"),
        (("in", "urn:doc", "definitions", "Po/int", "not"), ""),
        (("in", "items", 1), ""),
        (("in", "x-more", "a"), "a"),
    ]


def test_a_built_in_meta_schema_is_read() -> None:
    root, _ = read({"items": {"$ref": D04}})

    target = root.keywords["items"].keywords["$ref"]
    assert target.path == ("in", "http://json-schema.org/draft-04/schema")
    assert target.name == "schema"


def test_long_chains_of_references_are_read() -> None:
    definitions: dict[str, Any] = {
        f"d{n}": {"items": {"$ref": f"#/$defs/d{n + 1}"}} for n in range(4000)
    }
    root, _ = read({"$ref": "#/$defs/d0", "$defs": {**definitions, "d4000": {}}})

    assert len(collect_reachable(root)) == 8002


def test_reading_costs_steps() -> None:
    with pytest.raises(Exhausted):
        read_schema(source_of({"items": {"items": {}}}), (), LossLog([250]), LIMITS)


def test_a_schema_that_is_not_admitted_is_rejected() -> None:
    with pytest.raises(RequestError) as excinfo:
        read({"type": "strange"})

    assert excinfo.value.reason is ErrorReason.INVALID_SCHEMA
