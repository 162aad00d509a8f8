"""Checks of strings by patterns and formats, charged to a budget in advance."""

from collections.abc import Callable
from typing import TypeAlias

from sidecheck_server.core.formats import format_checker
from sidecheck_server.core.limits import LONGEST_SEARCH, Budget, Exhausted, Limits
from sidecheck_server.core.patterns import UNBOUNDED, Pattern, compile_pattern
from sidecheck_server.core.schemas.dialects import STANDARD_DIALECTS, Dialect

__all__ = ["TextCheck", "TextChecks", "build_format_check", "build_pattern_check"]

#: Returns whether a text passes, after charging the steps to a budget.
TextCheck: TypeAlias = Callable[[str, Budget], bool]

_ENTRY = 40
"""Steps of a check, regardless of the length of the text."""

_VISITS = 4
"""Instructions of a pattern's program visited in one step in the worst case, in which RE2
creates a state for every byte, exhausts its memory for states, and continues without them."""

_CHARACTERS = 4
"""Characters that a format check reads in one step in the worst case."""

_EXPENSIVE = {"regex": 4_000, "idn-hostname": 4_000, "idn-email": 4_000, "iri": 400}
"""Steps for 32 characters, for formats that parse the text or look up each character."""

_EXPENSIVE_CHARACTERS = 32

_LONGEST = 1024
"""Longest text that such formats accept, in characters."""


def build_pattern_check(pattern: Pattern) -> TextCheck:
    """Return the search for *pattern*, charged with program size times text length.

    An automaton cannot be interrupted, so the steps are charged in advance. A backtracking
    pattern runs in a process that can be killed, and is charged like an automaton.
    """
    search, match, match_ascii = pattern.search, pattern.match, pattern.match_ascii
    cost = 1 if pattern.cost >= UNBOUNDED else pattern.cost
    if match_ascii is not None:

        def matches_sequence(text: str, budget: Budget) -> bool:
            is_ascii = text.isascii()
            steps = cost * (len(text) if is_ascii else 4 * len(text)) // _VISITS
            budget[0] -= _ENTRY + (steps if steps < LONGEST_SEARCH else LONGEST_SEARCH)  # noqa: FURB136  (no call)
            if budget[0] < 0:
                raise Exhausted
            return match_ascii(text) is not None if is_ascii else search(text)

        return matches_sequence

    def matches(text: str, budget: Budget) -> bool:
        # The program reads UTF-8, with up to four bytes for each character.
        steps = cost * (len(text) if text.isascii() else 4 * len(text)) // _VISITS
        budget[0] -= _ENTRY + (steps if steps < LONGEST_SEARCH else LONGEST_SEARCH)  # noqa: FURB136  (no call)
        if budget[0] < 0:
            raise Exhausted
        if match is None:
            return search(text)
        # As `search`, but without two Python frames.
        try:
            data = text.encode()
        except UnicodeEncodeError:
            return search(text)
        return match(data) is not None

    return matches


def build_format_check(name: str, dialect: str) -> TextCheck:
    """Return the check of the format *name*, charged by the length of the text.

    A format that *dialect* does not define accepts every text.
    """
    conforms = format_checker(name, dialect)
    if conforms is None:
        return _accept
    entry = _EXPENSIVE.get(name, 0)

    def conforms_within_budget(text: str, budget: Budget) -> bool:
        budget[0] -= _ENTRY + len(text) // _CHARACTERS
        if entry and (name == "regex" or not text.isascii()):
            budget[0] -= entry * (1 + min(len(text), _LONGEST) // _EXPENSIVE_CHARACTERS)
        if budget[0] < 0:
            raise Exhausted
        return conforms(text)

    return conforms_within_budget


def _accept(_text: str, _budget: Budget) -> bool:
    return True


class TextChecks:
    """Cache of the pattern and format checks of one schema.

    *limits* bound the patterns; *assert_formats* makes ``format`` an assertion in dialects
    where that is optional.
    """

    def __init__(self, limits: Limits, *, assert_formats: bool) -> None:
        self._limits = limits
        self._assert_formats = assert_formats
        self._patterns: dict[str, TextCheck] = {}
        self._formats: dict[tuple[str, str], TextCheck] = {}

    def pattern_check(self, pattern: str) -> TextCheck:
        """Return the check whether *pattern* matches anywhere in a text (ECMA-262).

        Raises:
            PatternError: the pattern cannot be compiled.
        """
        check = self._patterns.get(pattern)
        if check is None:
            check = self._patterns[pattern] = build_pattern_check(
                compile_pattern(pattern, self._limits)
            )
        return check

    def matches(self, pattern: str, text: str, budget: Budget) -> bool:
        """Return whether *pattern* matches anywhere in *text*.

        Raises:
            Exhausted: *budget* has too few steps.
            PatternError: as `pattern_check`.
        """
        check = self._patterns.get(pattern)
        return (self.pattern_check(pattern) if check is None else check)(text, budget)

    def conforms(self, text: str, name: str, dialect: Dialect, budget: Budget) -> bool:
        """Return whether *text* has the format *name*; True if formats are not asserted.

        Raises:
            Exhausted: *budget* has too few steps.
        """
        if not (self._assert_formats or dialect.asserts_format):
            return True
        key = (name, STANDARD_DIALECTS[dialect.draft].name)
        if key not in self._formats:
            self._formats[key] = build_format_check(*key)
        return self._formats[key](text, budget)
