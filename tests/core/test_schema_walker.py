"""The walk over the subschemas of a schema."""

from typing import Any

import pytest
from sidecheck_server.core.limits import Exhausted
from sidecheck_server.core.schemas.walker import contains_keyword, walk_schema
from sidecheck_server.core.types import as_pointer
from support.compiling import D04, D07, D2020


def walked_locations(schema: Any) -> list[tuple[str, bool]]:
    return [
        (as_pointer(subschema.path), subschema.by_properties)
        for subschema in walk_schema(schema, [100_000])
    ]


CASES = [
    ({}, [("", True)]),
    ({"properties": {"a": {}}}, [("", True), ("/properties/a", True)]),
    (
        {"properties": {"a": {"properties": {"b": {}}}, "c": {}}},
        [
            ("", True),
            ("/properties/a", True),
            ("/properties/a/properties/b", True),
            ("/properties/c", True),
        ],
    ),
    (
        {"properties": {"a": {"items": {"properties": {"b": {}}}}}},
        [
            ("", True),
            ("/properties/a", True),
            ("/properties/a/items", False),
            ("/properties/a/items/properties/b", False),
        ],
    ),
    ({"properties": {"items": {}}}, [("", True), ("/properties/items", True)]),
    ({"$defs": {"a": {}}}, [("", True), ("/$defs/a", False)]),
    ({"anyOf": [True, {}]}, [("", True), ("/anyOf/1", False)]),
    ({"const": {"properties": {"a": {}}}, "x-note": {"not": {}}}, [("", True)]),
    ({"enum": [{}], "default": {}, "examples": [{}]}, [("", True)]),
    ({"properties": [], "items": 7, "allOf": [7]}, [("", True)]),
    ({"$ref": "#/x", "x": {}}, [("", True)]),
    # In 2020-12, `items` is not an array.
    ({"items": [{}]}, [("", True)]),
    (
        {"$schema": "http://json-schema.org/draft-07/schema#", "items": [{}]},
        [("", True), ("/items/0", False)],
    ),
    # An embedded resource has its own dialect, and no other subschema.
    ({"not": {"$schema": D07, "items": [{}]}}, [("", True), ("/not", False)]),
    (
        {"not": {"$schema": D07, "$id": "urn:a", "items": [{"prefixItems": [{}]}]}},
        [("", True), ("/not", False), ("/not/items/0", False)],
    ),
    (
        {"$schema": D07, "not": {"$schema": D2020, "$id": "urn:a", "prefixItems": [{}]}},
        [("", True), ("/not", False), ("/not/prefixItems/0", False)],
    ),
    (
        {"not": {"$schema": D04, "id": "urn:a", "items": [{}], "if": {}}},
        [("", True), ("/not", False), ("/not/items/0", False)],
    ),
    (
        {"not": {"$schema": "https://example.com/other", "$id": "urn:a", "if": {}}},
        [("", True), ("/not", False), ("/not/if", False)],
    ),
    ({"$schema": "https://example.com/other", "if": {}}, [("", True), ("/if", False)]),
    ({"$schema": 7, "if": {}}, [("", True), ("/if", False)]),
    (True, []),
    ([{}], []),
]


@pytest.mark.parametrize(("schema", "standing"), CASES, ids=str)
def test_locations_of_subschemas(schema: Any, standing: list[tuple[str, bool]]) -> None:
    assert standing == walked_locations(schema)


def test_a_deep_schema_takes_no_stack() -> None:
    schema: dict[str, Any] = {}
    for _ in range(5000):
        schema = {"properties": {"a": schema}}
    assert 5001 == sum(1 for _ in walk_schema(schema, [10_000_000]))


def test_walking_is_paid_for() -> None:
    schema: dict[str, Any] = {"properties": {str(index): {} for index in range(1000)}}
    with pytest.raises(Exhausted):
        list(walk_schema(schema, [10_000]))


@pytest.mark.parametrize(
    ("schema", "mentioned"),
    [
        ({"x-a": 1}, True),
        ({"properties": {"b": {"x-a": None}}}, True),
        ({"anyOf": [[], {"x-a": 1}]}, True),
        # Data count as well: it is a first look.
        ({"const": {"x-a": 1}}, True),
        ({"properties": {"b": {"default": "x-a"}}}, False),
        ({"required": ["x-a"]}, False),
        ({}, False),
        (True, False),
    ],
    ids=str,
)
def test_presence_of_a_keyword(schema: Any, mentioned: bool) -> None:
    assert mentioned is contains_keyword(schema, "x-a", [1000])
