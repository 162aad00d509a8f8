"""Size of schemas, and the limits that they exceed."""

from typing import Any

import pytest
from sidecheck_server.core.convert.providers.subset import SchemaLimits
from sidecheck_server.core.convert.schema_graph import SchemaNode
from sidecheck_server.core.convert.schema_size import SchemaSize, describe_excess, measure_schema
from support.core_conversion import read

STRING = {"type": "string"}
NODE = {"type": "object", "properties": {"next": {"$ref": "#/$defs/Node"}, "v": STRING}}


def size(**measured: int) -> SchemaSize:
    names = ("properties", "depth", "text", "enum_values", "enum_text", "optional", "unions")
    return SchemaSize(**{name: measured.get(name, 0) for name in names})


CASES: list[tuple[str, Any, SchemaSize]] = [
    ("nothing", {}, size()),
    ("an object", {"type": "object"}, size(depth=1)),
    (
        "properties",
        {"properties": {"ab": STRING, "cde": STRING}, "required": ["ab"]},
        size(properties=2, depth=1, text=5, optional=1),
    ),
    (
        "objects and arrays on the way",
        {"properties": {"a": {"type": "array", "items": {"properties": {"b": STRING}}}}},
        size(properties=2, depth=3, text=2, optional=2),
    ),
    (
        "branches are no levels",
        {"type": "object", "anyOf": [{"allOf": [{"not": STRING}]}]},
        size(depth=1),
    ),
    (
        "unions",
        {
            "properties": {
                "a": {"type": ["string", "null"]},
                "b": {"anyOf": [STRING]},
                "c": {"type": ["string"]},
            },
            "required": ["a", "b", "c", "d"],
        },
        size(properties=3, depth=1, text=3, unions=2),
    ),
    (
        "values",
        {"prefixItems": [{"enum": ["ab", 12, None]}, {"const": "xyz"}]},
        size(depth=1, text=2 + 2 + 4 + 3, enum_values=3),
    ),
    (
        "250 values are not yet a large enum",
        {"enum": ["ab"] * 250},
        size(text=500, enum_values=250),
    ),
    (
        "251 are",
        {"prefixItems": [{"enum": ["ab"] * 251}, {"enum": ["abc"] * 251}]},
        size(depth=1, text=251 * 5, enum_values=502, enum_text=753),
    ),
    (
        "only strings count as a large enum",
        {"enum": ["ab"] * 251 + [1]},
        size(text=503, enum_values=252),
    ),
    (
        "definitions are counted once, with their names",
        {
            "properties": {"a": {"$ref": "#/$defs/Node"}, "b": {"$ref": "#/$defs/Node"}},
            "$defs": {"Node": NODE},
        },
        size(properties=4, depth=2, text=2 + 4 + 4 + 1, optional=4),
    ),
]


@pytest.mark.parametrize(
    ("schema", "expected"), [case[1:] for case in CASES], ids=[case[0] for case in CASES]
)
def test_size(schema: Any, expected: SchemaSize) -> None:
    assert measure_schema(read(schema)[0]) == expected


def test_shared_nodes_are_counted_once() -> None:
    node = SchemaNode((), {"type": "string"})
    for _ in range(60):
        node = SchemaNode((), {"properties": {"a": node, "b": node}})

    assert measure_schema(node) == size(properties=120, depth=60, text=120, optional=120)


def test_long_chains_are_measured() -> None:
    node = SchemaNode((), {"type": "string"})
    for _ in range(5000):
        node = SchemaNode((), {"type": "array", "items": SchemaNode((), {"$ref": node})})

    assert measure_schema(node).depth == 5000


LIMITS = SchemaLimits(properties=2, depth=3, text=4, enum_values=1005, enum_text=15_000)


@pytest.mark.parametrize(
    ("measured", "expected"),
    [
        (size(properties=2, depth=3, text=4, enum_values=1005, enum_text=15_000), ""),
        (size(properties=3), "3 properties in all objects together (limit 2)"),
        (size(depth=4), "4 levels of nesting (limit 3)"),
        (
            size(text=5),
            "5 characters of names and of values of enum and const (limit 4)",
        ),
        (size(enum_values=1006), "1,006 values in all enums together (limit 1,005)"),
        (
            size(enum_text=15_001),
            "15,001 characters in the values of one enum (limit 15,000)",
        ),
        (size(optional=100, unions=100), ""),
    ],
)
def test_excess(measured: SchemaSize, expected: str) -> None:
    assert describe_excess(measured, LIMITS) == expected
    assert describe_excess(measured, SchemaLimits()) == ""
