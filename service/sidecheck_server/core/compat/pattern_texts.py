"""Short texts that a pattern matches, as far as its plain parts tell.

A guess: look-around, back-references and boundaries are ignored, and callers match the
texts themselves.
"""

from dataclasses import dataclass, field
from functools import lru_cache
from typing import TypeAlias

from sidecheck_server.core.patterns.codepoints import Ranges
from sidecheck_server.core.patterns.cursor import PatternError
from sidecheck_server.core.patterns.groups import LOOK_AROUND, Group, GroupKind, Quantifier
from sidecheck_server.core.patterns.reading import Assertion, PatternReader

__all__ = ["pattern_texts"]

_VARIANTS = 6
_LONGEST = 200


@dataclass(slots=True)
class _Repeated:
    """A piece with the least and the most times that it occurs; None is any number."""

    piece: "_Piece"
    least: int = 1
    most: int | None = 1


@dataclass(slots=True)
class _Choice:
    """The alternatives of a group, each a sequence."""

    alternatives: list[list[_Repeated]] = field(default_factory=lambda: [[]])


_Piece: TypeAlias = Ranges | _Choice


@lru_cache(maxsize=512)
def pattern_texts(pattern: str) -> tuple[str, ...]:
    """Return a few distinct texts that *pattern* may match."""
    reader = _Sketch(pattern)
    try:
        reader.read()
    except PatternError:
        return ()
    texts = (_spell(reader.choices[0], variant) for variant in range(_VARIANTS))
    return tuple(dict.fromkeys(text[:_LONGEST] for text in texts))


class _Sketch(PatternReader):
    """Reads the plain parts of a pattern."""

    def __init__(self, source: str) -> None:
        super().__init__(source, max_repetitions=10_000)
        self.choices = [_Choice()]

    def _add(self, piece: _Piece) -> None:
        self.choices[-1].alternatives[-1].append(_Repeated(piece))

    def add_characters(self, members: Ranges) -> None:
        self._add(members)

    def add_assertion(self, assertion: Assertion) -> None:
        """Ignore the assertion."""

    def add_reference(self, start: int, target: str) -> None:  # noqa: ARG002  (overrides)
        self._add(())

    def add_quantifier(self, quantifier: Quantifier) -> None:
        last = self.choices[-1].alternatives[-1][-1]
        last.least, last.most = quantifier.least, quantifier.most

    def add_alternative(self) -> None:
        self.choices[-1].alternatives.append([])

    def begin_group(self, kind: GroupKind, opened: int) -> Group:
        self.choices.append(_Choice())
        return Group(kind, opened, [])

    def end_group(self, group: Group) -> None:
        choice = self.choices.pop()
        self._add(() if group.kind in LOOK_AROUND else choice)


def _spell(piece: _Piece, variant: int) -> str:
    if not isinstance(piece, _Choice):
        return _character(piece, variant)
    sequence = piece.alternatives[variant % len(piece.alternatives)]
    text = ""
    for each in sequence:
        # Odd variants have as little as possible, even ones one more where they may.
        least = each.least if variant % 2 else max(each.least, 1)
        count = least if each.most is None else min(least, each.most)
        if variant >= 4 and (each.most is None or each.most > count):
            count += 1
        for number in range(min(count, _LONGEST)):
            text += _spell(each.piece, variant + number)
            if len(text) > _LONGEST:
                return text
    return text


_PRINTABLE = ((97, 122), (48, 57), (65, 90), (32, 126))
"""What is taken of a class that has it: lower-case letters, digits, and so on."""


def _character(members: Ranges, variant: int) -> str:
    if not members:
        return ""
    for low, high in (_PRINTABLE[variant // 2 % len(_PRINTABLE)], *_PRINTABLE):
        for first, last in members:
            begin, end = max(first, low), min(last, high)
            if begin <= end:
                return chr(begin + variant % (end - begin + 1))
    return chr(members[0][0])
