"""The table of known differences holds."""

import itertools

import pytest
from agreement.engines import Engines, create_engines
from agreement.known_differences import KNOWN_DIFFERENCES, KnownDifference
from agreement.schemas import Question
from agreement.values import INTEGERS, NAMES, NUMBERS, PATTERNS, STRINGS

IDS = [difference.name for difference in KNOWN_DIFFERENCES]


@pytest.mark.parametrize("difference", KNOWN_DIFFERENCES, ids=IDS)
def test_both_engines_are_right_where_the_oracle_is_wrong(
    difference: KnownDifference,
) -> None:
    """A row has the verdicts of all three engines; remove it when one changes."""
    engines = create_engines(Question(difference.edition, difference.schema, {}))
    assert isinstance(engines, Engines)
    verdicts = {name: is_valid(difference.payload) for name, is_valid in engines.by_name().items()}

    assert {"complete", "jsonschema-rs"} <= verdicts.keys()
    assert {name: difference.valid != (name == "jsonschema-rs") for name in verdicts} == verdicts


def test_no_double_is_near_to_a_large_integer() -> None:
    """Rounding a large integer of the material gives no double of the material."""
    doubles = {abs(number) for number in NUMBERS if isinstance(number, float)}
    large = [abs(number) for number in INTEGERS if abs(number) >= 2**63]

    assert [] == [number for number in large if float(number) in doubles]


def test_no_text_has_a_line_separator() -> None:
    """Nothing that the dot may meet has U+2028 or U+2029."""
    texts = itertools.chain(NAMES, STRINGS, *PATTERNS.values())

    assert [] == [text for text in texts if {"\u2028", "\u2029"} & set(text)]
