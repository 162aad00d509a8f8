"""The library's containment proofs agree with the validator."""

import json
from random import Random
from typing import Any

import jsonschema_rs
import pytest
from sidecheck_server.core.compat.normal_form import NormalForm
from sidecheck_server.core.compat.proof import (
    CannotWriteError,
    Operand,
    plain_pattern,
    subtract,
    write_for_library,
)
from sidecheck_server.core.compiler.compilation import CompiledSchema, compile_schema
from sidecheck_server.core.evaluate import EvaluationOptions, evaluate
from sidecheck_server.core.exact_numbers import read_number
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.patterns.cursor import PatternError
from sidecheck_server.core.patterns.pattern import compile_pattern
from sidecheck_server.core.schemas.dialects import SchemaSource
from sidecheck_server.core.types import Draft

LIMITS = Limits()
ATOMS = [
    *(".", r"\w", r"\W", r"\d", r"\D", r"\s", r"\S", r"\b", r"\B", r"\0", r"\cJ", r"\/", r"\-"),
    *("a", "é", "-", "&", "#", "_", "{", "}", "]", "\n", "𝒳", r"\ud835\udcb3", r"\u{41}", r"\x41"),
    *("[a-c]", "[^a]", r"[\w-]", "[a&&b]", "[~~]", "[--a]", "[[a]", "[^]", r"[\b]", r"[\]\[^]"),
    *("[!-/]", r"\p{L}", r"\P{Lu}", r"\p{Script=Greek}", r"[\s\S]", "(?:a|b)", "(?<n>a)", "(b)"),
]
QUANTIFIERS = ["", "", "", "*", "+", "?", "{2}", "{0,2}", "+?", "|"]
CHARACTERS = (
    "abcé-&\n\r\u2028\u2029\u00a0\ufeff\x85\u180e𝒳A\0/~[]^ #_1\u0663K\u212a\t\x0bΩß$.\x1c{}"
)
NUMBERS: list[float] = [
    *(0, 1, 3, 7, 20, -5, 0.1, 0.3, 1.5, 2.88, -0.7, 5e-324, 1e-7, 1e16, 1e22, 1e23, 1e300),
    *(2**53, 2**53 + 1, 2.0**53, 2**63, 2**64, 10**22, 10**23, 10**30, 1e30, -(2**63), -(2.0**63)),
]


def covers(schema: Any, constant: Any) -> bool:
    """Return whether the library finds that *schema* accepts *constant*."""
    forms = (
        jsonschema_rs.canonicalize(
            write_for_library(subschema, Draft.DRAFT_2020_12),  # type: ignore[arg-type]
            draft=jsonschema_rs.Draft202012,
            validate_formats=False,
            offline=True,
        )
        for subschema in (schema, {"const": constant})
    )
    wider, narrower = forms
    return str(wider.covers(narrower)) == str(jsonschema_rs.canonical.Containment.YES)


def accepts(schema: Any, payload: Any) -> bool:
    """Return whether the validator finds that *schema* accepts *payload*."""
    source = SchemaSource(json.dumps(schema).encode())
    compiled = CompiledSchema(source, compile_schema(source, LIMITS), LIMITS)
    return evaluate(compiled, json.dumps(payload).encode(), EvaluationOptions()).valid


def random_pattern(random: Random) -> str:
    """Return a pattern out of what engines read in other ways."""
    parts = (random.choice(ATOMS) + random.choice(QUANTIFIERS) for _ in range(random.randint(1, 4)))
    return random.choice(("", "^")) + "".join(parts) + random.choice(("", "$"))


def test_a_pattern_matches_the_same_in_the_library() -> None:
    """The rewritten pattern also matches the same in the engine of the validator."""
    random = Random(5)
    matching = compared = 0
    for pattern in (random_pattern(random) for _ in range(600)):
        try:
            search = compile_pattern(pattern, LIMITS).search
        except PatternError:
            continue
        plain = plain_pattern(pattern)
        assert plain is not None
        for length in (0, 1, 1, 2, 3):
            text = "".join(random.choice(CHARACTERS) for _ in range(length))
            compared += 1
            matching += search(text)
            assert (pattern, text, search(text)) == (
                pattern,
                text,
                covers({"pattern": pattern}, text),
            )

    assert compared > 2500
    assert matching > 500


@pytest.mark.parametrize("pattern", [r"^(a)\1$", "(?<n>a)|\\k<n>", "("])
def test_a_pattern_that_engines_read_differently_is_not_written(pattern: str) -> None:
    """So no proof depends on it."""
    assert plain_pattern(pattern) is None
    with pytest.raises(CannotWriteError):
        write_for_library({"items": {"pattern": pattern}}, Draft.DRAFT_2020_12)


@pytest.mark.parametrize(
    ("pattern", "plain"),
    [
        (
            "^a.b$",
            r"^a[\u{0}-\u{9}\u{b}-\u{c}\u{e}-\u{2027}\u{202a}-\u{d7ff}\u{e000}-\u{10ffff}]b$",
        ),
        (r"[\w-]+?", r"[\u{2d}0-9A-Z\u{5f}a-z]+?"),
        ("(?<n>a|b){2,3}", "(?:a|b){2,3}"),
        ("(?=a)(?!b)(?<=c)(?<!d)", "(?=a)(?!b)(?<=c)(?<!d)"),
    ],
)
def test_classes_are_spelled_out(pattern: str, plain: str) -> None:
    """Groups do not capture."""
    assert plain == plain_pattern(pattern)


def test_equal_rewritten_patterns_of_names_apply_together() -> None:
    """Neither pattern replaces the other."""
    schema = {"patternProperties": {r"^\d": {"type": "string"}, "^[0-9]": {"maxLength": 2}}}

    assert {
        "patternProperties": {"^[0-9]": {"allOf": [{"type": "string"}, {"maxLength": 2}]}}
    } == write_for_library(schema, Draft.DRAFT_2020_12)  # type: ignore[arg-type]


def test_data_that_looks_like_a_keyword_is_unchanged() -> None:
    """Constants and names of properties are not rewritten."""
    schema: Any = {
        "const": {"pattern": "."},
        "properties": {"pattern": {"enum": [{"maximum": 1}]}, "patternProperties": True},
        "dependencies": {"a": ["pattern"], "b": {"type": "string"}},
    }

    assert schema == write_for_library(schema, Draft.DRAFT_04)


@pytest.mark.parametrize("keyword", ["minimum", "exclusiveMaximum", "multipleOf", "const", "enum"])
def test_a_number_is_the_same_in_the_library(keyword: str) -> None:
    """Large floats differ between the libraries, so no proof depends on them."""
    written = 0
    for value in NUMBERS:
        if keyword == "multipleOf" and value <= 0:
            continue
        schema = {keyword: [value, "a"] if keyword == "enum" else value}
        for number in NUMBERS:
            try:
                is_covered = covers(schema, number)
            except CannotWriteError:
                continue
            written += 1
            assert (value, number, accepts(schema, number)) == (value, number, is_covered)

    assert written > 300


def test_a_difference_has_numbers_of_json_alone() -> None:
    """The library has decimals where a bound of multiples is no float."""
    multiples: Any = {"type": "number", "multipleOf": 2.5, "maximum": 2**53 + 1}
    smaller: Any = {**multiples, "maximum": 0}
    difference = subtract(
        *(
            Operand.of(NormalForm(subschema, Draft.DRAFT_2020_12))
            for subschema in (multiples, smaller)
        )
    )

    assert isinstance(difference, dict)
    assert read_number("9007199254740992.5") == difference["maximum"]
    assert json.dumps(difference)
