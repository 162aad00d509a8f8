"""The table of the codes of changes."""

import re

import pytest
from sidecheck_server.core.compat.changes import Direction, Level, worst_level
from sidecheck_server.core.compat.rules import BOUNDS, CHANGE_RULES, ChangeRule, upper_snake
from sidecheck_server.core.schemas.keywords import KEYWORDS
from sidecheck_server.core.types import Draft


@pytest.mark.parametrize("rule", CHANGE_RULES.values(), ids=lambda rule: rule.code)
def test_a_rule_is_complete(rule: ChangeRule) -> None:
    """Where no proof decides the level, the rule has both levels."""
    assert re.fullmatch(r"[A-Z]+(_[A-Z]+)+", rule.code)
    assert rule.sentence.endswith(".")
    assert (rule.input_level is None) is (rule.output_level is None)
    assert rule.is_proved or rule.direction is Direction.NONE


def test_bounds_are_keywords() -> None:
    """Each is a keyword of the latest draft."""
    assert BOUNDS.keys() <= KEYWORDS[Draft.DRAFT_2020_12].keys()


@pytest.mark.parametrize(
    ("keyword", "code"), [("type", "TYPE"), ("maxLength", "MAX_LENGTH"), ("allOf", "ALL_OF")]
)
def test_codes_are_keywords_in_upper_snake_case(keyword: str, code: str) -> None:
    """Codes of violations have the same form."""
    assert code == upper_snake(keyword)


def test_levels_are_ordered() -> None:
    """The worst comes first."""
    order = ["breaking", "undecided", "risky", "compatible", "cosmetic"]

    assert order == [level.value for level in Level]
    assert Level.UNDECIDED is worst_level([Level.COSMETIC, Level.UNDECIDED, Level.RISKY])
    assert Level.COSMETIC is worst_level([])
