r"""From a pattern of ECMA-262 to expressions of RE2 that match the same texts.

The pattern is read once, from left to right (ECMA-262 section 22.2.1, `u`
flag), and written as it is read. Open groups stand on a list, not on the
interpreter's stack, so no depth of nesting can exhaust it.

Three things make the translation exact:

- Characters and classes become explicit ranges of code points.
- Only whether a text matches is asked. So groups do not capture, and a lazy
  quantifier is a greedy one.
- Every expression is matched from the start of the text. One that is not
  anchored gets a prefix that passes whole characters; RE2's own search moves by
  bytes, and would see `\B` hold in the middle of a character.

RE2 has no look-around. A look-ahead right after the `^` that a pattern begins
with needs none: there is one place where it can stand, so it is a condition of
its own on the text. That holds while no `|` stands beside it.
"""

import re

from sidecheck_server.core.patterns.classes import read_class
from sidecheck_server.core.patterns.codepoints import (
    EVERYTHING,
    LINE_TERMINATORS,
    complement,
    spell,
)
from sidecheck_server.core.patterns.cursor import Cursor
from sidecheck_server.core.patterns.escapes import read_character_escape, read_set_escape
from sidecheck_server.core.patterns.groups import (
    LOOK_AHEAD,
    LOOK_AROUND,
    Condition,
    Group,
    GroupKind,
    Translation,
    read_group,
    read_group_name,
)
from sidecheck_server.core.patterns.quantifiers import MOST_COPIES, read_quantifier
from sidecheck_server.core.patterns.refusals import PatternFault, PatternRefused, quote

__all__ = ["translate"]

#: Far above any pattern that a person wrote, far below RE2's own bound of 1,000.
DEEPEST = 200

REFERENCE = re.compile(r"[1-9][0-9]*")

PASS_ANY = spell(EVERYTHING) + "*?"
DOT = spell(complement(LINE_TERMINATORS))


def translate(source: str) -> Translation:
    """Return what decides the pattern *source*.

    Raises PatternRefused: for a pattern that is not ECMA-262 where it first goes
    wrong; for any other at the first thing that is valid and cannot be run.
    """
    return Translator(source).translate()


class Translator:
    """The state of one translation."""

    def __init__(self, source: str) -> None:
        self.cursor = Cursor(source)
        self.groups = [Group(GroupKind.WHOLE, 0, [])]
        # How often RE2 unrolls the atom just read; None where nothing can be repeated.
        self.copies: int | None = None
        self.captures = 0
        self.references: list[tuple[int, str]] = []

    @property
    def group(self) -> Group:
        return self.groups[-1]

    def translate(self) -> Translation:
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
                self.write_atom(spell(((ord(character), ord(character)),)))
        if len(self.groups) > 1:
            raise PatternRefused.at(
                self.group.opened,
                PatternFault.SYNTAX,
                "a group is not closed",
                r"end it with `)`, or write `\(` for the character",
            )
        self.check_references()
        if cursor.deferred:
            raise cursor.deferred
        return finish(self.group)

    def write_atom(self, expression: str) -> None:
        self.group.write(expression)
        self.copies = 1

    def write_assertion(self, expression: str) -> None:
        self.group.write(expression)
        self.copies = None

    def read_class(self) -> None:
        self.write_atom(spell(read_class(self.cursor)))

    def read_dot(self) -> None:
        self.write_atom(DOT)

    def assert_start(self) -> None:
        group = self.group
        begins = group.at_start or group.is_untouched()
        self.write_assertion(r"\A")
        group.at_start = begins
        group.anchored = group.anchored or begins

    def assert_end(self) -> None:
        self.write_assertion(r"\z")

    def read_escape(self) -> None:
        cursor = self.cursor
        start = cursor.offset - 1
        if cursor.accept("b"):
            self.write_assertion(r"\b")
        elif cursor.accept("B"):
            self.write_assertion(r"\B")
        elif number := cursor.match(REFERENCE):
            self.refer(start, number[0])
        elif cursor.accept("k<"):
            self.refer(start, "<" + read_group_name(cursor, start))
        else:
            members = read_set_escape(cursor)
            if members is None:
                point = read_character_escape(cursor)
                members = ((point, point),)
            self.write_atom(spell(members))

    def refer(self, start: int, target: str) -> None:
        """Note a reference; the group that it is to may come later."""
        self.references.append((start, target))
        self.write_atom("")

    def check_references(self) -> None:
        """Refuse references to no group, and defer the others (section 22.2.1.1)."""
        names = {"<" + name for name in self.group.all_names()}
        for start, target in self.references:
            # A number longer than any pattern is not a number of a group.
            numbered = target.isdecimal() and len(target) < 10 and int(target) <= self.captures
            if not numbered and target not in names:
                raise PatternRefused.at(
                    start,
                    PatternFault.SYNTAX,
                    "this refers to a group that is not there",
                    f"the pattern has {self.captures} capturing groups",
                )
            self.cursor.defer(
                PatternRefused.at(
                    start,
                    PatternFault.NOT_LINEAR,
                    "a back-reference cannot be matched in linear time",
                    "spell out what it may repeat",
                )
            )

    def repeat(self) -> bool:
        """Apply the quantifier that comes next to the atom just read; False if none comes."""
        quantifier = read_quantifier(self.cursor)
        if quantifier is None:
            return False
        if self.copies is None:
            raise PatternRefused.at(
                quantifier.offset,
                PatternFault.SYNTAX,
                f"{quote(quantifier.source)} has nothing to repeat",
                "it must follow a character, a class or a group; "
                "put a backslash before the character itself",
            )
        # Nested bounds multiply; past the limit it no longer matters by how much.
        copies = min(self.copies * quantifier.copies, MOST_COPIES + 1)
        if copies > MOST_COPIES:
            self.cursor.defer(
                PatternRefused.at(
                    quantifier.offset,
                    PatternFault.TOO_LARGE,
                    f"{quote(quantifier.source)} makes more than {MOST_COPIES} copies",
                    "nested repetitions multiply; bound a length with `maxLength` instead",
                )
            )
        self.group.write(quantifier.spelling)
        self.group.copies = max(self.group.copies, copies)
        self.copies = None
        return True

    def begin_alternative(self) -> None:
        group = self.group
        self.write_assertion("|")
        group.begin_alternative()
        if group.conditions:
            self.defer_look_around(group.first_condition)

    def open_group(self) -> None:
        parent, opened = self.group, self.cursor.offset - 1
        kind, name = read_group(self.cursor)
        if len(self.groups) > DEEPEST:
            self.cursor.defer(
                PatternRefused.at(
                    opened,
                    PatternFault.TOO_LARGE,
                    f"groups are nested deeper than {DEEPEST}",
                    "write the pattern flatter",
                )
            )
        if kind is GroupKind.CAPTURE:
            self.captures += 1
        if name is not None:
            parent.add_names({name}, opened)
        if kind not in LOOK_AROUND:
            parent.write("(?:")
            self.groups.append(Group(kind, opened, parent.output))
        elif kind in LOOK_AHEAD and parent.at_start:
            self.groups.append(Group(kind, opened, [], at_start=True))
        else:
            self.defer_look_around(opened)
            self.groups.append(Group(kind, opened, []))
        self.copies = None

    def close_group(self) -> None:
        if len(self.groups) == 1:
            raise PatternRefused.at(
                self.cursor.offset - 1,
                PatternFault.SYNTAX,
                "a `)` closes no group",
                r"write `\)` for the character",
            )
        group = self.groups.pop()
        parent = self.group
        parent.add_names(group.all_names(), group.opened)
        if group.kind in LOOK_AROUND:
            parent.add_condition(
                Condition(group.kind is GroupKind.NOT_AHEAD, finish(group)), group.opened
            )
            self.copies = None
        else:
            parent.write(")")
            parent.copies = max(parent.copies, group.copies)
            self.copies = group.copies

    def defer_look_around(self, offset: int) -> None:
        self.cursor.defer(
            PatternRefused.at(
                offset,
                PatternFault.NOT_LINEAR,
                "this look-around cannot be matched in linear time",
                "a look-ahead must stand right after a leading `^`, with no `|` beside it; "
                "or state the condition in a schema under `allOf` or `not`",
            )
        )


def finish(group: Group) -> Translation:
    """Return the translation of a whole pattern, or of a look-ahead, that has been read."""
    floats = group.kind is GroupKind.WHOLE and (group.branched or not group.anchored)
    prefix = PASS_ANY if floats else ""
    return Translation(rf"\A{prefix}(?:{''.join(group.output)})", tuple(group.conditions))
