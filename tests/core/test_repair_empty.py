"""Empty optional properties: which are removed from repaired payloads, and which stay."""

import json
from typing import Any

import pytest
from sidecheck_server.core.evaluate import EvaluationOptions, evaluate
from sidecheck_server.core.repair.coercion import coerce
from sidecheck_server.core.repair.types import Coercion, Repairs
from sidecheck_server.core.types import Change, ChangeRule
from support.compiling import compile_value
from support.complete_engines import engine_for
from support.repairing import budget

INTEGER, STRING, NULL = ({"type": name} for name in ("integer", "string", "null"))
LIST = {"type": "array", "items": INTEGER}
LIMIT = {"properties": {"limit": INTEGER}}
BOTH: dict[str, Any] = {"type": "object", "properties": {"a": INTEGER, "b": INTEGER}}
TAGGED = {
    "oneOf": [
        {**BOTH, "properties": {**BOTH["properties"], "kind": {"const": "x"}}},
        {
            **BOTH,
            "properties": {**BOTH["properties"], "kind": {"const": "y"}},
            "required": ["kind", "a"],
        },
    ]
}


def repaired(schema: Any, value: Any, coercion: Coercion = Coercion.SAFE_SCALARS) -> Any:
    """Return *value* after coercion, which must be final, and the rule of each change."""
    engine = engine_for(schema)
    original = json.dumps(value)
    result, changes = coerce(engine, value, coercion, budget(), hide_values=False)
    assert json.dumps(value) == original
    assert (result, ()) == coerce(engine, result, coercion, budget(), hide_values=False)
    return result, {change.pointer: change.rule for change in changes}


@pytest.mark.parametrize(
    ("schema", "value", "expected", "removed"),
    [
        *(
            pytest.param(LIMIT, {"limit": value}, {}, ["/limit"], id=f"{value!r} for an integer")
            for value in (None, "", "null")
        ),
        pytest.param(
            {"properties": {"a": STRING}}, {"a": None}, {}, ["/a"], id="null for a string"
        ),
        pytest.param({"properties": {"a": LIST}}, {"a": ""}, {}, ["/a"], id='"" for an array'),
        pytest.param(
            {"properties": {"a": {"enum": ["asc", "desc"]}}}, {"a": ""}, {}, ["/a"], id="enum"
        ),
        pytest.param(
            {"properties": {"a": {"type": "string", "minLength": 1}}},
            {"a": ""},
            {},
            ["/a"],
            id='a string that may not be ""',
        ),
        pytest.param(
            {"properties": {"a": {"type": "string", "pattern": "^[0-9]+$"}}},
            {"a": "null"},
            {},
            ["/a"],
            id='a string that may not be "null"',
        ),
        pytest.param({"properties": {"a": False}}, {"a": None}, {}, ["/a"], id="a false schema"),
        pytest.param(
            {"properties": {"a": {"anyOf": [INTEGER, LIST]}}}, {"a": None}, {}, ["/a"], id="anyOf"
        ),
        pytest.param(
            {"properties": {"a": {"anyOf": [INTEGER, NULL]}}},
            {"a": "null"},
            {},
            ["/a"],
            id='"null" for an integer or null',
        ),
        pytest.param(
            {"properties": {"a": {"allOf": [{"$ref": "#/$defs/n"}, {"minimum": 1}]}}}
            | {"$defs": {"n": INTEGER}},
            {"a": None},
            {},
            ["/a"],
            id="by reference",
        ),
        pytest.param(
            {"additionalProperties": INTEGER}, {"a": "", "b": 1}, {"b": 1}, ["/a"], id="of a map"
        ),
        pytest.param(
            {"properties": {"filter": {**BOTH, "required": ["a"]}}},
            {"filter": {"a": 1, "b": None}},
            {"filter": {"a": 1}},
            ["/filter/b"],
            id="of a nested object",
        ),
        pytest.param(
            {"items": LIMIT},
            [{"limit": ""}, {"limit": 3}],
            [{}, {"limit": 3}],
            ["/0/limit"],
            id="of an item",
        ),
        pytest.param(
            TAGGED,
            {"kind": "x", "a": None, "b": 1},
            {"kind": "x", "b": 1},
            ["/a"],
            id="of the intended branch",
        ),
        pytest.param(
            {"anyOf": [BOTH, {"properties": {"a": INTEGER}, "required": ["c"]}]},
            {"a": None},
            {},
            ["/a"],
            id="with which a branch accepts the object",
        ),
    ],
)
def test_an_empty_optional_property_is_removed(
    schema: Any, value: Any, expected: Any, removed: list[str]
) -> None:
    """If its schema rejects the value; only together with the conversions of scalars."""
    assert (expected, dict.fromkeys(removed, "EMPTY_OPTIONAL_REMOVED")) == repaired(schema, value)
    assert (value, {}) == repaired(schema, value, Coercion.JSON_STRINGS)
    assert (value, {}) == repaired(schema, value, Coercion.NONE)


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        pytest.param({**LIMIT, "required": ["limit"]}, {"limit": None}, id="required"),
        pytest.param({**LIMIT, "allOf": [{"required": ["limit"]}]}, {"limit": ""}, id="in allOf"),
        pytest.param(
            {"if": {"required": ["b"]}, "then": {**LIMIT, "required": ["limit"]}},
            {"b": 1, "limit": ""},
            id="required under a condition",
        ),
        pytest.param(
            {**BOTH, "dependentRequired": {"b": ["a"]}}, {"a": None, "b": 1}, id="dependent"
        ),
        pytest.param(
            {**BOTH, "anyOf": [{"required": ["a"]}, {"required": ["b"]}]},
            {"a": None},
            id="required by a choice",
        ),
        pytest.param({**BOTH, "minProperties": 1}, {"a": None}, id="too few properties"),
        pytest.param(TAGGED, {"kind": "y", "a": None}, id="required by the intended branch"),
        pytest.param(LIST, [None, "", "null"], id="items"),
        pytest.param(INTEGER, None, id="the payload itself"),
        pytest.param(LIMIT, {"limit": "none"}, id="another string"),
        pytest.param(LIMIT, {"limit": " "}, id="white space"),
        pytest.param(LIMIT, {"limit": False}, id="false"),
        pytest.param(LIMIT, {"limit": []}, id="an empty array"),
        pytest.param(
            {"properties": {"a": STRING, "b": STRING, "n": {"type": ["integer", "null"]}, "x": {}}}
            | {"required": ["c"]},
            {"a": "", "b": "null", "n": None, "x": None},
            id="values that the schema accepts",
        ),
        pytest.param({"additionalProperties": False}, {"a": None}, id="an unknown property"),
    ],
)
def test_other_properties_stay(schema: Any, value: Any) -> None:
    """Required ones above all: a removal only makes another fault."""
    assert (value, {}) == repaired(schema, value)


def test_a_required_property_does_not_keep_the_optional_ones() -> None:
    """Each removal is undone alone, and the order of the properties stays."""
    schema = {
        **BOTH,
        "properties": {**BOTH["properties"], "c": INTEGER},
        "required": ["a"],
    }

    result, rules = repaired(schema, {"a": None, "b": "", "c": "1"})

    assert '{"a": null, "c": 1}' == json.dumps(result)
    assert {"/b": "EMPTY_OPTIONAL_REMOVED", "/c": "STRING_TO_INTEGER"} == rules


def test_properties_inside_a_decoded_text_are_removed() -> None:
    """In the round after it is decoded."""
    schema = {"properties": {"filter": {**BOTH, "required": ["a"]}}}

    assert (
        {"filter": {"a": 1}},
        {
            "/filter": "JSON_STRING_DECODED",
            "/filter/a": "STRING_TO_INTEGER",
            "/filter/b": "EMPTY_OPTIONAL_REMOVED",
        },
    ) == repaired(schema, {"filter": '{"a": "1", "b": null}'})


@pytest.mark.parametrize(
    ("hidden", "message"),
    [
        pytest.param(
            False,
            'removed the optional property "limit": its schema rejects the string "null"',
            id="shown",
        ),
        pytest.param(
            True,
            "removed the optional property: its schema rejects a string of 4 characters",
            id="hidden",
        ),
    ],
)
def test_the_change_names_property_and_keyword(hidden: bool, message: str) -> None:
    """The message hides name and value on request."""
    _, changes = coerce(
        engine_for(LIMIT), {"limit": "null"}, Coercion.SAFE_SCALARS, budget(), hide_values=hidden
    )

    assert (
        Change("/limit", ChangeRule.EMPTY_OPTIONAL_REMOVED, "/properties/limit/type", message),
    ) == changes


def test_a_default_replaces_the_removed_value() -> None:
    """If defaults are requested; the verdict on the payload itself is unchanged."""
    schema = compile_value(
        {
            "properties": {"limit": {**INTEGER, "default": 10}, "country": STRING, "q": STRING},
            "required": ["q"],
        }
    )
    repairs = Repairs(coercion=Coercion.SAFE_SCALARS, apply_defaults=True)
    payload = b'{"q": "a", "limit": null, "country": null}'

    verdict = evaluate(schema, payload, EvaluationOptions(repairs=repairs))

    assert verdict.repair is not None
    assert (False, True) == (verdict.valid, verdict.repair.verdict.valid)
    assert {"/limit", "/country"} == {item.instance_location for item in verdict.violations}
    assert {"q": "a", "limit": 10} == json.loads(verdict.repair.payload)
    assert {
        ("/limit", "EMPTY_OPTIONAL_REMOVED"),
        ("/country", "EMPTY_OPTIONAL_REMOVED"),
        ("/limit", "DEFAULT_APPLIED"),
    } == {(change.pointer, change.rule) for change in verdict.repair.changes}
