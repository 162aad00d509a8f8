"""What judges texts, and takes its steps from a budget before it does."""

from collections.abc import Callable
from typing import TypeAlias

from sidecheck_server.core.budget import LONGEST_SEARCH, Budget, Exhausted
from sidecheck_server.core.formats import format_checker
from sidecheck_server.core.patterns import UNBOUNDED, Pattern, compile_pattern
from sidecheck_server.core.schemas.dialects import STANDARD_DIALECTS, Dialect

__all__ = ["TextCheck", "TextChecks", "build_format_check", "build_pattern_check"]

#: Says whether a text passes, and takes the steps for that from a budget.
TextCheck: TypeAlias = Callable[[str, Budget], bool]

_ENTRY = 20
"""Steps of any check, however short the text."""

_VISITS = 4
"""How many instructions of a pattern's program are visited in a step, at the worst: RE2
then makes a state for every byte, runs out of memory for them, and goes on without."""

_CHARACTERS = 4
"""How many characters of a text a format reads in a step, at the worst."""


_DEAR = {"regex": 4_000, "idn-hostname": 4_000, "idn-email": 4_000, "iri": 400}
"""Steps of formats that compile the text, or look up each character of it, for so many."""

_DEAR_CHARACTERS = 32

_LONGEST = 1024
"""How many characters such formats read, at the most, before they refuse the text."""


def build_pattern_check(pattern: Pattern) -> TextCheck:
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


def build_format_check(name: str, dialect: str) -> TextCheck:
    """Return the check of the format *name*, which takes steps for the text.

    One that *dialect* does not define accepts all.
    """
    conforms = format_checker(name, dialect)
    if conforms is None:
        return _accept
    entry = _DEAR.get(name, 0)

    def checks(text: str, budget: Budget) -> bool:
        budget[0] -= _ENTRY + len(text) // _CHARACTERS
        if entry and (name == "regex" or not text.isascii()):
            budget[0] -= entry * (1 + min(len(text), _LONGEST) // _DEAR_CHARACTERS)
        if budget[0] < 0:
            raise Exhausted
        return conforms(text)

    return checks


def _accept(_text: str, _budget: Budget) -> bool:
    return True


class TextChecks:
    """What judges strings: every pattern and every format, compiled once.

    *assert_formats* makes ``format`` an assertion in dialects that leave the choice,
    *allow_backtracking* runs patterns whose time nothing bounds.
    """

    def __init__(
        self, *, assert_formats: bool, pattern_length: int, allow_backtracking: bool
    ) -> None:
        self._pattern_length = pattern_length
        self._allow_backtracking = allow_backtracking
        self._assert_formats = assert_formats
        self._patterns: dict[str, TextCheck] = {}
        self._formats: dict[tuple[str, str], TextCheck] = {}

    def matches(self, pattern: str, text: str, budget: Budget) -> bool:
        """Return whether *pattern* matches anywhere in *text* (ECMA-262).

        Raises:
            Exhausted: the budget has too few steps.
            PatternRefused: the pattern cannot be compiled.
        """
        check = self._patterns.get(pattern)
        if check is None:
            check = self._patterns[pattern] = build_pattern_check(
                compile_pattern(
                    pattern,
                    max_length=self._pattern_length,
                    backtracking=self._allow_backtracking,
                )
            )
        return check(text, budget)

    def conforms(self, text: str, name: str, dialect: Dialect, budget: Budget) -> bool:
        """Return whether *text* has the format *name*, so far as formats are asserted.

        Raises:
            Exhausted: the budget has too few steps.
        """
        if not (self._assert_formats or dialect.asserts_format):
            return True
        key = (name, STANDARD_DIALECTS[dialect.draft].name)
        if key not in self._formats:
            self._formats[key] = build_format_check(*key)
        return self._formats[key](text, budget)
