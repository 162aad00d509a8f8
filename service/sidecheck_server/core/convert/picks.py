"""Picks: one way through several choices, and then others."""

from collections import deque
from collections.abc import Iterator

__all__ = ["Picks", "all_picks"]


class Picks:
    """The choices of one reading: those given, and then always the same one."""

    def __init__(self, given: tuple[int, ...] = (), then: int = 0) -> None:
        self._given = given
        self._then = then
        self._picked: list[int] = []
        #: How many ways there were, for each choice.
        self.ways: list[int] = []

    @property
    def made(self) -> tuple[int, ...]:
        """The choices, in order."""
        return tuple(self._picked)

    def pick(self, ways: int) -> int:
        """Return which of several *ways* to take."""
        made = len(self._picked)
        wanted = self._given[made] if made < len(self._given) else self._then
        picked = min(wanted, ways - 1)
        self._picked.append(picked)
        self.ways.append(ways)
        return picked


def all_picks(most_alike: int) -> Iterator[Picks]:
    """Yield choices, some perhaps twice: each time those yielded before have been made.

    First all take the first way, then the second, and so on, *most_alike* times at most;
    then one takes another way than the first, then two do, and so on.
    """
    first = Picks()
    yield first
    for then in range(1, min(max(first.ways, default=1), most_alike)):
        yield Picks(then=then)
    pending = deque([(first, 0)])
    while pending:
        above, start = pending.popleft()
        # What comes after another way may be another choice, so it starts anew.
        for at in range(start, len(above.ways)):
            for way in range(1, above.ways[at]):
                picks = Picks((*above.made[:at], way))
                yield picks
                pending.append((picks, at + 1))
