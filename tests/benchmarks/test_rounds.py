"""Rounds pair what was measured side by side."""

from types import ModuleType

import pytest
from support.shared_material import REPOSITORY


@pytest.fixture
def rounds(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The module, found where the scripts find it."""
    monkeypatch.syspath_prepend(REPOSITORY / "benchmarks")
    import rounds

    return rounds


def test_quartiles_are_those_of_the_figures(rounds: ModuleType) -> None:
    """The quartiles of five figures are three of them."""
    assert rounds.Summary(5, 1, 2, 3, 4, 5) == rounds.summary([5, 3, 1, 4, 2])


def test_one_figure_is_its_own_quartile(rounds: ModuleType) -> None:
    """What was measured once is told as it is."""
    assert rounds.Summary(1, 7, 7, 7, 7, 7) == rounds.summary([7])


def test_nothing_measured_has_no_median(rounds: ModuleType) -> None:
    """No figures are an error and not a zero."""
    with pytest.raises(ValueError, match="nothing was measured"):
        rounds.summary([])


def test_a_ratio_compares_figures_of_the_same_round(rounds: ModuleType) -> None:
    """A machine that is ten times slower in one round does not change the ratio."""
    found = rounds.Rounds({"peer": [2.0, 20.0, 2.0], "ours": [1.0, 10.0, 1.0]})
    assert rounds.Summary(3, 2, 2, 2, 2, 2) == found.ratio("peer", "ours")


def test_the_order_of_turns_is_reversed_each_round(rounds: ModuleType) -> None:
    """Nobody always follows the same neighbour."""
    log: list[str] = []
    turns = {name: lambda name=name: log.append(name) for name in "abc"}
    assert {"a": [None] * 2, "b": [None] * 2, "c": [None] * 2} == rounds.take_turns(turns, 2)
    assert list("abccba") == log
