"""Groups: what a `(` opens, and what is known of it while it is open.

ECMA-262 section 22.2.1 (Atom, Assertion, GroupSpecifier).
"""

import re
from dataclasses import dataclass, field
from enum import Enum, auto

from sidecheck_server.core.patterns.cursor import Cursor
from sidecheck_server.core.patterns.escapes import read_unicode_escape
from sidecheck_server.core.patterns.faults import PatternFault, PatternRefused, quote

__all__ = [
    "LOOK_AHEAD",
    "LOOK_AROUND",
    "Condition",
    "Group",
    "GroupKind",
    "Translation",
    "read_group",
    "read_group_name",
]


class GroupKind(Enum):
    """What a group is for."""

    WHOLE = auto()
    PLAIN = auto()
    CAPTURE = auto()
    AHEAD = auto()
    NOT_AHEAD = auto()
    BEHIND = auto()
    NOT_BEHIND = auto()


LOOK_AHEAD = frozenset({GroupKind.AHEAD, GroupKind.NOT_AHEAD})
LOOK_AROUND = LOOK_AHEAD | {GroupKind.BEHIND, GroupKind.NOT_BEHIND}

#: The longer opening first where one begins another.
OPENINGS = {
    "?:": GroupKind.PLAIN,
    "?=": GroupKind.AHEAD,
    "?!": GroupKind.NOT_AHEAD,
    "?<=": GroupKind.BEHIND,
    "?<!": GroupKind.NOT_BEHIND,
}

REMEDIES = {
    "P": "a named group is `(?<name>...)`",
    ">": "atomic groups are not ECMA-262; write `(?:...)`",
    "#": "patterns have no comments",
}
INLINE_FLAGS = "flags cannot be set inside a pattern; spell out what they would match, as in `[Aa]`"

NAME_PART = re.compile(r"[^\\>]+")


@dataclass(frozen=True, slots=True)
class Condition:
    """A leading look-ahead: what must match, or must not, where the text starts."""

    negated: bool
    translation: "Translation"


@dataclass(frozen=True, slots=True)
class Translation:
    """An expression of RE2 to be matched from the start of the text, and its conditions."""

    expression: str
    conditions: tuple[Condition, ...]


@dataclass(slots=True)
class Group:
    """A group that is being read.

    Ordinary groups write to the output of the look-around, or whole pattern,
    that they stand in; those have an output of their own.
    """

    kind: GroupKind
    opened: int
    output: list[str]
    #: Whether the place in the pattern can only be the start of the text.
    at_start: bool = False
    #: Whether the group begins with `^`.
    anchored: bool = False
    #: Whether a `|` stands directly in it.
    branched: bool = False
    #: Where its first condition stands.
    first_condition: int = -1
    conditions: list[Condition] = field(default_factory=list)
    #: How often RE2 unrolls what is repeated most inside.
    copies: int = 1
    #: Names of groups in this alternative, and in the ones before it.
    names: set[str] = field(default_factory=set)
    other_names: set[str] = field(default_factory=set)

    def is_untouched(self) -> bool:
        """Say whether this is the whole pattern and nothing of it has been read."""
        return self.kind is GroupKind.WHOLE and not self.output

    def write(self, expression: str) -> None:
        """Write something that may take up text, so that the start of the text is passed."""
        self.output.append(expression)
        self.at_start = False

    def add_condition(self, condition: Condition, offset: int) -> None:
        """Add a look-ahead that stands at *offset*."""
        if not self.conditions:
            self.first_condition = offset
        self.conditions.append(condition)

    def begin_alternative(self) -> None:
        """Note a `|`: names may come again, since only one alternative takes part."""
        self.branched = True
        self.other_names |= self.names
        self.names = set()

    def add_names(self, names: set[str], offset: int) -> None:
        """Add the *names* of groups inside; raises PatternRefused for one that is there already."""
        if twice := names & self.names:
            raise PatternRefused.at(
                offset,
                PatternFault.SYNTAX,
                f"a second group named {quote(min(twice))}",
                "give each group a name of its own",
            )
        self.names |= names

    def all_names(self) -> set[str]:
        """Return the names of the groups inside."""
        return self.names | self.other_names


def read_group(cursor: Cursor) -> tuple[GroupKind, str | None]:
    """Pass what follows a `(` and return the kind of the group, and its name if it has one.

    Raises PatternRefused for an opening that ECMA-262 does not have.
    """
    opened = cursor.offset - 1
    if cursor.peek() != "?":
        return GroupKind.CAPTURE, None
    for opening, kind in OPENINGS.items():
        if cursor.accept(opening):
            return kind, None
    if cursor.accept("?<"):
        return GroupKind.CAPTURE, read_group_name(cursor, opened)
    cursor.take()
    sign = cursor.peek()
    raise PatternRefused.at(
        opened,
        PatternFault.SYNTAX,
        f"{quote('(?' + sign)} opens no group of ECMA-262",
        INLINE_FLAGS if sign in set("aimsuxnU-") else REMEDIES.get(sign, r"a `(` itself is `\(`"),
    )


def read_group_name(cursor: Cursor, opened: int) -> str:
    """Pass a name up to its `>` and return it; *opened* is where a refusal points to."""
    name = ""
    while not cursor.accept(">"):
        if part := cursor.match(NAME_PART):
            name += part[0]
        elif cursor.accept("\\u"):
            name += chr(read_unicode_escape(cursor, cursor.offset - 2))
        else:
            break
    else:
        # RegExpIdentifierName, section 22.2.1: an identifier, `$` allowed.
        if name.replace("$", "_").isidentifier():
            return name
    raise PatternRefused.at(
        opened,
        PatternFault.SYNTAX,
        "a group without a proper name",
        "a name is letters, digits, `_` and `$`, not a digit first, and ends with `>`",
    )
