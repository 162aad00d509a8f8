r"""From a pattern of ECMA-262 to expressions of RE2 that match the same texts.

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

from sidecheck_server.core.patterns.codepoints import EVERYTHING, Ranges, spell
from sidecheck_server.core.patterns.faults import PatternFault, PatternRefused
from sidecheck_server.core.patterns.groups import (
    LOOK_AHEAD,
    LOOK_AROUND,
    Condition,
    Group,
    GroupKind,
    Translation,
)
from sidecheck_server.core.patterns.quantifiers import Quantifier
from sidecheck_server.core.patterns.reading import Assertion, PatternReader

__all__ = ["translate"]

#: The longest expression, in characters, as long as two dozen classes of every letter.
LONGEST = 1 << 18

PASS_ANY = spell(EVERYTHING) + "*?"

ASSERTIONS = {
    Assertion.START: r"\A",
    Assertion.END: r"\z",
    Assertion.BOUNDARY: r"\b",
    Assertion.NO_BOUNDARY: r"\B",
}


def translate(source: str) -> Translation:
    """Return what decides the pattern *source*.

    Raises PatternRefused: for a pattern that is not ECMA-262 where it first goes
    wrong; for any other at the first thing that is valid and cannot be run.
    """
    translator = Translator(source)
    translator.read()
    return finish(translator.group)


class Translator(PatternReader):
    """The state of one translation, written as the pattern is read."""

    def __init__(self, source: str) -> None:
        super().__init__(source)
        #: The characters of all classes that have been written.
        self.length = 0

    def add_characters(self, members: Ranges) -> None:
        """Write one class, while there is room for it."""
        self.group.write(spell(members) if self.length <= LONGEST else "")
        self.length += len(self.group.output[-1])
        if self.length > LONGEST:
            self.cursor.defer(
                PatternRefused.at(
                    self.cursor.offset,
                    PatternFault.TOO_LARGE,
                    "the classes up to here have too many ranges",
                    "name fewer Unicode properties, or fewer times",
                )
            )

    def add_assertion(self, assertion: Assertion) -> None:
        """Write the assertion, and note whether the place is the start of the text."""
        group = self.group
        begins = assertion is Assertion.START and (group.at_start or group.is_untouched())
        group.write(ASSERTIONS[assertion])
        group.at_start = begins
        group.anchored = group.anchored or begins

    def add_reference(self, start: int, target: str) -> None:  # noqa: ARG002 - none can be run
        """Defer the refusal of a reference: the group that it is to may come later."""
        self.group.write("")
        self.cursor.defer(
            PatternRefused.at(
                start,
                PatternFault.NOT_LINEAR,
                "a back-reference cannot be matched in linear time",
                "spell out what it may repeat",
            )
        )

    def add_quantifier(self, quantifier: Quantifier) -> None:
        """Write the quantifier behind its atom."""
        self.group.write(quantifier.spelling)

    def add_alternative(self) -> None:
        """Write the bar; no look-ahead is a condition on the whole beside one."""
        group = self.group
        group.write("|")
        if group.conditions:
            self.defer_look_around(group.first_condition)

    def begin_group(self, kind: GroupKind, opened: int) -> Group:
        """Write the opening of an ordinary group; any other is written apart."""
        parent = self.group
        if kind not in LOOK_AROUND:
            parent.write("(?:")
            return Group(kind, opened, parent.output)
        if kind in LOOK_AHEAD and parent.at_start:
            return Group(kind, opened, [], at_start=True)
        self.defer_look_around(opened)
        return Group(kind, opened, [])

    def end_group(self, group: Group) -> None:
        """Close an ordinary group; a look-ahead becomes a condition."""
        if group.kind in LOOK_AROUND:
            self.group.add_condition(
                Condition(group.kind is GroupKind.NOT_AHEAD, finish(group)), group.opened
            )
        else:
            self.group.write(")")

    def defer_look_around(self, offset: int) -> None:
        """Defer the refusal of a look-around that is no condition."""
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
