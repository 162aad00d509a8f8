"""Parser of ECMA-262 patterns, with hooks for the translators.

A pattern is parsed once, from left to right (ECMA-262 section 22.2.1, `u` flag); each piece
is passed to a method of the subclass. Open groups are in a list, so that deep nesting cannot
exhaust the interpreter's stack.
"""

import re
from abc import ABC, abstractmethod
from enum import Enum, auto

from sidecheck_server.core.patterns.character_classes import (
    read_character_escape,
    read_class,
    read_set_escape,
)
from sidecheck_server.core.patterns.codepoints import LINE_TERMINATORS, Ranges, complement
from sidecheck_server.core.patterns.cursor import Cursor, PatternError, PatternFault, quote
from sidecheck_server.core.patterns.groups import (
    LOOK_AROUND,
    Group,
    GroupKind,
    Quantifier,
    read_group,
    read_group_name,
    read_quantifier,
)

__all__ = ["Assertion", "PatternReader"]

#: Deepest nesting: far above handwritten patterns, and far below RE2's own bound of 1,000.
DEEPEST = 200

REFERENCE = re.compile(r"[1-9][0-9]*")

DOT = complement(LINE_TERMINATORS)


class Assertion(Enum):
    """Zero-width assertions (section 22.2.1, Assertion)."""

    START = auto()
    END = auto()
    BOUNDARY = auto()
    NO_BOUNDARY = auto()


class PatternReader(ABC):
    """State of parsing one pattern; a subclass translates each piece."""

    #: Most groups open at once.
    deepest = DEEPEST

    def __init__(self, source: str, max_repetitions: int) -> None:
        self.cursor = Cursor(source)
        #: Most copies of an atom, with nested repetitions multiplied.
        self.max_repetitions = max_repetitions
        self.groups = [Group(GroupKind.WHOLE, 0, [])]
        # Copies of the last atom; None if there is nothing to repeat.
        self.copies: int | None = None
        self.captures = 0
        #: The capturing groups by name; several if they are in different alternatives.
        self.numbers: dict[str, list[int]] = {}
        #: The offset of each reference, and its target: a number, or "<" and a name.
        self.references: list[tuple[int, str]] = []

    @property
    def group(self) -> Group:
        """The innermost open group, or else the whole pattern."""
        return self.groups[-1]

    @abstractmethod
    def add_characters(self, members: Ranges) -> None:
        """Handle a character class with *members*."""

    @abstractmethod
    def add_assertion(self, assertion: Assertion) -> None:
        """Handle an assertion that is not look-around."""

    @abstractmethod
    def add_reference(self, start: int, target: str) -> None:
        """Handle a back-reference at the offset *start*; its group may come later."""

    @abstractmethod
    def add_quantifier(self, quantifier: Quantifier) -> None:
        """Repeat the last piece."""

    @abstractmethod
    def add_alternative(self) -> None:
        """Begin another alternative of the innermost group."""

    @abstractmethod
    def begin_group(self, kind: GroupKind, opened: int) -> Group:
        """Begin and return a group. The number of a capturing group is `captures`."""

    @abstractmethod
    def end_group(self, group: Group) -> None:
        """Add the complete *group* to its parent."""

    def read(self) -> None:
        """Read the whole pattern.

        Raises:
            PatternError: at the first syntax error; without one, the first deferred error.
        """
        readers = {
            "(": self.open_group,
            ")": self.close_group,
            "|": self.begin_alternative,
            "^": self.assert_start,
            "$": self.assert_end,
            "\\": self.read_escape,
            "[": self.read_class,
            ".": self.read_dot,
        }
        cursor = self.cursor
        while character := cursor.peek():
            if character in "*+?{" and self.repeat():
                continue
            cursor.take()
            reader = readers.get(character)
            if reader:
                reader()
            else:
                self.take_characters(((ord(character), ord(character)),))
        if len(self.groups) > 1:
            raise PatternError.at(
                self.group.opened,
                PatternFault.SYNTAX,
                "a group is not closed",
                r"end it with `)`, or write `\(` for the character",
            )
        self.check_references()
        if cursor.deferred:
            raise cursor.deferred

    def take_characters(self, members: Ranges) -> None:
        """Handle a character class, which can be repeated."""
        self.add_characters(members)
        self.copies = 1

    def take_assertion(self, assertion: Assertion) -> None:
        """Handle an assertion, which cannot be repeated."""
        self.add_assertion(assertion)
        self.copies = None

    def read_class(self) -> None:
        """Read a character class."""
        self.take_characters(read_class(self.cursor))

    def read_dot(self) -> None:
        """Read a `.`."""
        self.take_characters(DOT)

    def assert_start(self) -> None:
        """Read a `^`."""
        self.take_assertion(Assertion.START)

    def assert_end(self) -> None:
        """Read a `$`."""
        self.take_assertion(Assertion.END)

    def read_escape(self) -> None:
        """Read the rest of an escape after its backslash."""
        cursor = self.cursor
        start = cursor.offset - 1
        if cursor.accept("b"):
            self.take_assertion(Assertion.BOUNDARY)
        elif cursor.accept("B"):
            self.take_assertion(Assertion.NO_BOUNDARY)
        elif number := cursor.match(REFERENCE):
            self.refer(start, number[0])
        elif cursor.accept("k<"):
            self.refer(start, "<" + read_group_name(cursor, start))
        else:
            members = read_set_escape(cursor)
            if members is None:
                point = read_character_escape(cursor)
                members = ((point, point),)
            self.take_characters(members)

    def refer(self, start: int, target: str) -> None:
        """Handle a reference, which can be repeated; its group may come later."""
        self.references.append((start, target))
        self.add_reference(start, target)
        self.copies = 1

    def find_groups(self, target: str) -> list[int]:
        """Return the numbers of the groups that *target* refers to, after all were read."""
        if not target.isdecimal():
            return self.numbers.get(target[1:], [])
        # Ten digits exceed the possible number of groups.
        exists = len(target) < 10 and int(target) <= self.captures
        return [int(target)] if exists else []

    def check_references(self) -> None:
        """Check that the groups of all references exist (section 22.2.1.1)."""
        for start, target in self.references:
            if not self.find_groups(target):
                raise PatternError.at(
                    start,
                    PatternFault.SYNTAX,
                    "the reference has no group",
                    f"the pattern has {self.captures} capturing groups",
                )

    def repeat(self) -> bool:
        """Apply the next quantifier to the last atom; return whether there is one."""
        quantifier = read_quantifier(self.cursor)
        if quantifier is None:
            return False
        if self.copies is None:
            raise PatternError.at(
                quantifier.offset,
                PatternFault.SYNTAX,
                f"{quote(quantifier.source)} has nothing to repeat",
                "it must follow a character, a class or a group; "
                "put a backslash before the character itself",
            )
        # Nested bounds multiply; cap the product just above the limit.
        copies = min(self.copies * quantifier.copies, self.max_repetitions + 1)
        if copies > self.max_repetitions:
            self.cursor.defer(
                PatternError.over_bound(
                    quantifier.offset,
                    "pattern_repetitions",
                    self.max_repetitions,
                    f"{quote(quantifier.source)} makes too many copies",
                    "nested repetitions multiply; bound a length with `maxLength` instead",
                )
            )
        else:
            self.add_quantifier(quantifier)
        self.group.copies = max(self.group.copies, copies)
        self.copies = None
        return True

    def begin_alternative(self) -> None:
        """Read a `|`."""
        self.group.begin_alternative()
        self.add_alternative()
        self.copies = None

    def open_group(self) -> None:
        """Read the opening of a group."""
        parent, opened = self.group, self.cursor.offset - 1
        kind, name = read_group(self.cursor)
        if len(self.groups) > self.deepest:
            self.cursor.defer(
                PatternError.over_bound(
                    opened,
                    "pattern_depth",
                    self.deepest,
                    "too many groups are open",
                    "write the pattern flatter",
                )
            )
        if kind is GroupKind.CAPTURE:
            self.captures += 1
        if name is not None:
            parent.add_names({name}, opened)
            self.numbers.setdefault(name, []).append(self.captures)
        self.groups.append(self.begin_group(kind, opened))
        self.copies = None

    def close_group(self) -> None:
        """Read a `)`."""
        if len(self.groups) == 1:
            raise PatternError.at(
                self.cursor.offset - 1,
                PatternFault.SYNTAX,
                "a `)` closes no group",
                r"write `\)` for the character",
            )
        group = self.groups.pop()
        parent = self.group
        parent.add_names(group.all_names(), group.opened)
        self.end_group(group)
        if group.kind in LOOK_AROUND:
            self.copies = None
        else:
            parent.copies = max(parent.copies, group.copies)
            self.copies = group.copies
