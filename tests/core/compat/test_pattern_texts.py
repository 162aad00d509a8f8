"""Texts that patterns match, and those that distinguish two patterns."""

import pytest
from sidecheck_server.core.compat.pattern_samples import PatternSampler, pattern_texts
from sidecheck_server.core.limits import Exhausted, Limits
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


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param("a", "^a$", id="both anchors"),
        pytest.param("a", "^a", id="start"),
        pytest.param("a", "a$", id="end"),
        pytest.param("foo|bar", "^(foo|bar)$", id="anchored alternatives"),
        pytest.param("^.{1,5}$", "^.{1,4}$", id="maximum count"),
        pytest.param("^[A-Z]{2,5}$", "^[A-Z]{3,5}$", id="minimum count"),
        pytest.param("^a+$", "^a{1,30}$", id="count without a maximum"),
        pytest.param("^.{1,300}$", "^.{1,200}$", id="long"),
        pytest.param("^(ab)+$", "^(ab){1,3}$", id="count of a group"),
        pytest.param("^([a-z]+-)*[a-z]+$", "^([a-z]+-)?[a-z]+$", id="nested count"),
        pytest.param("^[a-z]+$", "^[a-y]+$", id="last of a class"),
        pytest.param("^[a-z]+$", "^[b-z]+$", id="first of a class"),
        pytest.param("^[a-z]{3}$", "^[a-m][a-z]{2}$", id="class at one place"),
        pytest.param("^[a-z]{3}$", "^[a-z]{2}[a-m]$", id="class at the last place"),
        pytest.param("^[A-Za-z0-9_-]{1,64}$", "^[A-Za-z0-9_]{1,64}$", id="class without a dash"),
        pytest.param(r"^\p{L}+$", "^[A-Za-z]+$", id="letters of ASCII"),
        pytest.param("^.*$", r"^\S*$", id="without spaces"),
        pytest.param(r"^[\s\S]*$", "^.*$", id="without line ends"),
        pytest.param("^(foo|bar|baz)$", "^(foo|bar)$", id="alternative"),
        pytest.param("^(a|b)(c|d)$", "^(ac|ad|bc)$", id="combination of alternatives"),
        pytest.param("^[ab][ab][ab]$", "^(a..|baa|bba|bbb)$", id="three places"),
        pytest.param("^https?://.+$", "^https://.+$", id="optional"),
        pytest.param(r"^\d{4}-\d{2}$", r"^\d{4}-(0[1-9]|1[0-2])$", id="months"),
        pytest.param(r"^\d+$", r"^(0|[1-9]\d*)$", id="leading zeros"),
        pytest.param("^[a-z]+$", "^(?!admin)[a-z]+$", id="excluded word"),
        pytest.param("^[a-z-]+$", "^(?!.*--)[a-z-]+$", id="excluded part"),
        pytest.param("^[a-z0-9]+$", "^(?=.*[0-9])[a-z0-9]+$", id="demanded part"),
        pytest.param("", "^[^/]*$", id="any text"),
    ],
)
def test_a_text_shows_that_a_pattern_was_tightened(old: str, new: str) -> None:
    """Among the first texts; with the same ones in the same order each time."""
    texts = PatternSampler([100_000]).sample((old,), (new,))
    matches = compile_pattern(old, Limits()).search, compile_pattern(new, Limits()).search

    assert any(matches[0](text) and not matches[1](text) for text in texts[:8])
    assert texts == PatternSampler([100_000]).sample((old,), (new,))


@pytest.mark.parametrize(
    "pattern",
    [
        "^((a{50}){50})+$",
        "^" + "(a|b)" * 60 + "$",
        "^" + "(" * 150 + "a" + ")*" * 150 + "$",
        "^[" + "".join(chr(point) for point in range(0x4E00, 0x5600, 2)) + "]{1,40}$",
        "^(.{1,100}|.{1,90}|.{1,80})*$",
        "(?=a)" * 5 + "b",
    ],
)
def test_a_search_for_texts_is_bounded(pattern: str) -> None:
    """In number and size; and it spends steps."""
    budget = [200_000]
    texts = PatternSampler(budget).sample((pattern,), ("^b",))

    assert len(texts) <= 600
    assert sum(map(len, texts)) <= 220_000
    assert budget[0] < 200_000
    assert all(text.encode() or not text for text in texts)


def test_a_search_takes_steps_once() -> None:
    """Without steps there is none."""
    budget = [50_000]
    sampler = PatternSampler(budget)
    sampler.sample(("^a+$",), ("^a$",))
    rest = budget[0]

    assert sampler.sample(("^a+$",), ("^a$",))
    assert budget[0] == rest
    with pytest.raises(Exhausted):
        PatternSampler([10]).sample(("^a+$",), ("^b$",))
