"""Rounds pair the figures of contenders that took turns."""

from collections.abc import Callable
from types import ModuleType, SimpleNamespace

import pytest


@pytest.fixture
def turns(script: Callable[[str], ModuleType]) -> ModuleType:
    return script("harness.turns")


def test_quartiles_of_figures(turns: ModuleType) -> None:
    """The quartiles of five figures are three of them."""
    assert turns.Summary(5, 1, 2, 3, 4, 5) == turns.summarize([5, 3, 1, 4, 2])


def test_a_single_figure_is_every_quartile(turns: ModuleType) -> None:
    """The summary of one figure repeats it."""
    assert turns.Summary(1, 7, 7, 7, 7, 7) == turns.summarize([7])


def test_no_figures_have_no_summary(turns: ModuleType) -> None:
    """No figures are an error and not a zero."""
    with pytest.raises(ValueError, match="nothing was measured"):
        turns.summarize([])


def test_a_ratio_compares_figures_of_the_same_round(turns: ModuleType) -> None:
    """A machine that is ten times slower in one round does not change the ratio."""
    rounds = turns.Rounds({"peer": [2.0, 20.0, 2.0], "ours": [1.0, 10.0, 1.0]})
    assert turns.Summary(3, 2, 2, 2, 2, 2) == rounds.ratio("peer", "ours")


def test_rounds_take_an_attribute_of_results(turns: ModuleType) -> None:
    """Turns with several figures make rounds of one of them."""
    results = {"ours": [SimpleNamespace(rate=3.0, p50=1.0), SimpleNamespace(rate=4.0, p50=2.0)]}
    assert turns.Rounds({"ours": [3.0, 4.0]}) == turns.Rounds.of_attribute(results, "rate")


def test_the_order_of_turns_is_reversed_each_round(turns: ModuleType) -> None:
    """No contender always follows the same one."""
    log: list[str] = []
    actions = {name: lambda name=name: log.append(name) for name in "abc"}
    assert {"a": [None] * 2, "b": [None] * 2, "c": [None] * 2} == turns.take_turns(actions, 2)
    assert list("abccba") == log
