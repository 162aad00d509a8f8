"""Encoding of arguments by the inverse of a decoder."""

from typing import Any

import pytest
from conversions.encoding import as_instructed, encodings

TEXT = {"types": ["string"]}
CLOSED = {"types": ["object"], "required": ["kind"], "only": ["kind", "b"]}

# Name, decoder, value, and the forms of the value.
FORMS: list[tuple[str, Any, Any, list[Any]]] = [
    ("no decoder", None, {"a": 1}, [{"a": 1}]),
    ("absent property", {"nulls": ["a", "b"]}, {"b": 1}, [{"a": None, "b": 1}]),
    ("renamed property", {"renamed": {"a_b": "a b"}}, {"a b": 1, "c": 2}, [{"a_b": 1, "c": 2}]),
    (
        "nested decoder of a renamed property",
        {"renamed": {"a_b": "a b"}, "properties": {"a_b": {"nulls": ["c"]}}},
        {"a b": {}},
        [{"a_b": {"c": None}}],
    ),
    (
        "other properties",
        {"properties": {"a": {}}, "values": {"json_text": True}},
        {"a": 1, "b": 2},
        [{"a": 1, "b": "2"}],
    ),
    (
        "items after the prefix",
        {"prefix": [None, {"json_text": True}], "items": {"nulls": ["a"]}},
        [{}, {}, {}],
        [[{}, "{}", {"a": None}]],
    ),
    ("items shorter than the prefix", {"prefix": [None, {"nulls": ["a"]}]}, [1], [[1]]),
    (
        "map",
        {"entries": {"name": "name", "value": "value", "each": {"nulls": ["a"]}}},
        {"x": {}, "y": {"a": 1}},
        [[{"name": "x", "value": {"a": None}}, {"name": "y", "value": {"a": 1}}]],
    ),
    ("null instead of a map", {"entries": {"name": "name", "value": "value"}}, None, [None]),
    ("JSON text", {"json_text": True}, {"a": [1, "x"]}, ['{"a": [1, "x"]}']),
    (
        "wrapped value",
        {"wrapped": "input", "inner": {"nulls": ["a"]}},
        {},
        [{"input": {"a": None}}],
    ),
    (
        "reference",
        {"properties": {"a": {"ref": "d0"}}, "defs": {"d0": {"nulls": ["b"]}}},
        {"a": {}},
        [{"a": {"b": None}}],
    ),
    (
        "recursive reference",
        {"ref": "d0", "defs": {"d0": {"nulls": ["b"], "properties": {"a": {"ref": "d0"}}}}},
        {"a": {"a": {"b": 1}}},
        [{"b": None, "a": {"b": None, "a": {"b": 1}}}],
    ),
    (
        "several decoders",
        {"also": [{"nulls": ["a"]}, {"nulls": ["b"]}]},
        {},
        [{"a": None, "b": None}],
    ),
    (
        "matching alternatives",
        {"any_of": [{"when": TEXT, "as": {"json_text": True}}, {"when": TEXT}, {"when": {}}]},
        "x",
        ['"x"', "x", "x"],
    ),
    (
        "alternatives by properties",
        {
            "any_of": [
                {"when": CLOSED, "as": {"nulls": ["b"]}},
                {"when": {"constants": {"kind": ["z", None]}}, "as": {"nulls": ["c"]}},
            ]
        },
        {"kind": "a"},
        [{"kind": "a", "b": None}],
    ),
    (
        "nested alternatives",
        {"any_of": [{"when": {}, "as": {"any_of": [{"when": TEXT}, {"when": {}}]}}]},
        1,
        [1],
    ),
    ("booleans are not integers", {"any_of": [{"when": {"types": ["integer"]}}]}, True, []),
    ("whole doubles are integers", {"any_of": [{"when": {"types": ["integer"]}}]}, 1.0, [1.0]),
]


@pytest.mark.parametrize(
    ("decoder", "value", "forms"), [row[1:] for row in FORMS], ids=[row[0] for row in FORMS]
)
def test_a_value_has_all_forms_that_its_decoder_accepts(
    decoder: Any, value: Any, forms: list[Any]
) -> None:
    assert forms == list(encodings(value, decoder))


def test_the_number_of_forms_is_limited() -> None:
    either = {"any_of": [{"when": {}, "as": {"json_text": True}}, {"when": {}}]}
    assert 64 == len(list(encodings([1] * 10, {"items": either})))


# Decoder, value of a model, and value of a model that follows instructions, with "1" as the text.
INSTRUCTED: list[tuple[Any, Any, Any]] = [
    (None, "x", "x"),
    ({"properties": {"a": {"json_text": True}}}, {"a": "x", "b": "x"}, {"a": "1", "b": "x"}),
    ({"items": {"any_of": [{"when": TEXT, "as": {"json_text": True}}]}}, ["x", 2], ["1", 2]),
    ({"wrapped": "input", "inner": {"json_text": True}}, {"input": "x", "b": 1}, {"input": "1"}),
    (
        {"entries": {"name": "n", "value": "v", "each": {"json_text": True}}},
        [{"n": "a", "v": "x"}, {"n": "a", "v": "y"}],
        [{"n": "a", "v": "1"}],
    ),
]


@pytest.mark.parametrize(("decoder", "value", "expected"), INSTRUCTED)
def test_instructions_are_followed(decoder: Any, value: Any, expected: Any) -> None:
    assert expected == as_instructed(value, decoder, "1")
