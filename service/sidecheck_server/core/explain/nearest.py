"""Search for the known name that an unknown name may be a misspelling of."""

import re
from collections.abc import Iterable
from difflib import SequenceMatcher
from itertools import islice
from typing import NamedTuple

__all__ = ["MOST_CANDIDATES", "find_nearest"]

MOST_CANDIDATES = 200
"""Most names with which an unknown name is compared."""
LONGEST_NAME = 64
"""Longest name that is compared: the time grows with the product of two lengths."""

_SIMILAR = 0.7
"""Least ratio of `SequenceMatcher` for two names to count as similar."""
_MOST_RATIOS = 20
"""Most names that are compared in full, those with the most common letters first.

Each comparison takes up to a millisecond.
"""
_SEPARATORS = re.compile(r"[\W_]+")
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[0-9]+|[^\W\d_a-zA-Z]+")


def find_nearest(name: str, candidates: Iterable[str]) -> str:
    """Return the name among *candidates* that *name* may be a misspelling of, or "".

    In order of precedence: a candidate that differs only in case and separators; the only
    candidate that is a prefix or an extension of *name*, or whose words are a subset or a
    superset of its words; the most similar candidate, by the letters of the words that are
    not in both names.
    """
    if not 0 < len(name) <= LONGEST_NAME:
        return ""
    target = _parse(name)
    names = [
        _parse(candidate)
        for candidate in islice(candidates, MOST_CANDIDATES)
        if 0 < len(candidate) <= LONGEST_NAME
    ]
    for candidate in names:
        if candidate.folded == target.folded:
            return candidate.text
    related = [candidate for candidate in names if _are_related(target, candidate)]
    if len(related) == 1:
        return related[0].text
    return _most_similar(target, names)


class _Name(NamedTuple):
    """A name, prepared for comparison."""

    text: str
    #: The name in lower case, without separators.
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


def _most_similar(target: _Name, names: list[_Name]) -> str:
    """Return the first name with the highest similarity to *target*, or ""."""
    possible: list[tuple[float, int, SequenceMatcher[str]]] = []
    for index, candidate in enumerate(names):
        matcher = _match(target, candidate)
        # An upper bound of the ratio, in a tenth of the time.
        bound = 0.0 if matcher is None else matcher.quick_ratio()
        if matcher is not None and bound >= _SIMILAR:
            # With negative indexes, the maximum of equal ratios is the first name.
            possible.append((bound, -index, matcher))
    possible.sort(key=lambda entry: entry[:2], reverse=True)
    best = (_SIMILAR, -len(names))
    for bound, order, matcher in possible[:_MOST_RATIOS]:
        if bound < best[0]:
            break
        best = max(best, (matcher.ratio(), order))
    _, order = best
    return names[-order].text if -order < len(names) else ""


def _match(left: _Name, right: _Name) -> SequenceMatcher[str] | None:
    """Return a matcher for the differing words, or None if they are dissimilar."""
    if _numbers(left) != _numbers(right):
        return None  # "line1" is not a misspelling of "line2".
    first, second = left.folded, right.folded
    if left.words & right.words:
        first = _fold("".join(word for word in left.words_in_order if word not in right.words))
        second = _fold("".join(word for word in right.words_in_order if word not in left.words))
    # An upper bound of the ratio, ten times faster than a matcher.
    length = len(first) + len(second)
    if length and 2.0 * min(len(first), len(second)) / length < _SIMILAR:
        return None
    return SequenceMatcher(None, first, second, autojunk=False)


def _numbers(name: _Name) -> set[str]:
    return {word for word in name.words if word.isdecimal()}
