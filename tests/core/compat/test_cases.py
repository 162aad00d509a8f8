"""The shared cases of comparisons, through the core."""

import json
from typing import Any

import pytest
from sidecheck_server.cli.comparison_reports import comparison_object
from sidecheck_server.core.compat.changes import Direction, Level, Reading, SetComparison
from sidecheck_server.core.compat.compare import compare_definitions
from sidecheck_server.core.compat.pairing import (
    Pair,
    compare_trivial_pair,
    pair_definitions,
    read_definition,
)
from sidecheck_server.core.compat.rules import CHANGE_RULES
from sidecheck_server.core.limits import Limits
from support.comparison_cases import CASES, in_short

LIMITS = Limits()


def compare(old: list[Any], new: list[Any]) -> SetComparison:
    """Return the comparison of two lists of definitions."""
    sides = (
        [read_definition(json.dumps(tool).encode(), (), LIMITS) for tool in tools]
        for tools in (old, new)
    )
    return SetComparison(tuple(map(_compare, pair_definitions(*sides))))


def _compare(pair: Pair) -> Any:
    unpaired = compare_trivial_pair(pair)
    if unpaired is not None:
        return unpaired
    old, new = pair.old, pair.new
    assert old is not None
    assert new is not None
    assert old.definition is not None
    assert new.definition is not None
    return compare_definitions(old.definition, new.definition, LIMITS)


@pytest.mark.parametrize("case", CASES)
def test_a_case_has_its_expected_outcome(case: dict[str, Any]) -> None:
    """The outcome has statuses, verdicts with their payloads, and every change."""
    compared = compare(case["old"], case["new"])

    assert case["want"] == in_short(comparison_object(compared, Reading.ASSUME_CLOSED))


@pytest.mark.parametrize("case", CASES)
def test_a_tool_compared_with_itself_is_unchanged(case: dict[str, Any]) -> None:
    """Its schemas are arbitrary."""
    assert not compare(case["new"], case["new"]).differs or _is_unreadable(case)


def _is_unreadable(case: dict[str, Any]) -> bool:
    return any(
        change[0] == "NOT_COMPARED" for tool in case["want"] for change in tool.get("changes", ())
    )


def test_every_code_is_exercised() -> None:
    """No case expects a code without a rule."""
    wanted = {
        change[0]
        for parameters in CASES
        for tool in parameters.values[0]["want"]  # type: ignore[index]
        for change in tool.get("changes", ())
    }

    assert CHANGE_RULES.keys() == wanted


@pytest.mark.parametrize("case", CASES)
def test_the_level_of_a_single_change_agrees_with_the_proof(case: dict[str, Any]) -> None:
    """In a case with one change, a wider schema is not breaking."""
    for tool in compare(case["old"], case["new"]).tools:
        proved = [change for change in tool.changes if CHANGE_RULES[change.code].is_proved]
        if len(proved) != 1 or tool.schemas[0].part != "inputSchema":
            continue
        level = tool.schemas[0].verdicts.as_written.level
        if proved[0].direction.as_written is Direction.WIDER:
            assert level is not Level.BREAKING
        if proved[0].direction.as_written is Direction.NONE:
            assert level in (Level.COMPATIBLE, Level.COSMETIC)
