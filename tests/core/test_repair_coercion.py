"""Coercion: which values of a wrong type are converted, and which are not."""

import json
from typing import Any

import pytest
from sidecheck_server.core.limits import Exhausted, Limits
from sidecheck_server.core.repair.coercion import coerce
from sidecheck_server.core.repair.types import Coercion
from sidecheck_server.core.types import Change, ChangeRule, JsonValue
from support.complete_engines import engine_for
from support.repairing import budget

INTEGER, NUMBER, BOOLEAN, STRING = (
    {"type": name} for name in ("integer", "number", "boolean", "string")
)
NO_STRINGS: list[Any] = [None, 1.0, [], {}, ["a"]]
NO_OBJECTS: list[Any] = ["", "a=b", [], None, "[1]", "1", "null", '"{}"']
OBJECT, ARRAY = {"type": "object"}, {"type": "array"}


def coerced(
    schema: Any, value: Any, coercion: Coercion = Coercion.SAFE_SCALARS, **options: Any
) -> tuple[Any, dict[str, ChangeRule]]:
    """Return what *value* becomes, and the rule for each place that changed."""
    engine = engine_for(schema)
    original = json.dumps(value)
    result, changes = coerce(engine, value, coercion, budget(), hide_values=False, **options)
    assert json.dumps(value) == original
    assert (result is value) is (changes == ())
    return result, {change.pointer: change.rule for change in changes}


@pytest.mark.parametrize(
    ("schema", "value", "expected", "rule"),
    [
        pytest.param(INTEGER, "10", 10, ChangeRule.STRING_TO_INTEGER, id="an integer"),
        pytest.param(INTEGER, "0", 0, ChangeRule.STRING_TO_INTEGER, id="zero"),
        pytest.param(INTEGER, "-7", -7, ChangeRule.STRING_TO_INTEGER, id="a negative integer"),
        pytest.param(
            INTEGER,
            "9007199254740993",
            9007199254740993,
            ChangeRule.STRING_TO_INTEGER,
            id="an integer that no double holds",
        ),
        pytest.param(NUMBER, "10", 10, ChangeRule.STRING_TO_NUMBER, id="an integer as a number"),
        pytest.param(NUMBER, "2.5", 2.5, ChangeRule.STRING_TO_NUMBER, id="a fraction"),
        pytest.param(NUMBER, "-0.1", -0.1, ChangeRule.STRING_TO_NUMBER, id="a negative fraction"),
        pytest.param(NUMBER, "3.0", 3.0, ChangeRule.STRING_TO_NUMBER, id="a fraction of zero"),
        pytest.param(BOOLEAN, "true", True, ChangeRule.STRING_TO_BOOLEAN, id="true"),
        pytest.param(BOOLEAN, "false", False, ChangeRule.STRING_TO_BOOLEAN, id="false"),
        pytest.param(STRING, 5, "5", ChangeRule.NUMBER_TO_STRING, id="the text of an integer"),
        pytest.param(
            STRING,
            2**64 + 1,
            "18446744073709551617",
            ChangeRule.NUMBER_TO_STRING,
            id="the text of a large integer",
        ),
        pytest.param(STRING, 0.25, "0.25", ChangeRule.NUMBER_TO_STRING, id="the text of a double"),
        pytest.param(STRING, True, "true", ChangeRule.BOOLEAN_TO_STRING, id="the text of true"),
        pytest.param(
            {"type": ["integer", "null"]}, "1", 1, ChangeRule.STRING_TO_INTEGER, id="several types"
        ),
        pytest.param(
            {"type": "integer", "enum": [1, 2]},
            "2",
            2,
            ChangeRule.STRING_TO_INTEGER,
            id="one of a list",
        ),
    ],
)
def test_a_scalar_is_coerced_if_its_value_is_preserved(
    schema: Any, value: Any, expected: Any, rule: ChangeRule
) -> None:
    """The change is reported; it does not happen where only texts may be decoded."""
    result, rules = coerced(schema, value)

    assert (expected, type(expected), {"": rule}) == (result, type(result), rules)
    assert (value, {}) == coerced(schema, value, Coercion.JSON_STRINGS)
    assert (value, {}) == coerced(schema, value, Coercion.NONE)


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        *(
            pytest.param(INTEGER, text, id=f"no integer: {text!r:.20}")
            for text in ("", " 1", "1 ", "+1", "01", "-01", "-0", "1.0", "1e3", "0x1", "1_0", "١")
        ),
        pytest.param(INTEGER, "1" * 4301, id="no integer of too many digits"),
        *(
            pytest.param(NUMBER, text, id=f"no number: {text!r:.20}")
            for text in ("", "1.", ".5", "2.50", "1e3", "1.0e3", "NaN", "Infinity", "1,5", "00.5")
        ),
        pytest.param(NUMBER, "123456789012345678.50", id="no number: a zero too many"),
        *(
            pytest.param(BOOLEAN, text, id=f"no boolean: {text!r}")
            for text in ("True", "yes", "1", "", 0, 1, 1.0, None)
        ),
        *(
            pytest.param({"type": "null"}, text, id=f"no null: {text!r}")
            for text in ("null", "", 0, False)
        ),
        *(pytest.param(STRING, value, id=f"no string: {value!r}") for value in NO_STRINGS),
        *(
            pytest.param(ARRAY, some, id=f"no array: {some!r}")
            for some in ("", "a", "a,b", 1, {"0": 1}, None, '{"a": 1}')
        ),
        *(pytest.param(OBJECT, value, id=f"no object: {value!r}") for value in NO_OBJECTS),
        pytest.param(OBJECT, '{"a": 1, "a": 2}', id="no object with a repeated key"),
        pytest.param(OBJECT, '{"a": NaN}', id="no object with NaN"),
        pytest.param(OBJECT, '{"a": 1} trailing', id="no object with text after it"),
        pytest.param(OBJECT, "{'a': 1}", id="no object in single quotes"),
        pytest.param(ARRAY, "[1, 2", id="no array that does not end"),
        pytest.param(ARRAY, "[1e9999]", id="no array with a number out of range"),
    ],
)
def test_ambiguous_values_are_not_coerced(schema: Any, value: Any) -> None:
    """Values are neither guessed nor wrapped."""
    assert (value, {}) == coerced(schema, value)


@pytest.mark.parametrize("value", [1.0, 5.0, 2, True, "a", None, [1.0], {"a": "1"}])
def test_valid_values_are_not_coerced(value: Any) -> None:
    """An integer may be written 1.0, and a string may hold a number."""
    schema = {
        "anyOf": [
            INTEGER,
            {"const": True},
            STRING,
            {"type": ["null", "object"]},
            {"items": INTEGER},
        ]
    }

    assert (value, {}) == coerced(schema, value)


DECODED = ChangeRule.JSON_STRING_DECODED


@pytest.mark.parametrize(
    ("schema", "value", "expected", "rules"),
    [
        pytest.param(OBJECT, '{"a": 1}', {"a": 1}, {"": DECODED}, id="an object"),
        pytest.param(ARRAY, " [1, 2]\n", [1, 2], {"": DECODED}, id="an array"),
        pytest.param(
            {"type": ["object", "array"]}, "[]", [], {"": DECODED}, id="whichever is demanded"
        ),
        pytest.param(
            {"properties": {"a/b": {"items": ARRAY}}},
            {"a/b": ["[]", [], "x"]},
            {"a/b": [[], [], "x"]},
            {"/a~1b/0": DECODED},
            id="deep inside",
        ),
        pytest.param(
            {"type": "object", "properties": {"a": {"type": "array", "items": OBJECT}}},
            json.dumps({"a": json.dumps([json.dumps({"b": 1})])}),
            {"a": [{"b": 1}]},
            {"": DECODED, "/a": DECODED, "/a/0": DECODED},
            id="texts within texts",
        ),
        pytest.param(
            {"type": "object", "properties": {"a": STRING}},
            '{"a": 1}',
            {"a": 1},
            {"": DECODED},
            id="though what is inside is wrong",
        ),
    ],
)
def test_a_text_is_decoded_where_the_schema_requires_its_value(
    schema: Any, value: Any, expected: Any, rules: Any
) -> None:
    """The decoded value may be invalid; its violations have locations inside it."""
    assert (expected, rules) == coerced(schema, value, Coercion.JSON_STRINGS)


def test_scalars_inside_a_text_are_coerced_too() -> None:
    """A later round coerces them after the text is decoded."""
    schema = {
        "type": "object",
        "properties": {"n": INTEGER, "on": {"type": "array", "items": BOOLEAN}},
    }

    assert (
        {"n": 5, "on": [True, False]},
        {"": DECODED, "/n": "STRING_TO_INTEGER", "/on": DECODED, "/on/0": "STRING_TO_BOOLEAN"},
    ) == coerced(schema, json.dumps({"n": "5", "on": '["true", false]'}))


TAGGED = {
    "oneOf": [
        {
            "type": "object",
            "properties": {"kind": {"const": kind}, "value": {"type": name}},
            "required": ["kind", "value"],
        }
        for kind, name in (("n", "integer"), ("s", "string"), ("b", "boolean"))
    ]
}


@pytest.mark.parametrize(
    ("schema", "value", "expected", "rules"),
    [
        pytest.param(
            TAGGED,
            {"kind": "n", "value": "5"},
            {"kind": "n", "value": 5},
            {"/value": "STRING_TO_INTEGER"},
            id="the branch that is meant",
        ),
        pytest.param(
            TAGGED,
            '{"kind": "b", "value": "true"}',
            {"kind": "b", "value": True},
            {"": DECODED, "/value": "STRING_TO_BOOLEAN"},
            id="the branch that is meant once decoded",
        ),
        pytest.param(
            {"properties": {"x": {"anyOf": [INTEGER, {"type": "null"}]}}},
            {"x": "5"},
            {"x": 5},
            {"/x": "STRING_TO_INTEGER"},
            id="the only branch that accepts a change",
        ),
        pytest.param(
            {"anyOf": [INTEGER, NUMBER]}, "5", 5, {"": "STRING_TO_INTEGER"}, id="the same by both"
        ),
        pytest.param(
            {"anyOf": [{"type": "array", "items": INTEGER}, {"enum": ["all", "none"]}]},
            "[1, 2]",
            [1, 2],
            {"": DECODED},
            id="the other branch, if it accepts what is held",
        ),
        pytest.param(
            {"anyOf": [{"properties": {"a": INTEGER}}, {"properties": {"b": INTEGER}}]},
            {"a": "1", "b": "2"},
            {"a": "1", "b": "2"},
            {},
            id="not if two changes would do",
        ),
        pytest.param({"oneOf": [INTEGER, NUMBER]}, "5", "5", {}, id="not if then both fit"),
        pytest.param(
            {
                "anyOf": [{"allOf": [{"$ref": "#/$defs/n"}]}, {"type": "null"}],
                "$defs": {"n": INTEGER},
            },
            "5",
            5,
            {"": "STRING_TO_INTEGER"},
            id="through references",
        ),
        pytest.param(
            {"anyOf": [{"anyOf": [{"anyOf": [INTEGER, {"type": "null"}]}, ARRAY]}, OBJECT]},
            "5",
            5,
            {"": "STRING_TO_INTEGER"},
            id="a choice in a choice",
        ),
    ],
)
def test_a_choice_is_made_by_the_branch_that_counts(
    schema: Any, value: Any, expected: Any, rules: Any
) -> None:
    """The one that was meant, or the only one under which a change helps."""
    assert (expected, rules) == coerced(schema, value)


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        pytest.param({"type": "integer", "maximum": 5}, "10", id="a bound"),
        pytest.param({"type": "integer", "enum": [1]}, "10", id="a list"),
        pytest.param({"type": "string", "pattern": "^a"}, 10, id="a pattern"),
        pytest.param({"allOf": [INTEGER, {"maximum": 5}]}, "10", id="another subschema"),
        pytest.param({"allOf": [INTEGER, STRING]}, "10", id="two types"),
        pytest.param({"allOf": [OBJECT, STRING]}, "{}", id="two types for a text"),
        pytest.param({"allOf": [STRING, INTEGER]}, 10, id="two types the other way"),
        pytest.param(
            {"if": STRING, "then": INTEGER, "else": False}, "10", id="what then follows from it"
        ),
    ],
)
def test_a_value_that_stays_invalid_is_not_coerced(schema: Any, value: Any) -> None:
    """The violation reports the type of the sent value."""
    assert (value, {}) == coerced(schema, value)


@pytest.mark.parametrize(
    ("hidden", "messages"),
    [
        pytest.param(
            False,
            [
                'converted the string "12" to an integer',
                "decoded a string that holds the JSON text of an object",
            ],
            id="shown",
        ),
        pytest.param(
            True,
            [
                "converted a string of 2 characters to an integer",
                "decoded a string that holds the JSON text of an object",
            ],
            id="hidden",
        ),
    ],
)
def test_changes_describe_the_coercions(hidden: bool, messages: list[str]) -> None:
    """A change has the keyword's location, and values only if they are not hidden."""
    engine = engine_for(
        {"properties": {"a": {"$ref": "#/$defs/n"}, "b": OBJECT}, "$defs": {"n": INTEGER}}
    )

    _, changes = coerce(
        engine, {"a": "12", "b": "{}"}, Coercion.SAFE_SCALARS, budget(), hide_values=hidden
    )

    assert (
        Change("/a", ChangeRule.STRING_TO_INTEGER, "/properties/a/$ref/type", messages[0]),
        Change("/b", ChangeRule.JSON_STRING_DECODED, "/properties/b/type", messages[1]),
    ) == changes


def test_decoded_values_are_within_the_payload_depth() -> None:
    """The depth includes the value around the text."""
    schema = {"items": ARRAY}
    fits, too_deep = (["[" * deep + "]" * deep] for deep in (4, 5))

    assert ([[[[[]]]]], {"/0": DECODED}) == coerced(schema, fits, max_depth=5)
    assert (too_deep, {}) == coerced(schema, too_deep, max_depth=5)


@pytest.mark.parametrize(
    ("schema", "levels"),
    [
        pytest.param(
            {"items": {"$ref": "#"}, "type": ["array", "integer"]}, 127, id="at any depth"
        ),
        pytest.param(
            {"anyOf": [{"type": "array", "items": {"$ref": "#"}}, INTEGER]}, 96, id="with choices"
        ),
    ],
)
def test_a_deep_payload_of_a_recursive_schema_is_coerced(schema: Any, levels: int) -> None:
    """Its depth is the limit of payloads, or less if each level is a choice.

    The violations of a choice need an evaluation of all its descendants.
    """
    payload, expected = '"7"', "7"
    for _ in range(levels):
        payload, expected = f"[{payload}]", f"[{expected}]"

    result, rules = coerced(schema, json.loads(payload))

    assert (json.loads(expected), {"/0" * levels: ChangeRule.STRING_TO_INTEGER}) == (result, rules)


def test_short_texts_of_slow_numbers_are_paid_for() -> None:
    """Each of these numbers takes some thirty microseconds to read."""
    texts: JsonValue = ["[" + "1e300," * 1000 + "0]"] * 15
    with pytest.raises(Exhausted):
        coerce(
            engine_for({"items": {"type": "array"}}),
            texts,
            Coercion.JSON_STRINGS,
            budget(Limits().inline_steps),
            hide_values=False,
        )


def test_the_work_is_bounded() -> None:
    """The step budget limits the work for every payload."""
    with pytest.raises(Exhausted):
        coerce(
            engine_for({"items": INTEGER}),
            ["1"] * 1000,
            Coercion.SAFE_SCALARS,
            budget(100_000),
            hide_values=False,
        )
