"""Schemas of decoded arguments: each form of an argument decoder, and those without a schema."""

from typing import Any

import pytest
from sidecheck_server.core.portability.decoded_schema import CannotDecodeError, decode_schema

TEXT: Any = {"type": "string", "description": "(any JSON object, as JSON text)"}
NUMBER: Any = {"type": "number"}
ENTRIES: Any = {"entries": {"name": "name", "value": "value", "each": {"json_text": True}}}
ENTRY: Any = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "value": TEXT},
    "required": ["name", "value"],
}

DECODED: dict[str, tuple[Any, Any, Any]] = {
    "no decoder": ({"type": "object"}, None, {"type": "object"}),
    "names": (
        {"properties": {"a_b": NUMBER, "c": NUMBER}, "required": ["a_b", "c"]},
        {"renamed": {"a_b": "a b"}},
        {"properties": {"a b": NUMBER, "c": NUMBER}, "required": ["a b", "c"]},
    ),
    "JSON text": (
        {"properties": {"a": TEXT, "b": TEXT}},
        {"properties": {"a": {"json_text": True}}},
        {"properties": {"a": {}, "b": TEXT}},
    ),
    "JSON texts of an enum": (
        {"properties": {"a": {"type": "string", "enum": ['{"a":1}', "2"]}}},
        {"properties": {"a": {"json_text": True}}},
        {"properties": {"a": {"enum": [{"a": 1}, 2]}}},
    ),
    "other properties": (
        {"properties": {"a": NUMBER}, "additionalProperties": TEXT},
        {"properties": {"a": {}}, "values": {"json_text": True}},
        {"properties": {"a": NUMBER}, "additionalProperties": {}},
    ),
    "items": (
        {"type": "array", "items": TEXT, "maxItems": 3, "uniqueItems": True},
        {"items": {"json_text": True}},
        {"type": "array", "items": {}, "maxItems": 3, "uniqueItems": True},
    ),
    "first items": (
        {"prefixItems": [NUMBER, TEXT, TEXT]},
        {"prefix": [None, {"json_text": True}]},
        {"prefixItems": [NUMBER, {}, TEXT]},
    ),
    "entries": (
        {"type": ["array", "null"], "items": ENTRY, "minItems": 1, "maxItems": 9},
        ENTRIES,
        {
            "type": ["object", "null"],
            "additionalProperties": {},
            "minProperties": 1,
            "maxProperties": 9,
        },
    ),
    "wrapper": (
        {"type": "object", "properties": {"value": {"anyOf": [NUMBER]}}, "required": ["value"]},
        {"wrapped": "value"},
        {"anyOf": [NUMBER]},
    ),
    "branches, without those that admit nothing": (
        {"anyOf": [False, {"not": {}}, NUMBER, TEXT]},
        {"any_of": [{"when": {}}, {"when": {}, "as": {"json_text": True}}]},
        {"anyOf": [NUMBER, {}]},
    ),
    "null for an absent property": (
        {
            "properties": {
                "a": {"type": ["number", "null"], "enum": [1, None]},
                "b": {"anyOf": [NUMBER, {"type": "null"}]},
                "c": {"anyOf": [TEXT, {"type": "null"}]},
            },
            "required": ["a", "b", "c"],
        },
        {
            "nulls": ["a", "b", "c"],
            "properties": {
                "c": {"any_of": [{"when": {}, "as": {"items": {}}}, {"when": {}}]},
            },
        },
        {
            "properties": {
                "a": {"type": ["number"], "enum": [1]},
                "b": {"anyOf": [NUMBER]},
                "c": {"anyOf": [TEXT]},
            },
            "required": [],
        },
    ),
    "references": (
        {"properties": {"a": {"$ref": "#/$defs/d"}}, "$defs": {"d": {"items": TEXT}}},
        {
            "properties": {"a": {"ref": "d0"}},
            "defs": {"d0": {"ref": "d1"}, "d1": {"items": {"json_text": True}}},
        },
        {"properties": {"a": {"items": {}}}, "$defs": {"d": {"items": TEXT}}},
    ),
}


@pytest.mark.parametrize("case", DECODED)
def test_a_decoder_has_a_schema(case: str) -> None:
    schema, decoder, decoded = DECODED[case]

    assert decoded == decode_schema(schema, decoder)


UNDECODED: dict[str, tuple[Any, Any, str]] = {
    "assertion about names": (
        {"properties": {"a_b": NUMBER}, "propertyNames": {"maxLength": 5}},
        {"renamed": {"a_b": "a b"}},
        "propertyNames applies to arguments in another form",
    ),
    "two properties of one name": (
        {"properties": {"a_b": NUMBER, "a b": NUMBER}},
        {"renamed": {"a_b": "a b"}},
        "two properties get the same name",
    ),
    "restricted text": (
        {"type": "string", "maxLength": 5},
        {"json_text": True},
        "maxLength applies to arguments in another form",
    ),
    "enum that is not JSON": (
        {"enum": ["{"]},
        {"json_text": True},
        "a value of an enum is not the text of its value",
    ),
    "optional wrapper": (
        {"properties": {"value": NUMBER}},
        {"wrapped": "value"},
        "a value may lack its wrapper",
    ),
    "exclusive branches": (
        {"oneOf": [NUMBER, TEXT]},
        {"any_of": [{"when": {}}, {"when": {}, "as": {"json_text": True}}]},
        "oneOf applies to arguments in another form",
    ),
    "null of any type": (
        {"properties": {"a": {}}, "required": ["a"]},
        {"nulls": ["a"]},
        "null stands for an absent property, and is not a type of it",
    ),
    "recursion": (
        {
            "properties": {"a": {"$ref": "#/$defs/d"}},
            "$defs": {"d": {"items": {"$ref": "#/$defs/d"}}},
        },
        {"properties": {"a": {"ref": "d0"}}, "defs": {"d0": {"items": {"ref": "d0"}}}},
        "the decoded schema is recursive or too large",
    ),
    "reference to itself": (
        {"$ref": "#/$defs/d", "$defs": {"d": {"$ref": "#/$defs/d"}}},
        {"items": {"json_text": True}},
        "a reference leads back to itself",
    ),
}


@pytest.mark.parametrize("case", UNDECODED)
def test_a_decoder_without_a_schema(case: str) -> None:
    """The reason names what is in the way."""
    schema, decoder, reason = UNDECODED[case]

    with pytest.raises(CannotDecodeError) as raised:
        decode_schema(schema, decoder)

    assert reason == raised.value.reason
