"""Sets of code points, to which character classes are resolved.

ECMA-262 with the `u` flag matches code points, including lone surrogates (section
22.2.2.2). Classes become plain ranges, so that RE2's own definitions of digits, spaces and
lines are never used.
"""

from collections.abc import Iterable
from functools import lru_cache
from typing import TypeAlias

__all__ = [
    "DIGITS",
    "EVERYTHING",
    "LAST",
    "LINE_TERMINATORS",
    "WHITE_SPACE",
    "WORD",
    "Ranges",
    "complement",
    "join_surrogates",
    "spell",
    "unite",
]

#: Inclusive ranges in ascending order; neighbours are merged.
Ranges: TypeAlias = tuple[tuple[int, int], ...]

LAST = 0x10FFFF


def unite(ranges: Iterable[tuple[int, int]]) -> Ranges:
    """Return the union of *ranges*, which may overlap and come in any order."""
    united: list[tuple[int, int]] = []
    for first, last in sorted(ranges):
        if united and first <= united[-1][1] + 1:
            united[-1] = (united[-1][0], max(last, united[-1][1]))
        else:
            united.append((first, last))
    return tuple(united)


@lru_cache(maxsize=256)
def complement(ranges: Ranges) -> Ranges:
    """Return every code point that is not in *ranges*."""
    gaps: list[tuple[int, int]] = []
    next_point = 0
    for first, last in ranges:
        if first > next_point:
            gaps.append((next_point, first - 1))
        next_point = last + 1
    if next_point <= LAST:
        gaps.append((next_point, LAST))
    return tuple(gaps)


EVERYTHING: Ranges = ((0, LAST),)

#: `\d`: ECMA-262 section 22.2.2.9 (CompileToCharSet, CharacterClassEscape :: d).
DIGITS: Ranges = ((0x30, 0x39),)

#: `\w`: the same section, WordCharacters without the `i` flag.
WORD: Ranges = ((0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A))

#: The characters that `.` does not match: ECMA-262 section 12.3.
LINE_TERMINATORS: Ranges = ((0x0A, 0x0A), (0x0D, 0x0D), (0x2028, 0x2029))

#: `\s`: WhiteSpace (section 12.2: tab, VT, FF, U+FEFF and every Zs) and LineTerminator.
WHITE_SPACE: Ranges = (
    (0x09, 0x0D),
    (0x20, 0x20),
    (0xA0, 0xA0),
    (0x1680, 0x1680),
    (0x2000, 0x200A),
    (0x2028, 0x2029),
    (0x202F, 0x202F),
    (0x205F, 0x205F),
    (0x3000, 0x3000),
    (0xFEFF, 0xFEFF),
)


def join_surrogates(text: str) -> str:
    """Return *text* with surrogate pairs replaced by the encoded characters.

    ECMA-262 reads strings as code points by this rule (section 11.1.4). Lone surrogates
    remain.
    """
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


@lru_cache(maxsize=256)
def spell(ranges: Ranges) -> str:
    """Return the ASCII expression of RE2 that matches one code point of *ranges*."""
    if not ranges:
        return spell_negated(EVERYTHING)
    if len(ranges) == 1 and ranges[0][0] == ranges[0][1]:
        return spell_point(ranges[0][0])
    return "[" + spell_members(ranges) + "]"


def spell_negated(ranges: Ranges) -> str:
    return "[^" + spell_members(ranges) + "]"


def spell_members(ranges: Ranges) -> str:
    return "".join(
        spell_point(first) if first == last else f"{spell_point(first)}-{spell_point(last)}"
        for first, last in ranges
    )


def spell_point(point: int) -> str:
    letter = chr(point)
    if letter.isascii() and letter.isalnum():
        return letter
    return f"\\x{{{point:x}}}"
