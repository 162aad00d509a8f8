"""Tests of the table of known differences."""

import itertools

import pytest
from agreement.engines import Engines, create_engines
from agreement.known_differences import KNOWN_DIFFERENCES, KnownDifference
from agreement.schemas import Question
from agreement.values import INTEGERS, NAMES, NUMBERS, PATTERNS, STRINGS

IDS = [difference.name for difference in KNOWN_DIFFERENCES]


@pytest.mark.parametrize("difference", KNOWN_DIFFERENCES, ids=IDS)
def test_both_engines_are_correct_where_the_oracle_is_wrong(
    difference: KnownDifference,
) -> None:
    """Remove a row once jsonschema-rs has the correct verdict."""
    engines = create_engines(Question(difference.edition, difference.schema, {}))
    assert isinstance(engines, Engines)
    verdicts = {name: is_valid(difference.payload) for name, is_valid in engines.by_name().items()}

    assert {"complete", "jsonschema-rs"} <= verdicts.keys()
    assert {name: difference.valid != (name == "jsonschema-rs") for name in verdicts} == verdicts


def test_no_double_is_near_to_a_large_integer() -> None:
    """No large integer of the generators rounds to a double of the generators."""
    doubles = {abs(number) for number in NUMBERS if isinstance(number, float)}
    large = [abs(number) for number in INTEGERS if abs(number) >= 2**63]

    assert [] == [number for number in large if float(number) in doubles]


def test_no_text_has_a_line_separator() -> None:
    """No generated text has U+2028 or U+2029."""
    texts = itertools.chain(NAMES, STRINGS, *PATTERNS.values())

    assert [] == [text for text in texts if {"\u2028", "\u2029"} & set(text)]
