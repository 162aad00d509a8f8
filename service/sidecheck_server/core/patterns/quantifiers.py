"""Quantifiers: `* + ? {n} {n,} {n,m}`, each also lazy.

ECMA-262 section 22.2.1 (Quantifier). Lazy or greedy makes no difference to
whether a text matches.
"""

import re
from dataclasses import dataclass

from sidecheck_server.core.patterns.cursor import Cursor
from sidecheck_server.core.patterns.refusals import PatternFault, PatternRefused, quote

__all__ = ["MOST_COPIES", "Quantifier", "read_quantifier"]

#: RE2 unrolls `x{n}` and refuses more copies than this, nested ones multiplied.
MOST_COPIES = 1000

LEXEME = re.compile(r"(?:([*+?])|\{([0-9]+)(?:(,)([0-9]*))?\})\??")
NO_LEAST = re.compile(r"\{,[0-9]+\}")


@dataclass(frozen=True, slots=True)
class Quantifier:
    """How an atom is repeated, as RE2 writes it, and the copies that RE2 makes of it."""

    offset: int
    source: str
    spelling: str
    copies: int


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
    sign, least, comma, most = found.groups()
    if sign:
        return Quantifier(offset, found[0], sign, 1)
    lower = count(least)
    upper = lower if not comma else count(most) if most else None
    if upper is None:
        return Quantifier(offset, found[0], f"{{{lower},}}", max(lower, 1))
    if upper < lower:
        raise PatternRefused.at(
            offset,
            PatternFault.SYNTAX,
            f"the bounds of {quote(found[0])} are out of order",
            "put the smaller number first",
        )
    return Quantifier(offset, found[0], f"{{{lower},{upper}}}", max(upper, 1))


def count(digits: str) -> int:
    """Return the number, or ten to the ninth for one that is larger than any bound here."""
    significant = digits.lstrip("0")
    return int(significant or "0") if len(significant) < 10 else 10**9
