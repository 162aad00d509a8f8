"""Defaults: which are applied, and which are skipped for what reason."""

import json
from typing import Any

import pytest
from sidecheck_server.core.repair.repairs import apply_defaults
from sidecheck_server.core.types import Change, ChangeRule
from support.compiling import D07
from support.complete_engines import engine_for
from support.repairing import budget


def filled(schema: Any, value: Any) -> tuple[Any, list[str], dict[str, str]]:
    """Return *value* with defaults, where they were put in, and where not and why."""
    engine = engine_for(schema)
    original = json.dumps([value, schema])
    result, changes = apply_defaults(engine, value, budget())
    assert json.dumps([value, schema]) == original
    applied = [change.pointer for change in changes if change.rule is ChangeRule.DEFAULT_APPLIED]
    skipped = {
        change.pointer: change.message.partition(" was skipped")[2]
        for change in changes
        if change.rule is ChangeRule.DEFAULT_SKIPPED
    }
    assert len(changes) == len(applied) + len(skipped)
    assert (result is value) is (applied == [])
    return result, applied, skipped


ONE: dict[str, Any] = {"properties": {"a": {"default": 1}}}


@pytest.mark.parametrize(
    ("schema", "value", "expected", "applied"),
    [
        pytest.param(ONE, {}, {"a": 1}, ["/a"], id="an absent member"),
        pytest.param(ONE, {"a": None}, {"a": None}, [], id="not a member that is null"),
        pytest.param(ONE, [], [], [], id="not in a value that is not an object"),
        pytest.param({"default": {"a": 1}, **ONE}, {"a": 2}, {"a": 2}, [], id="not the whole"),
        pytest.param(
            {"properties": {"a": {"default": None}, "b": {"default": False}}},
            {},
            {"a": None, "b": False},
            ["/a", "/b"],
            id="null and false are defaults",
        ),
        pytest.param({**ONE, "required": ["a"]}, {}, {"a": 1}, ["/a"], id="even if it is required"),
        pytest.param(
            {"properties": {"o": ONE, "p": ONE}},
            {"o": {}},
            {"o": {"a": 1}},
            ["/o/a"],
            id="in objects that are there",
        ),
        pytest.param(
            {"items": ONE, "prefixItems": [True]},
            [{}, {}, 3, {"a": 2}],
            [{}, {"a": 1}, 3, {"a": 2}],
            ["/1/a"],
            id="in items that are there",
        ),
        pytest.param(
            {"properties": {"o": {"default": {}, **ONE}, "l": {"default": [{}], "items": ONE}}},
            {},
            {"o": {"a": 1}, "l": [{"a": 1}]},
            ["/o", "/l", "/o/a", "/l/0/a"],
            id="in an applied default",
        ),
        pytest.param(
            {"$ref": "#/$defs/one", "$defs": {"one": ONE}}, {}, {"a": 1}, ["/a"], id="by reference"
        ),
        pytest.param(
            {"properties": {"a": {"$ref": "#/$defs/n"}}, "$defs": {"n": {"default": 3}}},
            {},
            {"a": 3},
            ["/a"],
            id="of the target of a member's reference",
        ),
        pytest.param(
            {
                "properties": {"a": {"$ref": "#/$defs/n", "default": 4}},
                "$defs": {"n": {"default": 3}},
            },
            {},
            {"a": 4},
            ["/a"],
            id="beside a reference, before its target",
        ),
        pytest.param(
            {
                "$schema": D07,
                "properties": {"a": {"$ref": "#/definitions/n", "default": 4}},
                "definitions": {"n": {"default": 3}},
            },
            {},
            {"a": 3},
            ["/a"],
            id="not beside a reference that hides it",
        ),
        pytest.param(
            {"allOf": [ONE, {"properties": {"b": {"default": 2}}}]},
            {},
            {"a": 1, "b": 2},
            ["/a", "/b"],
            id="of all parts",
        ),
        pytest.param(
            {"allOf": [ONE, {"properties": {"a": {"default": 1.0}}}]},
            {},
            {"a": 1},
            ["/a"],
            id="of parts that agree",
        ),
        pytest.param(
            {
                "anyOf": [
                    {"properties": {"k": {"const": "x"}, "a": {"default": 1}}},
                    {"properties": {"k": {"const": "y"}, "a": {"default": 2}}},
                ]
            },
            {"k": "y"},
            {"k": "y", "a": 2},
            ["/a"],
            id="of the only branch that applies",
        ),
        pytest.param(
            {"anyOf": [{"type": "null"}, {"type": "object", "required": ["a"], **ONE}]},
            {},
            {"a": 1},
            ["/a"],
            id="of the only branch of the type, though it requires an absent property",
        ),
        pytest.param({"anyOf": [ONE, True]}, {}, {}, [], id="not of one branch among others"),
        pytest.param(
            {"oneOf": [{**ONE, "required": ["b"]}, {**ONE, "required": ["c"]}]},
            {},
            {},
            [],
            id="not of a branch that does not apply",
        ),
        pytest.param(
            {
                "if": {"properties": {"k": {"const": "x"}, "z": {"default": 0}}},
                "then": ONE,
                "else": {"properties": {"b": {"default": 2}}},
            },
            {"k": "x"},
            {"k": "x", "a": 1},
            ["/a"],
            id="of the selected branch, not of its condition",
        ),
        pytest.param(
            {**ONE, "dependentSchemas": {"a": {"properties": {"b": {"default": 2}}}}},
            {},
            {"a": 1, "b": 2},
            ["/a", "/b"],
            id="of the schemas that it brings along itself",
        ),
        pytest.param({"not": ONE}, {}, {}, [], id="not under not"),
        pytest.param(
            {"properties": {"default": {"const": {"default": 1}}}}, {}, {}, [], id="no keyword"
        ),
    ],
)
def test_default_is_applied_where_its_subschema_applies(
    schema: Any, value: Any, expected: Any, applied: list[str]
) -> None:
    """Only absent properties are filled, and a second pass changes nothing."""
    assert (expected, applied, {}) == filled(schema, value)
    assert (expected, [], {}) == filled(schema, expected)


REFUSED = ": it is invalid against the schema of its property"
DIFFERENT = ": another part of the schema has a different default for it"
BREAKING = ": it would make the valid payload invalid"


@pytest.mark.parametrize(
    ("schema", "value", "expected", "applied", "skipped"),
    [
        pytest.param(
            {"properties": {"a": {"type": "string", "default": None}, "b": {"default": 1}}},
            {},
            {"b": 1},
            ["/b"],
            {"/a": REFUSED},
            id="null for a string",
        ),
        pytest.param(
            {"allOf": [ONE, {"properties": {"a": {"minimum": 2}}}]},
            {},
            {},
            [],
            {"/a": REFUSED},
            id="a value that another part rejects",
        ),
        pytest.param(
            {"allOf": [ONE, {"additionalProperties": False}]},
            {},
            {},
            [],
            {"/a": REFUSED},
            id="a property that another part does not declare",
        ),
        pytest.param(
            {"allOf": [ONE, {"properties": {"a": {"default": True}}}]},
            {},
            {},
            [],
            {"/a": DIFFERENT},
            id="another default in another part",
        ),
        pytest.param(
            {
                "properties": {"a": {"default": 1}, "b": {}, "c": {"default": 3}},
                "oneOf": [{"required": ["a"]}, {"required": ["b"]}],
            },
            {"b": 2},
            {"b": 2, "c": 3},
            ["/c"],
            {"/a": BREAKING},
            id="a property that excludes another",
        ),
        pytest.param(
            {"properties": {n: {"default": n} for n in "abcd"}, "maxProperties": 3},
            {},
            {n: n for n in "abc"},
            ["/a", "/b", "/c"],
            {"/d": BREAKING},
            id="one property too many",
        ),
        pytest.param(
            {"properties": {"a": {"$ref": "#", "default": {}}}},
            {},
            {"a": {}},
            ["/a"],
            {"/a/a": ": it would be nested in itself"},
            id="an endless default",
        ),
    ],
)
def test_a_default_that_does_not_fit_is_skipped(
    schema: Any, value: Any, expected: Any, applied: list[str], skipped: dict[str, str]
) -> None:
    """Skipped defaults are reported; the others are applied."""
    assert (expected, applied, skipped) == filled(schema, value)


def test_changes_of_applied_defaults() -> None:
    """A change names the keyword and the value."""
    schema = {
        "properties": {"a": {"$ref": "#/$defs/n"}, "b": {"type": "string", "default": None}},
        "$defs": {"n": {"default": "x" * 100}},
    }

    _, changes = apply_defaults(engine_for(schema), {}, budget())

    long = '"' + "x" * 59 + '…"'
    assert (
        Change(
            "/b",
            ChangeRule.DEFAULT_SKIPPED,
            "/properties/b/default",
            'the default null of "b" was skipped: it is invalid against the schema of its property',
        ),
        Change(
            "/a",
            ChangeRule.DEFAULT_APPLIED,
            "/properties/a/$ref/default",
            f'the default {long} of "a" was applied',
        ),
    ) == changes


def test_an_invalid_payload_is_filled_too() -> None:
    """The missing property may be the violation."""
    schema = {"properties": {"a": {"default": 1}, "b": {"type": "string"}}, "required": ["a"]}

    assert ({"a": 1}, ["/a"], {}) == filled(schema, {})
    assert ({"b": 2, "a": 1}, ["/a"], {}) == filled(schema, {"b": 2})


def test_a_deep_payload_of_a_recursive_schema_is_filled() -> None:
    """The payload has the maximum depth."""
    schema = {
        "properties": {"o": {"anyOf": [{"$ref": "#"}, {"type": "null"}]}, "a": {"default": 1}}
    }
    value: Any = {}
    for _ in range(127):
        value = {"o": value}

    _, applied, skipped = filled(schema, value)

    assert ([f"{'/o' * depth}/a" for depth in range(128)], {}) == (applied, skipped)
