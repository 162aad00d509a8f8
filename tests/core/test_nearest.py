"""The nearest known name is the most similar one in any order of comparison."""

from difflib import SequenceMatcher
from random import Random

import pytest
from sidecheck_server.core.explain.nearest import find_nearest

LETTERS = "abcde"


def most_similar(name: str, candidates: list[str]) -> str:
    """Return the first of *candidates* with the largest ratio, if that is 0.7 or more."""
    ratios = [
        SequenceMatcher(None, name, candidate, autojunk=False).ratio() for candidate in candidates
    ]
    best = max(ratios)
    return candidates[ratios.index(best)] if best >= 0.7 else ""


@pytest.mark.parametrize("seed", range(300))
def test_single_words_are_compared_by_their_letters(seed: int) -> None:
    """No name here is a prefix of another, which would count for more."""
    random = Random(seed)
    names = ["".join(random.choices(LETTERS, k=8)) for _ in range(20)]
    name = "".join(random.choices(LETTERS, k=8))

    assert most_similar(name, names) == find_nearest(name, names)
