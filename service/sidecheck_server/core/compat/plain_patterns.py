"""Patterns that any engine for regular expressions with Unicode reads alike.

Classes are spelled as ranges of code points: other engines have another idea of `.` and
of what bounds a word, and read `[a&&b]` as an intersection.
"""

from functools import lru_cache

from sidecheck_server.core.patterns.codepoints import WORD, Ranges
from sidecheck_server.core.patterns.cursor import PatternError
from sidecheck_server.core.patterns.groups import Group, GroupKind, Quantifier
from sidecheck_server.core.patterns.reading import Assertion, PatternReader

__all__ = ["plain_pattern"]

_MAX_REPETITIONS = 10**9
"""No bound: the pattern is not run here."""


@lru_cache(maxsize=512)
def plain_pattern(pattern: str) -> str | None:
    """Return a pattern that matches what *pattern* matches, or None if there is none.

    It is one of ECMA-262 with the `u` flag too. There is none for back-references: to
    one of a group that did not participate, engines differ.
    """
    writer = _Writer(pattern, _MAX_REPETITIONS)
    try:
        writer.read()
    except PatternError:
        return None
    return None if writer.references else "".join(writer.parts)


def _spell(members: Ranges) -> str:
    """Return a class of *members*. JSON has no lone surrogates, nor have other engines."""
    ranges = [
        part
        for first, last in members
        for part in ((first, min(last, 0xD7FF)), (max(first, 0xE000), last))
        if part[0] <= part[1]
    ]
    if len(ranges) == 1 and ranges[0][0] == ranges[0][1]:
        return _spell_point(ranges[0][0])
    spelled = (
        _spell_point(first) + ("" if first == last else f"-{_spell_point(last)}")
        for first, last in ranges
    )
    return f"[{''.join(spelled)}]"


def _spell_point(point: int) -> str:
    letter = chr(point)
    return letter if letter.isascii() and letter.isalnum() else f"\\u{{{point:x}}}"


_WORD = _spell(WORD)
_ASSERTIONS = {
    Assertion.START: "^",
    Assertion.END: "$",
    Assertion.BOUNDARY: f"(?:(?<={_WORD})(?!{_WORD})|(?<!{_WORD})(?={_WORD}))",
    Assertion.NO_BOUNDARY: f"(?:(?<={_WORD})(?={_WORD})|(?<!{_WORD})(?!{_WORD}))",
}
_OPENINGS = {
    GroupKind.AHEAD: "(?=",
    GroupKind.NOT_AHEAD: "(?!",
    GroupKind.BEHIND: "(?<=",
    GroupKind.NOT_BEHIND: "(?<!",
}


class _Writer(PatternReader):
    """Writes the pattern that it reads."""

    def __init__(self, source: str, max_repetitions: int) -> None:
        super().__init__(source, max_repetitions)
        self.parts: list[str] = []

    def add_characters(self, members: Ranges) -> None:
        self.parts.append(_spell(members))

    def add_assertion(self, assertion: Assertion) -> None:
        self.parts.append(_ASSERTIONS[assertion])

    def add_reference(self, start: int, target: str) -> None:
        """Write nothing: the reader keeps the reference."""

    def add_quantifier(self, quantifier: Quantifier) -> None:
        self.parts.append(quantifier.source)

    def add_alternative(self) -> None:
        self.parts.append("|")

    def begin_group(self, kind: GroupKind, opened: int) -> Group:
        # Without references, it does not matter what captures.
        self.parts.append(_OPENINGS.get(kind, "(?:"))
        return Group(kind, opened, [])

    def end_group(self, group: Group) -> None:  # noqa: ARG002  (overrides)
        self.parts.append(")")
