"""The nearest known name: what an unknown name may be a misspelling of."""

import re
from collections.abc import Iterable
from difflib import SequenceMatcher
from itertools import islice
from typing import NamedTuple

__all__ = ["MOST_CANDIDATES", "find_nearest"]

MOST_CANDIDATES = 200
"""How many names an unknown one is compared with."""
LONGEST_NAME = 64
"""The longest name compared: the time grows with the product of two lengths."""

_SIMILAR = 0.7
"""The least ratio of `SequenceMatcher` for two names to be similar."""
_SEPARATORS = re.compile(r"[\W_]+")
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[0-9]+|[^\W\d_a-zA-Z]+")


def find_nearest(name: str, candidates: Iterable[str]) -> str:
    """Return the one of *candidates* that *name* may stand for, or "".

    In this order: one that differs only in case and separators; the only one that is
    a prefix of *name* or extends it, or whose words are a subset or a superset of its
    words; the most similar one, by the letters of the words that the two do not share.
    """
    if not 0 < len(name) <= LONGEST_NAME:
        return ""
    target = _parse(name)
    known = [
        _parse(candidate)
        for candidate in islice(candidates, MOST_CANDIDATES)
        if 0 < len(candidate) <= LONGEST_NAME
    ]
    for candidate in known:
        if candidate.folded == target.folded:
            return candidate.text
    related = [candidate for candidate in known if _are_related(target, candidate)]
    if len(related) == 1:
        return related[0].text
    best, nearest = 0.0, ""
    for candidate in known:
        similarity = _similarity(target, candidate)
        if similarity > best:
            best, nearest = similarity, candidate.text
    return nearest


class _Name(NamedTuple):
    """A name, prepared for comparison."""

    text: str
    #: In one case, without separators.
    folded: str
    words_in_order: list[str]
    words: frozenset[str]


def _parse(name: str) -> _Name:
    words = [word.casefold() for word in _WORD.findall(name)]
    return _Name(name, _fold(name), words, frozenset(words))


def _fold(name: str) -> str:
    return _SEPARATORS.sub("", name.casefold()) or name


def _are_related(left: _Name, right: _Name) -> bool:
    if left.folded.startswith(right.folded) or right.folded.startswith(left.folded):
        return True
    few, many = sorted((left.words, right.words), key=len)
    return bool(few) and few <= many


def _similarity(left: _Name, right: _Name) -> float:
    """Return the similarity of the words that differ, or 0.0 below `_SIMILAR`."""
    if _numbers(left) != _numbers(right):
        return 0.0  # "line1" is not a misspelling of "line2".
    first, second = left.folded, right.folded
    if left.words & right.words:
        first = _fold("".join(word for word in left.words_in_order if word not in right.words))
        second = _fold("".join(word for word in right.words_in_order if word not in left.words))
    # An upper bound of the ratio; a matcher takes ten times as long.
    length = len(first) + len(second)
    if length and 2.0 * min(len(first), len(second)) / length < _SIMILAR:
        return 0.0
    matcher = SequenceMatcher(None, first, second, autojunk=False)
    # Each is an upper bound of the next, and cheaper.
    for ratio in (matcher.quick_ratio, matcher.ratio):
        similarity = ratio()
        if similarity < _SIMILAR:
            return 0.0
    return similarity


def _numbers(name: _Name) -> set[str]:
    return {word for word in name.words if word.isdecimal()}
