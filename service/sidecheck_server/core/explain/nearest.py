"""The nearest known name: what somebody may have meant by one that is not known."""

import re
from collections.abc import Iterable
from difflib import SequenceMatcher
from itertools import islice
from typing import NamedTuple

__all__ = ["MOST_CANDIDATES", "find_nearest"]

MOST_CANDIDATES = 200
LONGEST_NAME = 64
"""Comparing two names takes time that grows with the product of their lengths."""

_ALIKE = 0.7
_SEPARATORS = re.compile(r"[\W_]+")
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[0-9]+|[^\W\d_a-zA-Z]+")


def find_nearest(name: str, candidates: Iterable[str]) -> str:
    """Return the one of *candidates* that *name* may stand for, or "".

    It differs in nothing but case and separators; or one of the two names begins
    with the other, or has all words of the other; or few letters differ in the words
    that they do not share. Where several are near for the second reason, it takes the
    third to choose one.
    """
    if not 0 < len(name) <= LONGEST_NAME:
        return ""
    wanted = _spelled(name)
    known = [
        _spelled(each)
        for each in islice(candidates, MOST_CANDIDATES)
        if 0 < len(each) <= LONGEST_NAME
    ]
    for each in known:
        if each.folded == wanted.folded:
            return each.text
    related = [each for each in known if _related(wanted, each)]
    if len(related) == 1:
        return related[0].text
    best, found = 0.0, ""
    for each in known:
        likeness = _likeness(wanted, each)
        if likeness > best:
            best, found = likeness, each.text
    return found


class _Spelled(NamedTuple):
    """A name, as it is compared with others."""

    text: str
    folded: str
    in_order: list[str]
    words: frozenset[str]


def _spelled(name: str) -> _Spelled:
    in_order = [word.casefold() for word in _WORD.findall(name)]
    return _Spelled(name, _folded(name), in_order, frozenset(in_order))


def _folded(name: str) -> str:
    return _SEPARATORS.sub("", name.casefold()) or name


def _related(one: _Spelled, two: _Spelled) -> bool:
    if one.folded.startswith(two.folded) or two.folded.startswith(one.folded):
        return True
    few, many = sorted((one.words, two.words), key=len)
    return bool(few) and few <= many


def _likeness(one: _Spelled, two: _Spelled) -> float:
    """Return how alike two names are where they differ, or 0.0 if not enough."""
    if _numbers(one) != _numbers(two):
        return 0.0  # another number is another thing, however alike it looks
    first, second = one.folded, two.folded
    if one.words & two.words:
        first = _folded("".join(word for word in one.in_order if word not in two.words))
        second = _folded("".join(word for word in two.in_order if word not in one.words))
    # The ratio can be no larger than this; with a matcher it takes ten times as long.
    length = len(first) + len(second)
    if length and 2.0 * min(len(first), len(second)) / length < _ALIKE:
        return 0.0
    matcher = SequenceMatcher(None, first, second, autojunk=False)
    # Each is an upper bound of the next, and cheaper.
    for ratio in (matcher.quick_ratio, matcher.ratio):
        likeness = ratio()
        if likeness < _ALIKE:
            return 0.0
    return likeness


def _numbers(name: _Spelled) -> set[str]:
    return {word for word in name.words if word.isdecimal()}
