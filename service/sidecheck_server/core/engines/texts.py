"""What judges texts, and takes its steps from a budget before it does."""

from collections.abc import Callable
from typing import TypeAlias

from sidecheck_server.core.budget import LONGEST_SEARCH, Budget, Exhausted
from sidecheck_server.core.patterns import UNBOUNDED, Pattern

__all__ = ["TextCheck", "counted_format", "counted_pattern"]

#: Says whether a text passes, and takes the steps for that from a budget.
TextCheck: TypeAlias = Callable[[str, Budget], bool]

_ENTRY = 20
"""Steps of any check, however short the text."""

_VISITS = 4
"""How many instructions of a pattern's program are visited in a step, at the worst: RE2
then makes a state for every byte, runs out of memory for them, and goes on without."""

_CHARACTERS = 4
"""How many characters of a text a format reads in a step, at the worst."""


def counted_pattern(pattern: Pattern) -> TextCheck:
    """Return the search of *pattern*, which takes steps for program times text.

    An automaton cannot be interrupted, so they are taken first. What backtracks is run
    where it can be killed, and takes what any automaton would.
    """
    search, find = pattern.search, pattern.find
    cost = 1 if pattern.cost >= UNBOUNDED else pattern.cost

    def matches(text: str, budget: Budget) -> bool:
        # The program reads UTF-8: up to four bytes for each character.
        steps = cost * (len(text) if text.isascii() else 4 * len(text)) // _VISITS
        budget[0] -= _ENTRY + (steps if steps < LONGEST_SEARCH else LONGEST_SEARCH)  # noqa: FURB136  (no call)
        if budget[0] < 0:
            raise Exhausted
        if find is None:
            return search(text)
        # What `search` does, without its frame and that of its automaton.
        try:
            data = text.encode()
        except UnicodeEncodeError:
            return search(text)
        return find(data, 0, len(data))[0][0] == 0

    return matches


def counted_format(conforms: Callable[[str], bool] | None) -> TextCheck:
    """Return the check of a format, which takes steps for the text; None accepts all."""
    if conforms is None:
        return _accept

    def checks(text: str, budget: Budget) -> bool:
        budget[0] -= _ENTRY + len(text) // _CHARACTERS
        if budget[0] < 0:
            raise Exhausted
        return conforms(text)

    return checks


def _accept(_text: str, _budget: Budget) -> bool:
    return True
