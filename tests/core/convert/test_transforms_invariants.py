"""Valid payloads are valid in their encoded form, unless a loss narrows.

Random schemas of objects, arrays, unions, maps and nulls, each with a valid payload; jsonschema
evaluates the original and the result.
"""

import json
from dataclasses import dataclass
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from sidecheck_server.core.convert.providers.subset import Subset
from sidecheck_server.core.convert.types import Effect

from .decoding import decoded
from .encoding import encoded
from .transforms import ALL_REQUIRED, CLOSED, SMALL, transformed

RANDOM = settings(max_examples=150, derandomize=True, deadline=None, database=None)
NAMES = ["a", "b", "c", "d", "e"]
DEFINITIONS = ["one", "two"]


@dataclass(frozen=True)
class Pair:
    """Schema, and a payload that should be valid."""

    schema: Any
    payload: Any


@st.composite
def scalars(draw: st.DrawFn) -> Pair:
    return draw(
        st.sampled_from(
            [
                Pair({"type": "string", "minLength": 1}, "x"),
                Pair({"type": "string", "pattern": "^(?=x)"}, "x"),
                Pair({"type": "string", "format": "uri"}, "x"),
                Pair({"type": "integer", "exclusiveMinimum": 3, "exclusiveMaximum": 5}, 4),
                Pair({"type": "number", "exclusiveMinimum": 3}, 3.5),
                Pair({"type": "number", "multipleOf": 2, "maximum": 4}, 2),
                Pair({"type": "boolean"}, True),
                Pair({"type": "null"}, None),
                Pair({"enum": ["x", 1, None]}, 1),
                Pair({"enum": ["x", None]}, None),
                Pair({"type": "string", "enum": ["x", "y", 3]}, "y"),
                Pair({"enum": [{"k": [1]}, None, 2.5]}, {"k": [1]}),
                Pair({"const": "k"}, "k"),
                Pair({"const": {"deep": None}}, {"deep": None}),
                Pair({"type": ["string", "null"]}, None),
                Pair({"type": ["string", "integer"], "minLength": 2, "minimum": 3}, 7),
                Pair({"type": ["boolean", "integer", "null"], "enum": [True, 2, None]}, None),
                Pair({}, {"any": ["thing", None]}),
                Pair({"description": "anything"}, None),
                Pair({"minLength": 2}, [1]),
                Pair({"minimum": 2}, "text"),
                Pair({"not": {"type": "string"}}, 3),
                Pair({"type": "string", "properties": {"a": {}}, "required": ["b"]}, "x"),
                Pair({"type": "null", "items": {"type": "string"}, "minLength": 2}, None),
                Pair(True, "5"),
            ]
        )
    )


def below(pairs: st.SearchStrategy[Pair]) -> st.SearchStrategy[Pair]:
    return st.one_of(objects(pairs), maps(pairs), arrays(pairs), tuples(pairs), unions(pairs))


@st.composite
def objects(draw: st.DrawFn, pairs: st.SearchStrategy[Pair]) -> Pair:
    properties = draw(st.dictionaries(st.sampled_from(NAMES), pairs, max_size=3))
    given_names = [name for name in properties if draw(st.booleans())]
    required = [name for name in given_names if draw(st.booleans())]
    schema: dict[str, Any] = {
        "properties": {name: item.schema for name, item in properties.items()}
    }
    if draw(st.integers(0, 4)):
        schema["type"] = draw(st.sampled_from(["object", "object", ["object", "null"]]))
    if draw(st.booleans()):
        schema["required"] = required
    payload = {name: properties[name].payload for name in given_names}
    match draw(st.integers(0, 6)):
        case 0:
            schema["additionalProperties"] = True
            payload["other"] = 1
        case 1:
            other_schema = draw(pairs)
            schema["additionalProperties"] = other_schema.schema
            payload["other"] = other_schema.payload
        case 2:
            other_schema = draw(pairs)
            schema["patternProperties"] = {"^x": other_schema.schema}
            schema["additionalProperties"] = False
            payload["x"] = other_schema.payload
        case 3:
            schema["required"] = [*schema.get("required", []), "more"]
            payload["more"] = draw(pairs).payload
        case 4:
            schema["anyOf"] = [{"required": ["a"]}, {"properties": {"b": draw(pairs).schema}}]
        case _:
            schema["additionalProperties"] = False
    return Pair(schema, payload)


@st.composite
def maps(draw: st.DrawFn, pairs: st.SearchStrategy[Pair]) -> Pair:
    item = draw(pairs)
    payload = dict.fromkeys(draw(st.lists(st.sampled_from(NAMES), unique=True)), item.payload)
    schema = {"type": "object", "additionalProperties": item.schema}
    extra_keywords: dict[str, Any] = draw(
        st.sampled_from(
            [
                {},
                {"minProperties": 1},
                {"propertyNames": {"maxLength": 1}},
                {"x": 1},
                {"items": {}},
            ]
        )
    )
    return Pair({**schema, **extra_keywords}, payload)


@st.composite
def arrays(draw: st.DrawFn, pairs: st.SearchStrategy[Pair]) -> Pair:
    item = draw(pairs)
    count = draw(st.integers(0, 2))
    schema = draw(
        st.sampled_from(
            [
                {"type": "array", "items": item.schema},
                {"type": "array", "items": item.schema, "maxItems": 2, "minItems": count},
                {"type": ["array", "null"], "items": item.schema, "contains": {}},
                {"type": "array"},
                {"items": item.schema},
                {"type": "array", "items": item.schema, "properties": {"a": {}}, "required": ["b"]},
                {"type": "array", "uniqueItems": False, "anyOf": [{"minItems": 1}, {"items": {}}]},
            ]
        )
    )
    return Pair(schema, [item.payload] * count)


@st.composite
def tuples(draw: st.DrawFn, pairs: st.SearchStrategy[Pair]) -> Pair:
    items = draw(st.lists(pairs, min_size=1, max_size=2))
    schema: dict[str, Any] = {"type": "array", "prefixItems": [item.schema for item in items]}
    payload = [item.payload for item in items]
    match draw(st.integers(0, 2)):
        case 0:
            schema["items"] = False
        case 1:
            remaining = draw(pairs)
            schema["items"] = remaining.schema
            payload.append(remaining.payload)
    return Pair(schema, payload)


@st.composite
def unions(draw: st.DrawFn, pairs: st.SearchStrategy[Pair]) -> Pair:
    chosen, alternative = draw(pairs), draw(pairs)
    schema: dict[str, Any] = {"anyOf": [alternative.schema, chosen.schema]}
    match draw(st.integers(0, 4)):
        case 0:
            schema = {"anyOf": [chosen.schema, {"type": "null"}], "default": None}
        case 1:
            schema["type"] = ["string", "integer", "object", "array", "null"]
        case 2:
            schema = {"$ref": f"#/$defs/{draw(st.sampled_from(DEFINITIONS))}"}
            chosen = Pair(None, draw(st.sampled_from([{"next": {}}, {"next": None}, "leaf", 3])))
    return Pair(schema, chosen.payload)


@st.composite
def roots(draw: st.DrawFn) -> Pair:
    pairs = st.recursive(scalars(), below, max_leaves=6)
    properties = draw(st.dictionaries(st.sampled_from(NAMES), pairs, max_size=4))
    names = [name for name in properties if draw(st.booleans())]
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {name: item.schema for name, item in properties.items()},
        "required": [name for name in names if draw(st.booleans())],
        "$defs": {
            "one": {"type": "object", "properties": {"next": {"$ref": "#/$defs/one"}}},
            "two": {"anyOf": [{"$ref": "#/$defs/one"}, {"type": ["string", "null"]}, {}]},
        },
    }
    payload = {name: properties[name].payload for name in names}
    match draw(st.integers(0, 3)):
        case 0:
            alternative = draw(pairs)
            schema = {**schema, "properties": {}, "additionalProperties": alternative.schema}
            schema["required"] = []
            payload = {"any": alternative.payload}
        case 1 | 2:
            schema["additionalProperties"] = False
    return Pair(schema, payload)


@pytest.mark.parametrize("subset", [CLOSED, ALL_REQUIRED, SMALL], ids=["closed", "all", "small"])
def test_valid_payloads_have_a_valid_encoding(subset: Subset) -> None:
    validated = 0

    @RANDOM
    @given(roots())
    def is_valid(pair: Pair) -> None:
        nonlocal validated
        if not Draft202012Validator(pair.schema).is_valid(pair.payload):
            return
        result = transformed(pair.schema, subset)
        if any(loss.effect is Effect.NARROWED for loss in result.losses):
            return
        validated += 1
        form = encoded(pair.payload, result.root, subset)
        Draft202012Validator.check_schema(result.schema)
        reported = {"from": pair.schema, "to": result.schema, "payload": pair.payload, "form": form}
        assert Draft202012Validator(result.schema).is_valid(form), json.dumps(reported)
        readings = decoded(form, result.root, subset)
        assert any(map(Draft202012Validator(pair.schema).is_valid, readings)), json.dumps(reported)
        if not any(loss.message.endswith("null is its default") for loss in result.losses):
            assert pair.payload in readings, json.dumps(reported)

    is_valid()
    assert validated > 50


LEAVES: list[Any] = [None, True, 1, 4, 7.5, "x", "", "5", '{"a":1}', "null", [], {}]


def changed(random: Random, form: Any) -> Any:
    """Return *form* with some of its values replaced or removed."""
    if random.random() < 0.25 or not isinstance(form, dict | list):
        return random.choice(LEAVES) if random.random() < 0.5 else form
    if isinstance(form, list):
        return [changed(random, item) for item in form if random.random() < 0.9]
    return {name: changed(random, item) for name, item in form.items() if random.random() < 0.9}


@pytest.mark.parametrize("subset", [CLOSED, ALL_REQUIRED, SMALL], ids=["closed", "all", "small"])
def test_encoded_payloads_are_valid_where_nothing_is_widened(subset: Subset) -> None:
    validated = 0

    @RANDOM
    @given(roots(), st.integers(0, 2**32))
    def is_valid(pair: Pair, seed: int) -> None:
        nonlocal validated
        result, random = transformed(pair.schema, subset), Random(seed)
        # No schema describes the JSON text in a string.
        texts = any("JSON object" in loss.message for loss in result.losses)
        if texts or any(loss.effect is not Effect.EQUIVALENT for loss in result.losses):
            return
        admits = Draft202012Validator(result.schema).is_valid
        payload = encoded(pair.payload, result.root, subset)
        for form in filter(admits, [changed(random, payload) for _ in range(10)]):
            validated += 1
            readings = decoded(form, result.root, subset)
            reported = {"from": pair.schema, "to": result.schema, "form": form, "read": readings}
            valid = any(map(Draft202012Validator(pair.schema).is_valid, readings))
            # A string that should hold JSON text, and does not, has no reading.
            assert valid or not readings, json.dumps(reported)

    is_valid()
    assert validated > 20
