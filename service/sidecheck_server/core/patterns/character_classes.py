r"""Character escapes and character classes `[..]`, `[^..]`.

ECMA-262 section 22.2.1 (CharacterClass, ClassEscape), with the `u` flag. Annex B's
leniency applies to punctuation only: real schemas have `\-` and `\@` outside classes,
and a dash beside a set, as in `[\w-.]`: the set, a dash and a point. A letter or digit
after a backslash has the meaning of the specification or is rejected: elsewhere `\Z`,
`\a` or `\i` mean something that readers would miss.
"""

import re
from itertools import chain

from sidecheck_server.core.patterns.codepoints import (
    DIGITS,
    LAST,
    WHITE_SPACE,
    WORD,
    Ranges,
    complement,
    unite,
)
from sidecheck_server.core.patterns.cursor import Cursor, PatternError, PatternFault, quote
from sidecheck_server.core.patterns.properties import find_property

__all__ = ["read_character_escape", "read_class", "read_set_escape", "read_unicode_escape"]

SETS: dict[str, Ranges] = {
    "d": DIGITS,
    "D": complement(DIGITS),
    "s": WHITE_SPACE,
    "S": complement(WHITE_SPACE),
    "w": WORD,
    "W": complement(WORD),
}

#: ControlEscape, section 22.2.1.
CONTROLS = {"f": 0x0C, "n": 0x0A, "r": 0x0D, "t": 0x09, "v": 0x0B}

REMEDIES = {
    "A": "the start of the text is `^`",
    "Z": "the end of the text is `$`",
    "z": "the end of the text is `$`",
    "a": r"the bell is `\x07`",
    "e": r"the escape character is `\x1B`",
    "h": r"blanks are `[ \t]`",
    "R": r"a line end is `(?:\r\n|[\n\r])`",
    "Q": "put a backslash before each character instead",
    "c": r"a control character is `\c` and a letter",
    "k": "a reference to a named group is `\\k<name>`",
    "x": r"a character is `\x` and two hexadecimal digits",
    "u": r"a character is `\u` and four hexadecimal digits, or `\u{...}` up to 10FFFF",
}

LETTER = re.compile("[A-Za-z]")
BYTE = re.compile("[0-9A-Fa-f]{2}")
UNIT = re.compile("[0-9A-Fa-f]{4}")
TRAIL = re.compile(r"\\u([Dd][C-Fc-f][0-9A-Fa-f]{2})")
BRACED = re.compile(r"\{([0-9A-Fa-f]+)\}")
PROPERTY = re.compile(r"\{([A-Za-z0-9_]+)(?:=([A-Za-z0-9_]+))?\}")


def read_set_escape(cursor: Cursor) -> Ranges | None:
    r"""Consume and return the set after a backslash (`d D s S w W p P`), or None.

    Raises PatternError for a property that ECMA-262 does not have.
    """
    letter = cursor.peek()
    if letter in ("p", "P"):
        cursor.take()
        named = read_property(cursor, cursor.offset - 2)
        return named if letter == "p" else complement(named)
    if letter in SETS:
        cursor.take()
        return SETS[letter]
    return None


def read_property(cursor: Cursor, start: int) -> Ranges:
    named = cursor.match(PROPERTY)
    if not named:
        raise PatternError.at(
            start,
            PatternFault.SYNTAX,
            "a Unicode property without its name",
            r"write `\p{Letter}` or `\p{Script=Greek}`",
        )
    try:
        return find_property(named[1], named[2])
    except LookupError:
        raise PatternError.at(
            start,
            PatternFault.SYNTAX,
            f"{quote(named[0])} is no Unicode property of ECMA-262",
            "names are case-sensitive: `Letter`, `Lu`, `Script=Greek`, `ASCII`",
        ) from None


def read_character_escape(cursor: Cursor) -> int:
    """Consume what follows a backslash and return its code point.

    Raises PatternError where it means none.
    """
    start = cursor.offset - 1
    character = cursor.take()
    match character:
        case "":
            raise PatternError.at(
                start,
                PatternFault.SYNTAX,
                "a backslash with nothing after it",
                r"a backslash itself is `\\`",
            )
        case "u":
            return read_unicode_escape(cursor, start)
        case "x" if byte := cursor.match(BYTE):
            return int(byte[0], 16)
        case "c" if letter := cursor.match(LETTER):
            return ord(letter[0]) % 32
        case "0" if not ("0" <= cursor.peek() <= "9"):
            return 0
        case _ if character in CONTROLS:
            return CONTROLS[character]
        case _ if not character.isalnum():
            return ord(character)
    raise escape_error(start, character)


def read_unicode_escape(cursor: Cursor, start: int) -> int:
    r"""Consume what follows `\u` and return its code point, a surrogate pair as one.

    *start* is the offset of the backslash. Raises PatternError.
    """
    if braced := cursor.match(BRACED):
        digits = braced[1].lstrip("0")
        point = int(digits[:7] or "0", 16)
        if point <= LAST:
            return point
    elif unit := cursor.match(UNIT):
        point = int(unit[0], 16)
        if 0xD800 <= point <= 0xDBFF and (trail := cursor.match(TRAIL)):
            return 0x10000 + ((point - 0xD800) << 10) + int(trail[1], 16) - 0xDC00
        return point
    raise escape_error(start, "u")


def escape_error(start: int, character: str) -> PatternError:
    octal = "references count from 1, and octal escapes are not allowed with the `u` flag"
    remedy = octal if character.isdecimal() else "write the character itself"
    return PatternError.at(
        start,
        PatternFault.SYNTAX,
        f"{quote(chr(92) + character)} is not an escape of ECMA-262",
        REMEDIES.get(character, remedy),
    )


DASH = (0x2D, 0x2D)
#: A dash at the end of a class is a member of it.
DASH_BETWEEN = re.compile(r"-(?!\])")
BACKSPACE = 0x08


def read_class(cursor: Cursor) -> Ranges:
    """Consume what follows a `[`, up to its `]`, and return the code points that it matches.

    Raises PatternError.
    """
    opened = cursor.offset - 1
    negated = cursor.accept("^")
    # Each set once: a property may have a thousand ranges, and be named a hundred times.
    members: dict[Ranges, None] = {}
    while not cursor.accept("]"):
        members[read_members(cursor, opened)] = None
    ranges = unite(chain.from_iterable(members))
    return complement(ranges) if negated else ranges


def read_members(cursor: Cursor, opened: int) -> Ranges:
    """Consume one member, or two with a dash between them."""
    start = cursor.offset
    first = read_member(cursor, opened)
    if not cursor.match(DASH_BETWEEN):
        return spread(first)
    last = read_member(cursor, opened)
    if not (isinstance(first, int) and isinstance(last, int)):
        return (*spread(first), DASH, *spread(last))
    if first > last:
        raise PatternError.at(
            start,
            PatternFault.SYNTAX,
            f"the range {quote(cursor.source[start : cursor.offset])} runs backwards",
            "put the lower character first, or a dash at the end of the class",
        )
    return ((first, last),)


def spread(member: int | Ranges) -> Ranges:
    return ((member, member),) if isinstance(member, int) else member


def read_member(cursor: Cursor, opened: int) -> int | Ranges:
    """Consume and return one character, or the set of an escape."""
    character = cursor.take()
    if not character:
        raise PatternError.at(
            opened,
            PatternFault.SYNTAX,
            "a class is not closed",
            r"end it with `]`, or write `\[` for the character",
        )
    if character != "\\":
        return ord(character)
    if cursor.accept("b"):
        return BACKSPACE
    members = read_set_escape(cursor)
    return read_character_escape(cursor) if members is None else members
