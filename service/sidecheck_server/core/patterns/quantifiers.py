"""Quantifiers: `* + ? {n} {n,} {n,m}`, each also lazy.

ECMA-262 section 22.2.1 (Quantifier).
"""

import re
from dataclasses import dataclass

from sidecheck_server.core.patterns.cursor import Cursor
from sidecheck_server.core.patterns.faults import PatternFault, PatternRefused, quote

__all__ = ["MOST_COPIES", "Quantifier", "read_quantifier"]

#: RE2 unrolls `x{n}` and refuses more copies than this, nested ones multiplied.
MOST_COPIES = 1000

LEXEME = re.compile(r"(?:([*+?])|\{([0-9]+)(?:(,)([0-9]*))?\})(\?)?")
SIGNS: dict[str, tuple[int, int | None]] = {"*": (0, None), "+": (1, None), "?": (0, 1)}
NO_LEAST = re.compile(r"\{,[0-9]+\}")


@dataclass(frozen=True, slots=True)
class Quantifier:
    """How an atom is repeated: at least and at most how often, None for without end."""

    offset: int
    source: str
    least: int
    most: int | None
    lazy: bool

    @property
    def copies(self) -> int:
        """The copies that RE2 makes of the atom."""
        return max(self.least if self.most is None else self.most, 1)

    @property
    def spelling(self) -> str:
        """The quantifier as RE2 writes it, greedy: the same texts match."""
        if self.source[0] != "{":
            return self.source[0]
        return f"{{{self.least},{'' if self.most is None else self.most}}}"


def read_quantifier(cursor: Cursor) -> Quantifier | None:
    """Pass and return the quantifier that comes next, or None if none does.

    A brace that begins no quantifier is left for a literal (Annex B.1.2). Raises
    PatternRefused for bounds out of order and for `{,n}`: to ECMA-262 that is no
    quantifier, but where it is written, one is meant.
    """
    offset = cursor.offset
    if missing := cursor.match(NO_LEAST):
        raise PatternRefused.at(
            offset,
            PatternFault.SYNTAX,
            f"{quote(missing[0])} is not a quantifier of ECMA-262",
            f"write {quote('{0' + missing[0][1:])}",
        )
    found = cursor.match(LEXEME)
    if not found:
        return None
    sign, least, comma, most, lazy = found.groups()
    if sign:
        lower, upper = SIGNS[sign]
    else:
        lower = count(least)
        upper = lower if not comma else count(most) if most else None
    if upper is not None and upper < lower:
        raise PatternRefused.at(
            offset,
            PatternFault.SYNTAX,
            f"the bounds of {quote(found[0])} are out of order",
            "put the smaller number first",
        )
    return Quantifier(offset, found[0], lower, upper, bool(lazy))


def count(digits: str) -> int:
    """Return the number, or ten to the ninth for one that is larger than any bound here."""
    significant = digits.lstrip("0")
    return int(significant or "0") if len(significant) < 10 else 10**9
