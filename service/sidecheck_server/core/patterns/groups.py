"""Groups and quantifiers of patterns.

ECMA-262 section 22.2.1 (Atom, Assertion, GroupSpecifier, Quantifier). Quantifiers are
`* + ? {n} {n,} {n,m}`, each also lazy.
"""

import re
from dataclasses import dataclass, field
from enum import Enum, auto

from sidecheck_server.core.patterns.character_classes import read_unicode_escape
from sidecheck_server.core.patterns.cursor import Cursor, PatternError, PatternFault, quote

__all__ = [
    "LOOK_AHEAD",
    "LOOK_AROUND",
    "Condition",
    "Group",
    "GroupKind",
    "Quantifier",
    "Translation",
    "read_group",
    "read_group_name",
    "read_quantifier",
]


class GroupKind(Enum):
    """Kinds of groups."""

    WHOLE = auto()
    PLAIN = auto()
    CAPTURE = auto()
    AHEAD = auto()
    NOT_AHEAD = auto()
    BEHIND = auto()
    NOT_BEHIND = auto()


LOOK_AHEAD = frozenset({GroupKind.AHEAD, GroupKind.NOT_AHEAD})
LOOK_AROUND = LOOK_AHEAD | {GroupKind.BEHIND, GroupKind.NOT_BEHIND}

#: A longer opening comes before its prefixes.
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
    """A leading look-ahead: whether it must match the start of the text, or not."""

    negated: bool
    translation: "Translation"


@dataclass(frozen=True, slots=True)
class Translation:
    """An expression of RE2, matched from the start of the text, and its conditions."""

    expression: str
    conditions: tuple[Condition, ...]


@dataclass(slots=True)
class Group:
    """A group during parsing.

    Look-around groups and the whole pattern have separate outputs; other groups write to the
    output of the enclosing one.
    """

    kind: GroupKind
    opened: int
    output: list[str]
    #: Whether the current position can only be the start of the text.
    at_start: bool = False
    #: Whether the group begins with `^`.
    anchored: bool = False
    #: Whether it has a `|` of its own.
    branched: bool = False
    #: The offset of its first condition.
    first_condition: int = -1
    conditions: list[Condition] = field(default_factory=list)
    #: The largest number of copies of an atom in it, in an automaton.
    copies: int = 1
    #: Index of its first part in the output.
    start: int = 0
    #: The largest product of nested counts in its output.
    nested: int = 1
    #: Names of groups in the current alternative, and in earlier alternatives.
    names: set[str] = field(default_factory=set)
    earlier_names: set[str] = field(default_factory=set)

    def is_untouched(self) -> bool:
        """Return whether this is the whole pattern and nothing has been read."""
        return self.kind is GroupKind.WHOLE and not self.output

    def write(self, expression: str) -> None:
        """Write an expression that may consume text, and so leaves the start of the text."""
        self.output.append(expression)
        self.at_start = False

    def add_condition(self, condition: Condition, offset: int) -> None:
        """Add a look-ahead at *offset*."""
        if not self.conditions:
            self.first_condition = offset
        self.conditions.append(condition)

    def begin_alternative(self) -> None:
        """Record a `|`. Names may repeat in alternatives, because only one participates."""
        self.branched = True
        self.earlier_names |= self.names
        self.names = set()

    def add_names(self, names: set[str], offset: int) -> None:
        """Add the *names* of groups inside; raises PatternError for a duplicate."""
        if duplicates := names & self.names:
            raise PatternError.at(
                offset,
                PatternFault.SYNTAX,
                f"a second group named {quote(min(duplicates))}",
                "give each group a name of its own",
            )
        self.names |= names

    def all_names(self) -> set[str]:
        """Return the names of the groups inside."""
        return self.names | self.earlier_names


def read_group(cursor: Cursor) -> tuple[GroupKind, str | None]:
    """Consume the opening after a `(`; return kind and name of the group.

    Raises PatternError for an opening that ECMA-262 does not define.
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
    raise PatternError.at(
        opened,
        PatternFault.SYNTAX,
        f"{quote('(?' + sign)} opens no group of ECMA-262",
        INLINE_FLAGS if sign in set("aimsuxnU-") else REMEDIES.get(sign, r"a `(` itself is `\(`"),
    )


def read_group_name(cursor: Cursor, opened: int) -> str:
    """Consume a name up to its `>` and return it; *opened* is the offset for errors."""
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
    raise PatternError.at(
        opened,
        PatternFault.SYNTAX,
        "a group without a valid name",
        "a name is letters, digits, `_` and `$`, not a digit first, and ends with `>`",
    )


LEXEME = re.compile(r"(?:([*+?])|\{([0-9]+)(?:(,)([0-9]*))?\})(\?)?")
SIGNS: dict[str, tuple[int, int | None]] = {"*": (0, None), "+": (1, None), "?": (0, 1)}
NO_LEAST = re.compile(r"\{,[0-9]+\}")


@dataclass(frozen=True, slots=True)
class Quantifier:
    """Repetition of an atom; *most* is None for no upper bound."""

    offset: int
    source: str
    least: int
    most: int | None
    lazy: bool

    @property
    def copies(self) -> int:
        """The number of copies of the atom in an automaton."""
        return max(self.least if self.most is None else self.most, 1)


def read_quantifier(cursor: Cursor) -> Quantifier | None:
    """Consume and return the next quantifier, or return None if there is none.

    A brace that begins no quantifier is a literal (Annex B.1.2). Raises PatternError for
    bounds out of order, and for `{,n}`: it is a literal in ECMA-262, but authors mean a
    quantifier.
    """
    offset = cursor.offset
    if no_least := cursor.match(NO_LEAST):
        raise PatternError.at(
            offset,
            PatternFault.SYNTAX,
            f"{quote(no_least[0])} is not a quantifier of ECMA-262",
            f"write {quote('{0' + no_least[0][1:])}",
        )
    lexeme = cursor.match(LEXEME)
    if not lexeme:
        return None
    sign, least, comma, most, lazy = lexeme.groups()
    if sign:
        lower, upper = SIGNS[sign]
    else:
        lower = parse_count(least)
        upper = lower if not comma else parse_count(most) if most else None
    if upper is not None and upper < lower:
        raise PatternError.at(
            offset,
            PatternFault.SYNTAX,
            f"the bounds of {quote(lexeme[0])} are out of order",
            "put the smaller number first",
        )
    return Quantifier(offset, lexeme[0], lower, upper, bool(lazy))


def parse_count(digits: str) -> int:
    """Return the number *digits*, at most ten to the ninth, which exceeds every bound."""
    significant = digits.lstrip("0")
    return int(significant or "0") if len(significant) < 10 else 10**9
