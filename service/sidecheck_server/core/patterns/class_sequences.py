r"""Patterns that are a sequence of character classes after `^`, for `re`.

Most patterns of tools are such, for example `^[A-Z]{3}-\d+$`. A match by `re` takes a fifth of the
time of one by RE2 if the text is short. `re` backtracks where a repeated class could also match the
beginning of the rest; such sequences are left to RE2, and the others are written with possessive
quantifiers, so that each character is read once.

Only texts in ASCII are matched so: their code points are those of any reading of UTF-16.
"""

import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from sidecheck_server.core.patterns.codepoints import Ranges
from sidecheck_server.core.patterns.groups import LOOK_AROUND, Group, GroupKind, Quantifier
from sidecheck_server.core.patterns.reading import Assertion, PatternReader

__all__ = ["AsciiMatch", "AsciiMatcher", "build_ascii_matcher"]

#: Matches a text in ASCII; returns None if it does not match.
AsciiMatch: TypeAlias = Callable[[str], object | None]

_MOST_CLASSES = 64
"""Most classes of a sequence. `re` keeps the last 512 expressions, of any size."""

_MOST_COPIES = 1 << 31
"""Counts below this one are those that `re` accepts."""

_LAST_ASCII = 0x7F

_UNLIMITED_REPETITIONS = 10**9


@dataclass(frozen=True, slots=True)
class AsciiMatcher:
    """A sequence for `re`, and its size in bytes."""

    match: AsciiMatch
    memory: int


@dataclass(frozen=True, slots=True)
class _Repeated:
    """A class, reduced to ASCII, and how often it is repeated."""

    members: Ranges
    least: int = 1
    most: int | None = 1

    @property
    def varies(self) -> bool:
        return self.least != self.most

    def overlaps(self, other: "_Repeated") -> bool:
        return any(
            first <= other_last and other_first <= last
            for first, last in self.members
            for other_first, other_last in other.members
        )

    def spell(self) -> str:
        members = "".join(f"\\x{first:02x}-\\x{last:02x}" for first, last in self.members)
        if not members:
            # Nothing in ASCII: never matches, but may be left out.
            return r"(?!)" if self.least else ""
        count = f"{{{self.least},{'' if self.most is None else self.most}}}+" if self.varies else ""
        if not self.varies and self.least != 1:
            count = f"{{{self.least}}}"
        return f"[{members}]{count}"


def build_ascii_matcher(source: str) -> AsciiMatcher | None:
    """Return the matcher for texts in ASCII of the valid pattern *source*.

    None if it is not a sequence of classes, or if `re` might have to backtrack.
    """
    if not source.startswith("^"):
        return None
    reader = _SequenceReader(source)
    reader.read()
    if reader.is_other or len(reader.classes) > _MOST_CLASSES or _may_backtrack(reader.classes):
        return None
    expression = "".join(repeated.spell() for repeated in reader.classes)
    compiled = re.compile(expression + (r"\Z" if reader.has_end else ""))
    return AsciiMatcher(compiled.match, sys.getsizeof(compiled) + len(expression))


def _may_backtrack(classes: Sequence[_Repeated]) -> bool:
    """Return whether a repeated class can match what may follow it."""
    for index, repeated in enumerate(classes):
        if not repeated.varies:
            continue
        for following in classes[index + 1 :]:
            if repeated.overlaps(following):
                return True
            if following.least:
                break
    return False


class _SequenceReader(PatternReader):
    """Reads a pattern, and notes whether it is a sequence of classes after `^`."""

    def __init__(self, source: str) -> None:
        super().__init__(source, _UNLIMITED_REPETITIONS)
        self.classes: list[_Repeated] = []
        self.has_start = False
        self.has_end = False
        #: Whether the pattern has other parts.
        self.is_other = False
        #: Whether the last piece is a class.
        self._follows_class = False

    def add_characters(self, members: Ranges) -> None:
        """Add a class."""
        self.is_other |= self.has_end
        in_ascii = [(first, min(last, _LAST_ASCII)) for first, last in members]
        self.classes.append(_Repeated(tuple((a, b) for a, b in in_ascii if a <= _LAST_ASCII)))
        self._follows_class = True

    def add_assertion(self, assertion: Assertion) -> None:
        """Note `^` at the start and `$` at the end."""
        is_inside = len(self.groups) > 1
        if assertion is Assertion.START and not (self.has_start or self.classes or is_inside):
            self.has_start = True
        elif assertion is Assertion.END and not is_inside:
            self.has_end = True
        else:
            self.is_other = True

    def add_reference(self, start: int, target: str) -> None:  # noqa: ARG002  (of the base)
        """Note another part."""
        self.is_other = True

    def add_quantifier(self, quantifier: Quantifier) -> None:
        """Repeat the last class; a group cannot be repeated in a sequence."""
        if not self._follows_class or max(quantifier.least, quantifier.most or 0) >= _MOST_COPIES:
            self.is_other = True
            return
        members = self.classes.pop().members
        self.classes.append(_Repeated(members, quantifier.least, quantifier.most))

    def add_alternative(self) -> None:
        """Note another part."""
        self.is_other = True

    def begin_group(self, kind: GroupKind, opened: int) -> Group:
        """Begin a group, whose classes are those of the sequence."""
        self.is_other |= kind in LOOK_AROUND or self.has_end
        return Group(kind, opened, [])

    def end_group(self, group: Group) -> None:  # noqa: ARG002  (of the base)
        """End a group."""
        self._follows_class = False
