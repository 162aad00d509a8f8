"""Checks of strings are charged in advance, and run without extra stack frames."""

import pytest
from sidecheck_server.core.engines.text_checks import build_pattern_check
from sidecheck_server.core.limits import Exhausted
from sidecheck_server.core.patterns import compile_pattern

TEXTS = ["", "a", "ab", "ba", "é", "aé", "\ud800", "a\ud83d\ude00", "\U0001f600", "a" * 1000]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        pytest.param("^a", "a ab aé a😀 aaa", id="one automaton"),
        pytest.param("^(?=.*b)a", "ab", id="a look-ahead"),
        pytest.param("^.$", "a é \ud800 😀", id="any character"),
        pytest.param("\ud83d\ude00", "a😀 😀", id="a pair of surrogates"),
    ],
)
def test_a_counted_search_equals_the_pattern(source: str, expected: str) -> None:
    """Texts include lone surrogates."""
    pattern = compile_pattern(source)
    search = build_pattern_check(pattern)
    matches = [text for text in TEXTS if search(text, [10**6])]
    shown = [
        text.replace("\ud83d\ude00", "\U0001f600").replace("a" * 1000, "aaa") for text in matches
    ]

    assert expected.split() == shown
    assert matches == [text for text in TEXTS if pattern.search(text)]


def test_a_search_is_paid_for_before() -> None:
    """The charge depends on the size of the program and the length of the text."""
    pattern = compile_pattern("^a+$")
    search = build_pattern_check(pattern)
    budget = [10**6]
    search("a" * 4000, budget)

    assert 10**6 - 40 - pattern.cost * 4000 // 4 == budget[0]
    with pytest.raises(Exhausted):
        search("a", [39])
