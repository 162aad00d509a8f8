"""Keywords that assert nothing because they are empty."""

from collections.abc import Callable
from typing import Any

import pytest
from sidecheck_server.core.compat.changes import Direction, Level, Part, Reading
from sidecheck_server.core.compat.compare import compare_schemas
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.payload import encode_json
from sidecheck_server.core.schemas.dialects import SchemaSource

LIMITS = Limits()
EMPTY: tuple[dict[str, Any], ...] = (
    {"properties": {}},
    {"required": []},
    {"patternProperties": {}},
    {"dependentRequired": {}, "dependentSchemas": {}},
    {"properties": {}, "required": [], "patternProperties": {}},
)
BASES: tuple[dict[str, Any], ...] = (
    {},
    {"type": "object"},
    {"type": "object", "additionalProperties": False},
    {"type": ["object", "null"], "required": ["a"]},
    {"type": "object", "patternProperties": {"^x": {"type": "string"}}},
    {"$ref": "#/$defs/Base"},
    {"anyOf": [{"properties": {"a": {"type": "string"}}}, {"properties": {"b": {}}}]},
    {"if": {"required": ["a"]}, "then": {"required": ["b"]}},
)
PLACES: dict[str, Callable[[Any], dict[str, Any]]] = {
    "root": lambda schema: {"type": "object", **schema},
    "property": lambda schema: {"type": "object", "properties": {"p": schema}},
    "items": lambda schema: {"type": "object", "properties": {"p": {"items": schema}}},
    "prefix": lambda schema: {"type": "object", "properties": {"p": {"prefixItems": [schema]}}},
    "values": lambda schema: {"type": "object", "additionalProperties": schema},
    "allOf": lambda schema: {"type": "object", "allOf": [schema, {"required": ["q"]}]},
    "anyOf": lambda schema: {
        "type": "object",
        "properties": {"p": {"anyOf": [schema, {"type": "integer"}]}},
    },
    "oneOf": lambda schema: {"type": "object", "oneOf": [{"required": ["q"]}, schema]},
    "not": lambda schema: {"type": "object", "properties": {"p": {"not": schema}}},
    "reference": lambda schema: {
        "type": "object",
        "properties": {"p": {"$ref": "#/$defs/P"}},
        "$defs": {"P": schema},
    },
}


def compare(part: Part, old: Any, new: Any) -> tuple[list[Any], Any]:
    """Return the changes and the verdicts; both schemas get the same definitions."""
    definitions = {"Base": {"type": "object", "properties": {"n": {"type": "integer"}}}}
    sources = [
        SchemaSource(encode_json({**schema, "$defs": {**definitions, **schema.get("$defs", {})}}))
        for schema in (old, new)
    ]
    changes, comparison = compare_schemas(
        part, (sources[0], sources[1]), LIMITS, of_arguments=part is Part.INPUT
    )
    return changes, comparison.verdicts


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("base", BASES, ids=str)
def test_an_empty_keyword_changes_nothing(place: str, base: dict[str, Any]) -> None:
    """In both readings, added or removed, in arguments and in results."""
    without = PLACES[place](base)
    for number, empty in enumerate(EMPTY):
        if not empty.keys().isdisjoint(base) or not (
            place != "root" or empty.keys().isdisjoint(without)
        ):
            continue
        pair = without, PLACES[place](base | empty)
        for old, new in (pair, pair[::-1]):
            part = (Part.INPUT, Part.OUTPUT)[number % 2]
            changes, verdicts = compare(part, old, new)

            for reading in Reading:
                assert verdicts.of(reading).level is Level.COSMETIC, (old, new)
            assert ["SCHEMA_REWRITTEN"] == [change.code for change in changes]


EXTRAS: list[dict[str, Any]] = [{}, {"properties": {}}]


def test_an_object_with_empty_properties_is_a_map() -> None:
    """A first property of it closes it, as it does without the keyword."""
    first = {"type": "object", "properties": {"a": {"type": "string"}}}
    verdicts = [
        compare(
            Part.INPUT, PLACES["property"]({"type": "object"} | extra), PLACES["property"](first)
        )[1].assume_closed
        for extra in EXTRAS
    ]

    assert verdicts[0] == verdicts[1]
    assert verdicts[0].level is Level.BREAKING


@pytest.mark.parametrize("extra", [{}, {"properties": {}}, {"required": []}])
def test_a_tool_without_arguments_gets_its_first_ones(extra: dict[str, Any]) -> None:
    """Beside a required one, which breaks callers, an optional one breaks none."""
    new = {"type": "object", "properties": {"a": {}, "b": {}}, "required": ["a"]}
    changes, _ = compare(Part.INPUT, {"type": "object"} | extra, new)
    levels = {change.code: change.effects.assume_closed.level for change in changes}

    assert levels == {
        "REQUIRED_PROPERTY_ADDED": Level.BREAKING,
        "PROPERTY_ADDED": Level.COMPATIBLE,
    }
    assert changes[1].direction.assume_closed is Direction.WIDER
