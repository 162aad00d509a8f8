r"""What a backslash means: characters and sets of characters.

ECMA-262 section 22.2.1, with the `u` flag. The one leniency is Annex B's, for
signs only: real schemas write `\-` and `\@` outside a class. A letter or digit
after a backslash always means what the clause says, or is refused: elsewhere
`\Z`, `\a` or `\i` stand for something that a reader would miss.
"""

import re

from sidecheck_server.core.patterns.codepoints import (
    DIGITS,
    LAST,
    WHITE_SPACE,
    WORD,
    Ranges,
    complement,
)
from sidecheck_server.core.patterns.cursor import Cursor
from sidecheck_server.core.patterns.faults import PatternFault, PatternRefused, quote
from sidecheck_server.core.patterns.properties import find_property

__all__ = ["read_character_escape", "read_set_escape", "read_unicode_escape"]

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
    "Q": "put a backslash before each sign instead",
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
    r"""Pass and return the set after a backslash (`d D s S w W p P`), or None if none stands there.

    Raises PatternRefused for a property that ECMA-262 does not have.
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
        raise PatternRefused.at(
            start,
            PatternFault.SYNTAX,
            "a Unicode property without its name",
            r"write `\p{Letter}` or `\p{Script=Greek}`",
        )
    try:
        return find_property(named[1], named[2])
    except LookupError:
        raise PatternRefused.at(
            start,
            PatternFault.SYNTAX,
            f"{quote(named[0])} is no Unicode property of ECMA-262",
            "names are taken to the letter: `Letter`, `Lu`, `Script=Greek`, `ASCII`",
        ) from None


def read_character_escape(cursor: Cursor) -> int:
    """Pass what stands after a backslash and return the one code point that it means.

    Raises PatternRefused where it means none.
    """
    start = cursor.offset - 1
    character = cursor.take()
    match character:
        case "":
            raise PatternRefused.at(
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
    raise refuse_escape(start, character)


def read_unicode_escape(cursor: Cursor, start: int) -> int:
    r"""Pass what stands after `\u` and return its code point, a surrogate pair as one.

    *start* is the offset of the backslash. Raises PatternRefused.
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
    raise refuse_escape(start, "u")


def refuse_escape(start: int, character: str) -> PatternRefused:
    octal = "references count from 1, and octal escapes are not allowed with the `u` flag"
    remedy = octal if character.isdecimal() else "write the character itself"
    return PatternRefused.at(
        start,
        PatternFault.SYNTAX,
        f"{quote(chr(92) + character)} is not an escape of ECMA-262",
        REMEDIES.get(character, remedy),
    )
