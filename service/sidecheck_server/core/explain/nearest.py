"""The nearest known name: what somebody may have meant by one that is not known."""

import re
from collections.abc import Iterable
from difflib import SequenceMatcher
from itertools import islice

__all__ = ["MOST_CANDIDATES", "nearest"]

MOST_CANDIDATES = 200
LONGEST_NAME = 64
"""Comparing two names takes time that grows with the product of their lengths."""

_ALIKE = 0.7
_SEPARATORS = re.compile(r"[\W_]+")
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[0-9]+|[^\W\d_a-zA-Z]+")


def nearest(name: str, candidates: Iterable[str]) -> str:
    """Return the one of *candidates* that *name* may stand for, or "".

    It differs in nothing but case and separators; or one of the two names begins
    with the other, or has all words of the other; or few letters differ in the words
    that they do not share. Where several are near for the second reason, it takes the
    third to choose one.
    """
    if not 0 < len(name) <= LONGEST_NAME:
        return ""
    known = [each for each in islice(candidates, MOST_CANDIDATES) if 0 < len(each) <= LONGEST_NAME]
    folded = _folded(name)
    for each in known:
        if _folded(each) == folded:
            return each
    related = [each for each in known if _related(name, each)]
    if len(related) == 1:
        return related[0]
    best, found = 0.0, ""
    for each in known:
        likeness = _likeness(name, each)
        if likeness > best:
            best, found = likeness, each
    return found


def _folded(name: str) -> str:
    return _SEPARATORS.sub("", name.casefold()) or name


def _in_order(name: str) -> list[str]:
    return [word.casefold() for word in _WORD.findall(name)]


def _words(name: str) -> frozenset[str]:
    return frozenset(_in_order(name))


def _related(one: str, two: str) -> bool:
    first, second = _folded(one), _folded(two)
    if first.startswith(second) or second.startswith(first):
        return True
    few, many = sorted((_words(one), _words(two)), key=len)
    return bool(few) and few <= many


def _likeness(one: str, two: str) -> float:
    """Return how alike two names are where they differ, or 0.0 if not enough."""
    first, second = _words(one), _words(two)
    if {w for w in first if w.isdecimal()} != {w for w in second if w.isdecimal()}:
        return 0.0  # another number is another thing, however alike it looks
    if first & second:
        one = "".join(word for word in _in_order(one) if word not in second)
        two = "".join(word for word in _in_order(two) if word not in first)
    matcher = SequenceMatcher(None, _folded(one), _folded(two), autojunk=False)
    # Each is an upper bound of the next, and cheaper.
    for ratio in (matcher.real_quick_ratio, matcher.quick_ratio, matcher.ratio):
        likeness = ratio()
        if likeness < _ALIKE:
            return 0.0
    return likeness
