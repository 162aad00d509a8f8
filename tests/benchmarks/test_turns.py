"""Rounds pair the figures of contenders that took turns."""

from types import ModuleType

import pytest
from support.shared_material import REPOSITORY


@pytest.fixture
def turns(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The module, found where the scripts find it."""
    monkeypatch.syspath_prepend(REPOSITORY / "benchmarks")
    import turns

    return turns


def test_quartiles_are_those_of_the_figures(turns: ModuleType) -> None:
    """The quartiles of five figures are three of them."""
    assert turns.Summary(5, 1, 2, 3, 4, 5) == turns.summarize([5, 3, 1, 4, 2])


def test_one_figure_is_its_own_quartile(turns: ModuleType) -> None:
    """What was measured once is told as it is."""
    assert turns.Summary(1, 7, 7, 7, 7, 7) == turns.summarize([7])


def test_nothing_measured_has_no_median(turns: ModuleType) -> None:
    """No figures are an error and not a zero."""
    with pytest.raises(ValueError, match="nothing was measured"):
        turns.summarize([])


def test_a_ratio_compares_figures_of_the_same_round(turns: ModuleType) -> None:
    """A machine that is ten times slower in one round does not change the ratio."""
    found = turns.Rounds({"peer": [2.0, 20.0, 2.0], "ours": [1.0, 10.0, 1.0]})
    assert turns.Summary(3, 2, 2, 2, 2, 2) == found.ratio("peer", "ours")


def test_the_order_of_turns_is_reversed_each_round(turns: ModuleType) -> None:
    """Nobody always follows the same neighbour."""
    log: list[str] = []
    actions = {name: lambda name=name: log.append(name) for name in "abc"}
    assert {"a": [None] * 2, "b": [None] * 2, "c": [None] * 2} == turns.take_turns(actions, 2)
    assert list("abccba") == log
