"""Patterns that `re` matches for texts in ASCII, with the result of RE2."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sidecheck_server.core.patterns import compile_pattern
from sidecheck_server.core.patterns.class_sequences import build_ascii_matcher
from support.shared_material import shared

SEQUENCES = [
    "^",
    "^$",
    "^abc",
    "^[A-Z]{3}-[0-9]+$",
    r"^\d{4}-\d{2}-\d{2}$",
    "^(?<year>[0-9]{4})(?:-)([0-9]{2})$",
    "^[a-z0-9]+?_[A-Z]??$",
    "^é?a+$",
    "^[^/]*/[^/]{1,9}$",
    "^(((a)))b{0}c$",
]

OTHERS = {
    "abc": "any start",
    "^a|b$": "alternatives",
    "^(a|b)$": "alternatives in a group",
    "^(ab)+$": "a repeated group",
    "^a+a$": "a class that can match what follows",
    "^a?b*[ab]$": "a class that can match what follows a class that may be absent",
    "^[a-z]*x?[0-9]?[b-d]$": "a class that can match the end",
    r"^a\b": "a boundary",
    "^(?=a)[a-z]$": "a look-ahead",
    "^^a$": "two starts",
    "^a$b": "an end that is not the last part",
    "^(a$)": "an end in a group",
    "^" + "a" * 65: "too many classes",
}


@pytest.mark.parametrize("source", SEQUENCES)
def test_sequences(source: str) -> None:
    """They are matched by `re`."""
    assert build_ascii_matcher(source) is not None
    assert compile_pattern(source).match_ascii is not None


@pytest.mark.parametrize("source", OTHERS, ids=OTHERS.values())
def test_other_patterns(source: str) -> None:
    """They are left to RE2."""
    assert build_ascii_matcher(source) is None
    assert compile_pattern(source).match_ascii is None


_CLASSES = ["a", "b", "A", "1", "_", ".", r"\d", r"\w", r"\W", r"\s", "[ab]", "[^a]", "[0-9_]", "é"]
_COUNTS = ["", "", "", "?", "*", "+", "{2}", "{0,2}", "{1,3}", "{2,}", "*?", "{0}"]
_PIECES = st.builds(str.__add__, st.sampled_from(_CLASSES), st.sampled_from(_COUNTS))
_SEQUENCE = st.lists(st.one_of(_PIECES, st.builds("({})".format, _PIECES)), max_size=5)
_SOURCES = st.builds("^{}{}".format, _SEQUENCE.map("".join), st.sampled_from(["", "$"]))


@given(_SOURCES, st.lists(st.text("aAb1_. \n\r\x00\x7f", max_size=8), min_size=5, max_size=20))
def test_both_give_the_same_result(source: str, texts: list[str]) -> None:
    """Whether `re` is used has no effect on what a pattern matches."""
    pattern = compile_pattern(source)
    if pattern.match_ascii is not None:
        found = [pattern.match_ascii(text) is not None for text in texts]
        assert [pattern.search(text) for text in texts] == found


@pytest.mark.corpus
def test_patterns_of_real_tools() -> None:
    """More than half of them are sequences, and both match samples alike."""
    entries = json.loads((shared("corpus") / "patterns.json").read_text())
    sequences = 0
    for source in (entry["pattern"] for entry in entries):
        pattern = compile_pattern(source)
        if pattern.match_ascii is None:
            continue
        sequences += 1
        for text in ("", "a", "ABC-123", "2026-01-31", "https://example.com/a", source, "a" * 40):
            if text.isascii():
                assert (pattern.match_ascii(text) is not None) == pattern.search(text), source
    assert sequences > len(entries) // 2


def test_a_long_text_is_read_once() -> None:
    """Each class gives up no character that it has matched."""
    pattern = compile_pattern("^[a-z]*[0-9]*[A-Z]?-$")
    assert pattern.match_ascii is not None
    assert pattern.match_ascii("a" * 1_000_000) is None
