"""Transforms of values: types, enums, constants, bounds, patterns and formats."""

from typing import Any

import pytest
from sidecheck_server.core.convert.providers.subset import Patterns, Subset
from sidecheck_server.core.convert.transforms.values import has_look_around, supports_pattern
from sidecheck_server.core.limits import Exhausted

from .transforms import CLOSED, SMALL, supporting, transformed_property

PLAIN = supporting(
    *("minimum", "maximum", "enum", "anyOf", "pattern", "format"),
    formats=frozenset({"date"}),
    patterns=Patterns.REGULAR,
    type_lists=False,
)
DESCRIBED = [("described", "widened")]
NOTED = [("described", "equivalent")]
REWRITTEN = [("rewritten", "equivalent")]
LONG = "x" * 300

CASES: dict[str, tuple[Subset, Any, Any, list[tuple[str, str]]]] = {
    "a list of types is a union": (
        PLAIN,
        {"type": ["string", "integer"], "minimum": 1, "pattern": "^a", "description": "d"},
        {
            "description": "d",
            "anyOf": [{"type": "string", "pattern": "^a"}, {"type": "integer", "minimum": 1}],
        },
        REWRITTEN,
    ),
    "types that the enum has no values of fall away": (
        PLAIN,
        {"type": ["string", "integer", "null"], "enum": ["a", 1]},
        {"anyOf": [{"type": "string", "enum": ["a"]}, {"type": "integer", "enum": [1]}]},
        REWRITTEN,
    ),
    "types go into a union that is there": (
        PLAIN,
        {"type": ["string", "integer"], "anyOf": [{"type": ["integer", "null"]}, {"enum": ["a"]}]},
        {
            "anyOf": [
                {"type": "integer"},
                {"type": "string", "enum": ["a"]},
            ]
        },
        [*REWRITTEN, *REWRITTEN],
    ),
    "a list of one type is that type": (PLAIN, {"type": ["string"]}, {"type": "string"}, []),
    "a constant is an enum": (PLAIN, {"const": 1}, {"enum": [1]}, REWRITTEN),
    "a constant that an enum has": (
        PLAIN,
        {"const": 1, "enum": [1.0, 2]},
        {"enum": [1]},
        REWRITTEN,
    ),
    "a constant that an enum has not": (
        PLAIN,
        {"const": 3, "enum": [1, 2]},
        {"enum": [1, 2]},
        [("dropped", "widened")],
    ),
    "a format that is supported": (
        PLAIN,
        {"type": "string", "format": "date"},
        {"type": "string", "format": "date"},
        [],
    ),
    "a format that is not": (
        PLAIN,
        {"type": "string", "format": "uri"},
        {"type": "string", "description": "(format: uri)"},
        NOTED,
    ),
    "one character": (
        PLAIN,
        {"type": "string", "minLength": 1},
        {"type": "string", "description": "(at least 1 character)"},
        DESCRIBED,
    ),
    "several characters": (
        PLAIN,
        {"type": "string", "maxLength": 30, "description": "A name."},
        {"type": "string", "description": "A name. (at most 30 characters)"},
        DESCRIBED,
    ),
    "a bound that restricts nothing": (
        PLAIN,
        {"type": "string", "minLength": 0},
        {"type": "string"},
        [("dropped", "equivalent")],
    ),
    "excluded bounds of integers": (
        PLAIN,
        {"type": "integer", "exclusiveMinimum": 3, "exclusiveMaximum": 9.5},
        {"type": "integer", "minimum": 4, "maximum": 9},
        [*REWRITTEN, *REWRITTEN],
    ),
    "an excluded bound beside a tighter one": (
        PLAIN,
        {"type": "number", "maximum": 9, "exclusiveMaximum": 9.5},
        {"type": "number", "maximum": 9},
        REWRITTEN,
    ),
    "an excluded bound beside an equal one": (
        PLAIN,
        {"type": "number", "minimum": 9, "exclusiveMinimum": 9},
        {"type": "number", "minimum": 9, "description": "(greater than 9)"},
        DESCRIBED,
    ),
    "an excluded bound of numbers": (
        PLAIN,
        {"type": "number", "exclusiveMaximum": 9.5},
        {"type": "number", "maximum": 9.5, "description": "(less than 9.5)"},
        DESCRIBED,
    ),
    "a pattern that is supported": (
        PLAIN,
        {"type": "string", "pattern": "^[[a]+$"},
        {"type": "string", "pattern": "^[[a]+$"},
        [],
    ),
    "a pattern that is not": (
        PLAIN,
        {"type": "string", "pattern": "^(?=a)"},
        {"type": "string", "description": "(matches ^(?=a))"},
        DESCRIBED,
    ),
    "a default": (
        PLAIN,
        {"type": "integer", "default": 3},
        {"type": "integer", "description": "(default: 3)"},
        NOTED,
    ),
    "a long default": (
        PLAIN,
        {"type": "string", "default": LONG},
        {"type": "string", "description": f'(default: "{LONG[:198]}…)'},
        NOTED,
    ),
    "short examples": (
        PLAIN,
        {"type": "integer", "examples": [3, 4]},
        {"type": "integer", "description": "(for example 3, 4)"},
        NOTED,
    ),
    "long examples": (
        PLAIN,
        {"type": "string", "examples": [LONG]},
        {"type": "string"},
        [("dropped", "equivalent")],
    ),
    "a title": (
        PLAIN,
        {"type": "integer", "title": "T"},
        {"type": "integer"},
        [("dropped", "equivalent")],
    ),
    "an enum of integers where only strings are supported": (
        SMALL,
        {"enum": [1, 2]},
        {"type": "integer", "description": "(one of: 1, 2)"},
        DESCRIBED,
    ),
    "a mixed enum where only strings are supported": (
        SMALL,
        {"enum": ["a", 1]},
        {
            "anyOf": [
                {"type": "string", "enum": ["a"]},
                {"type": "integer", "description": "(always 1)"},
            ]
        },
        [*DESCRIBED, *REWRITTEN],
    ),
    "an enum whose other values its type rejects": (
        SMALL,
        {"type": "string", "enum": ["a", 1]},
        {"type": "string", "enum": ["a"]},
        REWRITTEN,
    ),
    "an enum of all booleans": (
        SMALL,
        {"enum": [True, False]},
        {"type": "boolean"},
        [("dropped", "equivalent")],
    ),
    "an enum of objects": (
        CLOSED,
        {"enum": [{"a": 1}, None]},
        {"type": "string", "enum": ['{"a":1}', "null"], "description": "(JSON text)"},
        [("encoded", "equivalent")],
    ),
    "fewer items than may be asked for": (
        CLOSED,
        {"type": "array", "items": {"type": "string"}, "minItems": 2},
        {"type": "array", "items": {"type": "string"}, "description": "(at least 2 items)"},
        DESCRIBED,
    ),
}


@pytest.mark.parametrize(("subset", "schema", "expected", "reported"), CASES.values(), ids=CASES)
def test_values(
    subset: Subset, schema: Any, expected: Any, reported: list[tuple[str, str]]
) -> None:
    result, losses = transformed_property(schema, subset)
    assert (result, [item[1:] for item in losses]) == (expected, reported)


_NULL = {"type": "null"}
_NULLABLE_STRING = {"type": "string", "nullable": True}
_NULLABLE_INTEGER = {"type": "integer", "nullable": True}


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        (
            {"type": ["string", "integer", "null"]},
            {"anyOf": [_NULLABLE_STRING, _NULLABLE_INTEGER]},
        ),
        (
            {"anyOf": [{"type": "string"}, _NULL, {"type": "integer"}]},
            {"anyOf": [_NULLABLE_STRING, _NULLABLE_INTEGER]},
        ),
        (
            {"anyOf": [_NULL, {"anyOf": [{"type": "string"}, {"type": "integer"}]}]},
            {"anyOf": [_NULLABLE_STRING, _NULLABLE_INTEGER]},
        ),
        (
            {
                "anyOf": [
                    {"anyOf": [{"type": "string"}, {"type": "integer"}]},
                    {"type": "array"},
                    _NULL,
                ]
            },
            {
                "anyOf": [
                    {"anyOf": [_NULLABLE_STRING, _NULLABLE_INTEGER]},
                    {"type": "array", "nullable": True},
                ]
            },
        ),
        (
            {"anyOf": [{"type": "object", "description": "O."}, _NULL], "description": "D."},
            {"type": "object", "description": "D. O.", "nullable": True},
        ),
        ({"anyOf": [{}, _NULL]}, {}),
        ({"anyOf": [_NULL, _NULL]}, {"anyOf": [_NULL, _NULL]}),
    ],
)
def test_null_is_a_flag_of_each_branch(schema: Any, expected: Any) -> None:
    subset = supporting("anyOf", "items", type_lists=False, nullable=True, any_of_alone=True)
    result, _ = transformed_property(schema, subset)
    assert result == expected


_PYTHON = {Patterns.PYTHON}
_WITHOUT_LOOK_AROUND = {*_PYTHON, Patterns.WITHOUT_LOOK_AROUND}
_REGULAR = {*_WITHOUT_LOOK_AROUND, Patterns.REGULAR}
_GRAMMAR = {*_REGULAR, Patterns.GRAMMAR}

# The classes that each pattern belongs to.
PATTERNS: dict[str, set[Patterns]] = {
    "^[a-z]+$": _GRAMMAR,
    r"^\(\.$": _GRAMMAR,
    r"^\d$": _REGULAR,
    "^a": _REGULAR,
    "a$": _REGULAR,
    "[[a]": _REGULAR,
    r"[(?=a)\1]": _REGULAR,
    r"\(?=a": _REGULAR,
    r"[\](?=a)]": _REGULAR,
    r"\\b": _REGULAR,
    r"(a)\1": _WITHOUT_LOOK_AROUND,
    r"\bword": _WITHOUT_LOOK_AROUND,
    r"\[(?=a)]": _PYTHON,
    "(?=a)": _PYTHON,
    "^(?=a)$": _PYTHON,
    "^(?!undefined$|null$)": _PYTHON,
    "(?<!a)b": _PYTHON,
    "a(?:b|(?<=c)d)": _PYTHON,
    r"\p{L}": set(),
    r"[^\P{Lu}]": set(),
    r"\u{1F600}": set(),
    "(?<name>a)": set(),
    "a{4294967296}": set(),
    "(" * 500 + "a" + ")" * 500: set(),
}


@pytest.mark.parametrize(("pattern", "classes"), PATTERNS.items())
def test_patterns(pattern: str, classes: set[Patterns]) -> None:
    budget = [1_000_000]
    assert classes == {item for item in Patterns if supports_pattern(pattern, item, budget)}


def test_look_around_is_found_in_linear_time() -> None:
    assert not has_look_around("[" * 1_000_000)
    assert has_look_around(r"\(" * 100_000 + "(?=")


def test_wide_classes_cost_steps() -> None:
    with pytest.raises(Exhausted):
        supports_pattern("[!-\uffff]" * 200, Patterns.PYTHON, [10_000_000])
