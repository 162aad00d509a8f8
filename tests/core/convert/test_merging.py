"""Exact merging of several nodes, or None where that is impossible."""

from typing import Any

import pytest
from sidecheck_server.core.convert.transforms.merging import merge_nodes
from sidecheck_server.core.limits import Exhausted
from support.core_conversion import read, written

CLOSED = {"properties": {"a": {}}, "additionalProperties": False}

EXACT: list[tuple[list[Any], Any]] = [
    ([{}, {"type": "string"}], {"type": "string"}),
    ([{"type": ["string", "number"]}, {"type": ["integer", "null"]}], {"type": "integer"}),
    ([{"type": "integer"}, {"type": "number"}], {"type": "integer"}),
    ([{"type": "integer"}, {"type": "string"}], {"not": {}}),
    ([True, False], {"not": {}}),
    ([{"enum": [1, "a", None]}, {"enum": ["a", 1.0]}], {"enum": [1, "a"]}),
    ([{"enum": [1, "a"]}, {"const": "a"}], {"const": "a"}),
    ([{"enum": ["a"]}, {"const": "b"}], {"not": {}}),
    ([{"const": True}, {"const": 1}], {"not": {}}),
    ([{"const": {"a": [1]}}, {"const": {"a": [1.0]}}], {"const": {"a": [1]}}),
    ([{"minimum": 1, "maximum": 9}, {"minimum": 3, "maximum": 10}], {"minimum": 3, "maximum": 9}),
    ([{"multipleOf": 4}, {"multipleOf": 6}], {"multipleOf": 12}),
    ([{"uniqueItems": False}, {"uniqueItems": True}], {"uniqueItems": True}),
    ([{"required": ["a", "b"]}, {"required": ["b", "c"]}], {"required": ["a", "b", "c"]}),
    (
        [{"dependentRequired": {"a": ["b"]}}, {"dependentRequired": {"a": ["c"], "d": ["e"]}}],
        {"dependentRequired": {"a": ["b", "c"], "d": ["e"]}},
    ),
    ([{"title": "A", "description": "x"}, {"title": "B"}], {"title": "A", "description": "x"}),
    (
        [{"properties": {"a": {"minimum": 1}}}, {"properties": {"a": {"maximum": 2}, "b": {}}}],
        {"properties": {"a": {"minimum": 1, "maximum": 2}, "b": {}}},
    ),
    ([CLOSED, CLOSED], CLOSED),
    ([CLOSED, {"properties": {"b": {}}}], CLOSED),
    ([{"required": ["b"]}, CLOSED], {"required": ["b"], **CLOSED}),
    (
        [{"additionalProperties": {"minimum": 1}}, {"additionalProperties": {"maximum": 2}}],
        {"additionalProperties": {"minimum": 1, "maximum": 2}},
    ),
    (
        [{"additionalProperties": {"minimum": 1}}, {"properties": {"a": {"maximum": 2}}}],
        {
            "properties": {"a": {"minimum": 1, "maximum": 2}},
            "additionalProperties": {"minimum": 1},
        },
    ),
    (
        [{"items": {"minimum": 1}}, {"items": {"maximum": 2}}],
        {"items": {"minimum": 1, "maximum": 2}},
    ),
    ([{"anyOf": [{}]}, {"minimum": 1}], {"anyOf": [{}], "minimum": 1}),
    ([{"allOf": [{"minimum": 1}, {"allOf": [{"maximum": 2}]}]}], {"minimum": 1, "maximum": 2}),
    ([{"pattern": "a"}, {"pattern": "a"}], {"pattern": "a"}),
]

INEXACT: list[list[Any]] = [
    [{"pattern": "a"}, {"pattern": "b"}],
    [{"format": "date"}, {"format": "time"}],
    [{"multipleOf": 0.5}, {"multipleOf": 2}],
    [{"anyOf": [{}]}, {"anyOf": [{}]}],
    [{"not": {}}, {"not": {}}],
    [{"if": {}, "then": {}}, {"if": {}, "else": {}}],
    [{"contains": {}}, {"contains": {}, "minContains": 2}],
    [{"properties": {"a": {}}}, {"patternProperties": {"a": {}}}],
    [{"prefixItems": [{}]}, {"items": {}}],
    [{"unevaluatedProperties": False}, {"properties": {"a": {}}}],
    [{"unevaluatedItems": False, "allOf": [{}]}],
    [{"dependentSchemas": {"a": {}}}, {"dependentSchemas": {"a": {}}}],
    [{"properties": {"a": {"pattern": "a"}}}, {"properties": {"a": {"pattern": "b"}}}],
]


def merge(schemas: list[Any]) -> Any:
    root, log = read({"prefixItems": schemas})
    result = merge_nodes(root.keywords["prefixItems"], log.budget)
    return None if result is None else written(result)


@pytest.mark.parametrize(("schemas", "expected"), EXACT)
def test_merged(schemas: list[Any], expected: Any) -> None:
    assert merge(schemas) == expected


@pytest.mark.parametrize("schemas", INEXACT)
def test_not_merged(schemas: list[Any]) -> None:
    assert merge(schemas) is None


def test_mutually_recursive_schemas_are_not_merged() -> None:
    schema: Any = {
        "prefixItems": [{"$ref": "#/$defs/a"}, {"$ref": "#/$defs/b"}],
        "$defs": {name: {"items": {"$ref": f"#/$defs/{name}"}} for name in ("a", "b")},
    }
    root, log = read(schema)

    assert merge_nodes(root.keywords["prefixItems"], log.budget) is None


def test_merged_nodes_are_not_modified() -> None:
    schema: Any = {"prefixItems": [{"properties": {"a": {}}}, {"properties": {"b": {}}}]}
    root, log = read(schema)

    assert merge_nodes(root.keywords["prefixItems"], log.budget) is not None
    assert written(root) == schema


def test_merging_costs_steps() -> None:
    root, _ = read({"prefixItems": [{"minimum": 1}, {"maximum": 2}]})

    with pytest.raises(Exhausted):
        merge_nodes(root.keywords["prefixItems"], [60])
