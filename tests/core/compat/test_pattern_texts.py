"""Texts that patterns match."""

import pytest
from sidecheck_server.core.compat.scalar_samples import pattern_texts
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.patterns import compile_pattern


@pytest.mark.parametrize(
    "pattern",
    [
        "",
        "^[a-z]+$",
        "^[a-z]{3,5}$",
        r"^\d{4}-\d{2}-\d{2}$",
        "^(GET|POST|PUT)$",
        "^[^@]+@[^@]+\\.[a-z]{2,}$",
        "^(?:a|b(c|d)*)?e$",
        "^[A-Fa-f0-9]{8}(-[A-Fa-f0-9]{4}){3}$",
        r"^\p{L}+$",
        "^é[À-ÿ]$",
        "[^\\s]",
        "^.{200}$",
    ],
)
def test_some_texts_match_the_pattern(pattern: str) -> None:
    """The validator's engine matches them; their number is small."""
    compiled = compile_pattern(pattern, Limits())
    texts = pattern_texts(pattern)

    assert 1 <= len(texts) <= 6
    assert any(compiled.search(text) for text in texts)


@pytest.mark.parametrize("pattern", ["(", "(?P<a>b)", "a{2,1}"])
def test_an_invalid_pattern_has_no_texts(pattern: str) -> None:
    """It is not an error."""
    assert () == pattern_texts(pattern)


def test_texts_are_bounded() -> None:
    """Repetitions of the pattern do not lengthen them."""
    assert all(len(text) <= 200 for text in pattern_texts("^((a{50}){50})+$"))
