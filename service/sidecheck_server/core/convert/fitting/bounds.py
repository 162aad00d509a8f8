"""Bounds: of numbers, strings and arrays.

Those of objects are left over: a map that is given as a list keeps them as bounds of that.
"""

import math
from typing import Any

from sidecheck_server.core.convert.fitting.fitting import Fitting, Rule
from sidecheck_server.core.convert.fitting.phrases import phrase_of
from sidecheck_server.core.convert.fitting.telling import describe, drop
from sidecheck_server.core.convert.fitting.types import types_of
from sidecheck_server.core.convert.part import Part
from sidecheck_server.core.convert.words import Action, Direction

__all__ = ["RULES", "bound"]

_BOUNDS = (
    "minimum",
    "maximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "uniqueItems",
)
_SAYING_NOTHING = {"minLength": 0, "minItems": 0, "uniqueItems": False}


def bound(part: Part, fitting: Fitting) -> None:
    """Describe the bounds that the subset does not have."""
    keywords = part.keywords
    for keyword in [each for each in _BOUNDS if each in keywords]:
        value = keywords[keyword]
        if _is_taken(keyword, value, fitting):
            continue
        if keyword in _SAYING_NOTHING and value == _SAYING_NOTHING[keyword]:
            drop(part, fitting.record, keyword, "it restricts nothing")
        else:
            describe(part, fitting.record, keyword)


def _is_taken(keyword: str, value: Any, fitting: Fitting) -> bool:
    least = fitting.subset.min_items
    outside = keyword == "minItems" and least is not None and value not in least
    return fitting.takes(keyword) and not outside


def _exclusive(part: Part, fitting: Fitting) -> None:
    """Say bounds that are excluded as bounds that are included."""
    _included(part, fitting, "exclusiveMinimum", "minimum")
    _included(part, fitting, "exclusiveMaximum", "maximum")


def _included(part: Part, fitting: Fitting, exclusive: str, inclusive: str) -> None:
    keywords = part.keywords
    if exclusive not in keywords or fitting.takes(exclusive):
        return
    limit, lower = keywords[exclusive], inclusive == "minimum"
    tighter = max if lower else min
    whole = set(types_of(part)) - {"null"} == {"integer"}
    if not fitting.takes(inclusive):
        describe(part, fitting.record, exclusive)
        return
    least = limit if not whole else math.floor(limit) + 1 if lower else math.ceil(limit) - 1
    exact = whole or (inclusive in keywords and tighter(keywords[inclusive], limit) != limit)
    stated = tighter(keywords[inclusive], least) if inclusive in keywords else least
    part.keywords = {
        (inclusive if keyword == exclusive else keyword): value
        for keyword, value in keywords.items()
        if keyword != inclusive
    }
    part.keywords[inclusive] = stated
    if exact:
        said = f"it is said as {inclusive}"
        fitting.record.tell(part, exclusive, Action.REWRITTEN, Direction.SAME, said)
    else:
        describe(part, fitting.record, exclusive, phrase_of(exclusive, keywords))


RULES: tuple[Rule, ...] = (_exclusive, bound)
