"""Plain parts of a pattern, as a tree."""

from dataclasses import dataclass, field
from functools import lru_cache
from typing import TypeAlias

from sidecheck_server.core.patterns.codepoints import Ranges
from sidecheck_server.core.patterns.cursor import PatternError
from sidecheck_server.core.patterns.groups import LOOK_AROUND, Group, GroupKind, Quantifier
from sidecheck_server.core.patterns.reading import Assertion, PatternReader

__all__ = ["Choice", "Piece", "Repetition", "Sketch", "read_sketch"]

_MAX_REPETITIONS = 10_000


@dataclass(slots=True)
class Repetition:
    """Piece of a pattern, with its minimum and maximum count; None is no maximum."""

    piece: "Piece"
    least: int = 1
    most: int | None = 1


@dataclass(slots=True)
class Choice:
    """The alternatives of a group, each a sequence."""

    alternatives: list[list[Repetition]] = field(default_factory=lambda: [[]])


Piece: TypeAlias = Ranges | Choice


@dataclass(slots=True)
class Sketch:
    """Plain parts of a pattern."""

    whole: Choice = field(default_factory=Choice)
    #: The groups that only look ahead or behind.
    looks: list[Choice] = field(default_factory=list)
    #: The distinct classes of characters, in order.
    classes: dict[Ranges, None] = field(default_factory=dict)
    #: The bounds of its repetitions.
    counts: set[int] = field(default_factory=set)


@lru_cache(maxsize=512)
def read_sketch(pattern: str) -> Sketch | None:
    """Return the sketch of *pattern*; None if it is not a pattern."""
    reader = _SketchReader(pattern)
    try:
        reader.read()
    except PatternError:
        return None
    return reader.sketch


class _SketchReader(PatternReader):
    def __init__(self, source: str) -> None:
        super().__init__(source, max_repetitions=_MAX_REPETITIONS)
        self.sketch = Sketch()
        self._choices = [self.sketch.whole]

    def _add(self, piece: Piece) -> None:
        self._choices[-1].alternatives[-1].append(Repetition(piece))

    def add_characters(self, members: Ranges) -> None:
        self.sketch.classes[members] = None
        self._add(members)

    def add_assertion(self, assertion: Assertion) -> None:
        """Ignore the assertion."""

    def add_reference(self, start: int, target: str) -> None:  # noqa: ARG002  (overrides)
        self._add(())

    def add_quantifier(self, quantifier: Quantifier) -> None:
        last = self._choices[-1].alternatives[-1][-1]
        last.least, last.most = quantifier.least, quantifier.most
        self.sketch.counts |= {quantifier.least, quantifier.most or quantifier.least}

    def add_alternative(self) -> None:
        self._choices[-1].alternatives.append([])

    def begin_group(self, kind: GroupKind, opened: int) -> Group:
        self._choices.append(Choice())
        return Group(kind, opened, [])

    def end_group(self, group: Group) -> None:
        choice = self._choices.pop()
        if group.kind in LOOK_AROUND:
            self.sketch.looks.append(choice)
            self._add(())
        else:
            self._add(choice)
