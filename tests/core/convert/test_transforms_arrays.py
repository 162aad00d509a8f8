"""Transforms of arrays: items and tuples."""

from typing import Any

import pytest

from .transforms import SMALL, supporting, transformed_property

ARRAYS = supporting("items", "anyOf", "minItems", "maxItems", items=True, boolean_schemas=False)
A, B = {"type": "string"}, {"type": "integer"}
TYPE = {"type": "array"}

CASES: dict[str, tuple[Any, Any, list[tuple[str, str, str]]]] = {
    "items are asked for": (TYPE, {**TYPE, "items": {}}, [("items", "rewritten", "equivalent")]),
    "of what may be null too": (
        {"type": ["array", "null"]},
        {"type": ["array", "null"], "items": {}},
        [("items", "rewritten", "equivalent")],
    ),
    "a tuple": (
        {**TYPE, "prefixItems": [A, B]},
        {**TYPE, "items": {}, "description": "(items in order: string, integer)"},
        [("prefixItems", "described", "widened")],
    ),
    "a closed tuple": (
        {**TYPE, "prefixItems": [A, B], "items": False},
        {
            **TYPE,
            "items": {"anyOf": [A, B]},
            "maxItems": 2,
            "description": "(items in order: string, integer)",
        },
        [("prefixItems", "described", "widened")],
    ),
    "a tuple with others behind": (
        {**TYPE, "prefixItems": [A], "items": B},
        {**TYPE, "items": {"anyOf": [A, B]}, "description": "(items in order: string)"},
        [("prefixItems", "described", "widened")],
    ),
    "a tuple of equal items that nothing is behind": (
        {**TYPE, "prefixItems": [A, A], "maxItems": 2},
        {**TYPE, "maxItems": 2, "items": A, "description": "(items in order: string, string)"},
        [("prefixItems", "described", "widened")],
    ),
    "no items": (
        {**TYPE, "items": False},
        {**TYPE, "maxItems": 0, "items": {}},
        [("items", "rewritten", "equivalent"), ("items", "rewritten", "equivalent")],
    ),
}


@pytest.mark.parametrize(("schema", "expected", "reported"), CASES.values(), ids=CASES)
def test_arrays(schema: Any, expected: Any, reported: list[tuple[str, str, str]]) -> None:
    assert transformed_property(schema, ARRAYS) == (expected, reported)


def test_untyped_items_are_json_text_where_types_are_required() -> None:
    result, reported = transformed_property(TYPE, SMALL)
    text = {"type": "string", "description": "(any JSON value, as JSON text)"}
    expected = [("", "encoded", "equivalent"), ("items", "rewritten", "equivalent")]
    assert (result, reported) == ({**TYPE, "items": text}, expected)
