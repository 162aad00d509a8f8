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
_MOST_RATIOS = 20
"""How many names are compared in full, those with the most letters in common first.

Each takes up to a millisecond; more would be permutations of the same letters.
"""
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
    return _most_similar(target, known)


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


def _most_similar(target: _Name, known: list[_Name]) -> str:
    """Return the name that is most similar to *target*, the first of several, or ""."""
    possible: list[tuple[float, int, SequenceMatcher[str]]] = []
    for index, candidate in enumerate(known):
        matcher = _match(target, candidate)
        # An upper bound of the ratio, for a tenth of its time.
        bound = 0.0 if matcher is None else matcher.quick_ratio()
        if matcher is not None and bound >= _SIMILAR:
            possible.append((bound, -index, matcher))
    possible.sort(key=lambda entry: entry[:2], reverse=True)
    best = (_SIMILAR, -len(known))
    for bound, order, matcher in possible[:_MOST_RATIOS]:
        if bound < best[0]:
            break
        best = max(best, (matcher.ratio(), order))
    _, order = best
    return known[-order].text if -order < len(known) else ""


def _match(left: _Name, right: _Name) -> SequenceMatcher[str] | None:
    """Return the matcher of the words that differ, or None if they cannot be similar."""
    if _numbers(left) != _numbers(right):
        return None  # "line1" is not a misspelling of "line2".
    first, second = left.folded, right.folded
    if left.words & right.words:
        first = _fold("".join(word for word in left.words_in_order if word not in right.words))
        second = _fold("".join(word for word in right.words_in_order if word not in left.words))
    # An upper bound of the ratio; a matcher takes ten times as long.
    length = len(first) + len(second)
    if length and 2.0 * min(len(first), len(second)) / length < _SIMILAR:
        return None
    return SequenceMatcher(None, first, second, autojunk=False)


def _numbers(name: _Name) -> set[str]:
    return {word for word in name.words if word.isdecimal()}
