"""Rounds: contenders take turns, and what is reported is the ratio within a round.

Other work on the machine slows whoever happens to run. Contenders that take turns of a
few milliseconds suffer alike, so the median of the ratios of each round stays put where
times do not. The order turns round from round to round, so that nobody always follows
the same neighbour.
"""

import gc
import statistics
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

__all__ = ["Rounds", "Summary", "summary", "take_turns", "timed"]

Found = TypeVar("Found")


@dataclass(frozen=True, slots=True)
class Summary:
    """The quartiles of some figures, with the least and the greatest."""

    n: int
    least: float
    lower: float
    median: float
    upper: float
    greatest: float


def summary(figures: Iterable[float]) -> Summary:
    """Return the quartiles of *figures*.

    Raises:
        ValueError: there are none.
    """
    known = sorted(figures)
    if not known:
        raise ValueError("nothing was measured")
    # One figure alone has no quartiles, in the eyes of the library.
    several = known * 2 if len(known) == 1 else known
    lower, median, upper = statistics.quantiles(several, method="inclusive")
    return Summary(len(known), known[0], lower, median, upper, known[-1])


@dataclass(frozen=True, slots=True)
class Rounds:
    """What each contender measured in each round."""

    figures: Mapping[str, list[float]]

    def of(self, name: str) -> Summary:
        """Return the figures of one contender."""
        return summary(self.figures[name])

    def ratio(self, name: str, to: str) -> Summary:
        """Return what *name* measured in multiples of what *to* did in the same round."""
        pairs = zip(self.figures[name], self.figures[to], strict=True)
        return summary(one / other for one, other in pairs)


def take_turns(turns: Mapping[str, Callable[[], Found]], rounds: int) -> dict[str, list[Found]]:
    """Let every contender have one turn in each of so many rounds, and return their findings."""
    found: dict[str, list[Found]] = {name: [] for name in turns}
    order = list(turns)
    for _ in range(rounds):
        for name in order:
            found[name].append(turns[name]())
        order.reverse()
    return found


def timed(
    action: Callable[[Any], object],
    subject: Any,
    seconds: float,
    clock: Callable[[], int] = time.thread_time_ns,
) -> Callable[[], float]:
    """Return a turn that calls ``action(subject)`` for about so long, once at least.

    It finds the seconds that one call takes: of this thread's processor by default, which
    do not run on while other processes have their turn. The collector of cycles is off
    meanwhile, as in `timeit`.
    """
    took = _one(action, subject, 1, clock)
    for _ in range(2):
        # The first call fills caches, and one call says little about a quick one.
        took = _one(action, subject, max(1, int(seconds / 4 / max(took, 1e-8))), clock)
    repeats = max(1, int(seconds / max(took, 1e-8)))
    return lambda: _one(action, subject, repeats, clock)


def _one(
    action: Callable[[Any], object], subject: Any, repeats: int, clock: Callable[[], int]
) -> float:
    collecting = gc.isenabled()
    gc.disable()
    try:
        began = clock()
        for _ in range(repeats):
            action(subject)
        return (clock() - began) / 1e9 / repeats
    finally:
        if collecting:
            gc.enable()
