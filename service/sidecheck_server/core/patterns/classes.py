r"""Character classes: `[..]` and `[^..]`.

ECMA-262 section 22.2.1 (CharacterClass), with the `u` flag. Annex B's leniency
holds for a dash beside a set: `[\w-.]` means the set, a dash and a point.
"""

import re
from itertools import chain

from sidecheck_server.core.patterns.codepoints import Ranges, complement, unite
from sidecheck_server.core.patterns.cursor import Cursor
from sidecheck_server.core.patterns.escapes import read_character_escape, read_set_escape
from sidecheck_server.core.patterns.faults import PatternFault, PatternRefused, quote

__all__ = ["read_class"]

DASH = (0x2D, 0x2D)
#: A dash at the end of a class is a member of it.
DASH_BETWEEN = re.compile(r"-(?!\])")
BACKSPACE = 0x08


def read_class(cursor: Cursor) -> Ranges:
    """Pass what follows a `[`, up to its `]`, and return the code points that it matches.

    Raises PatternRefused.
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
    """Pass one member, or two with a dash between them."""
    start = cursor.offset
    first = read_member(cursor, opened)
    if not cursor.match(DASH_BETWEEN):
        return spread(first)
    last = read_member(cursor, opened)
    if not (isinstance(first, int) and isinstance(last, int)):
        return (*spread(first), DASH, *spread(last))
    if first > last:
        raise PatternRefused.at(
            start,
            PatternFault.SYNTAX,
            f"the range {quote(cursor.source[start : cursor.offset])} runs backwards",
            "put the lower character first, or a dash at the end of the class",
        )
    return ((first, last),)


def spread(member: int | Ranges) -> Ranges:
    return ((member, member),) if isinstance(member, int) else member


def read_member(cursor: Cursor, opened: int) -> int | Ranges:
    """Pass and return one character, or the set that an escape stands for."""
    character = cursor.take()
    if not character:
        raise PatternRefused.at(
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
