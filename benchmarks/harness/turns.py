"""Paired measurement: contenders take turns, and ratios are computed within a round.

Other work on the machine slows all contenders alike if their turns last a few milliseconds, so
the median of the ratios is stable where times are not. The order is reversed from round to
round, so that no contender always follows the same predecessor.
"""

import gc
import statistics
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

__all__ = ["Rounds", "Summary", "make_turn", "summarize", "take_turns"]

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Summary:
    """Number, quartiles, minimum and maximum of figures."""

    n: int
    minimum: float
    lower: float
    median: float
    upper: float
    maximum: float


def summarize(figures: Iterable[float]) -> Summary:
    """Return the quartiles of *figures*.

    Raises:
        ValueError: *figures* is empty.
    """
    ordered = sorted(figures)
    if not ordered:
        raise ValueError("nothing was measured")
    # statistics.quantiles needs two figures.
    several = ordered * 2 if len(ordered) == 1 else ordered
    lower, median, upper = statistics.quantiles(several, method="inclusive")
    return Summary(len(ordered), ordered[0], lower, median, upper, ordered[-1])


@dataclass(frozen=True, slots=True)
class Rounds:
    """Figures of each contender, one per round."""

    figures: Mapping[str, list[float]]

    @classmethod
    def of_attribute(cls, results: Mapping[str, Sequence[object]], attribute: str) -> "Rounds":
        """Return the values of an attribute of the results of `take_turns`."""
        return cls(
            {
                name: [getattr(result, attribute) for result in turns]
                for name, turns in results.items()
            }
        )

    def of(self, name: str) -> Summary:
        """Return the summary of one contender."""
        return summarize(self.figures[name])

    def ratio(self, name: str, to: str) -> Summary:
        """Return the ratios of the figures of *name* to those of *to* in the same round."""
        pairs = zip(self.figures[name], self.figures[to], strict=True)
        return summarize(figure / reference for figure, reference in pairs)


def take_turns(turns: Mapping[str, Callable[[], Result]], rounds: int) -> dict[str, list[Result]]:
    """Run each turn once per round, and return the results."""
    results: dict[str, list[Result]] = {name: [] for name in turns}
    order = list(turns)
    for _ in range(rounds):
        for name in order:
            results[name].append(turns[name]())
        order.reverse()
    return results


def make_turn(
    action: Callable[[Any], object],
    subject: Any,
    seconds: float,
    clock: Callable[[], int] = time.thread_time_ns,
) -> Callable[[], float]:
    """Return a turn that calls ``action(subject)`` for about *seconds*, at least once.

    Its result is the time of one call in seconds: by default processor time of this thread,
    which excludes other processes. The cyclic garbage collector is off during the turn, as in
    `timeit`.
    """
    elapsed = _time_repeats(action, subject, 1, clock)
    for _ in range(2):
        # The first call fills caches, and a single call is a poor estimate of a fast one.
        elapsed = _time_repeats(
            action, subject, max(1, int(seconds / 4 / max(elapsed, 1e-8))), clock
        )
    repeats = max(1, int(seconds / max(elapsed, 1e-8)))
    return lambda: _time_repeats(action, subject, repeats, clock)


def _time_repeats(
    action: Callable[[Any], object], subject: Any, repeats: int, clock: Callable[[], int]
) -> float:
    collecting = gc.isenabled()
    gc.disable()
    try:
        started = clock()
        for _ in range(repeats):
            action(subject)
        return (clock() - started) / 1e9 / repeats
    finally:
        if collecting:
            gc.enable()
