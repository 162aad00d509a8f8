"""Repetitions above RE2's own count are split, and match the same texts.

The oracle is `re`, which counts without copies.
"""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sidecheck_server.core.patterns import compile_pattern
from sidecheck_server.core.patterns.translation import LARGEST_COUNT, repeat

COUNTS = [
    (0, 1000),
    (0, 1001),
    (1, 1001),
    (1001, 1001),
    (1001, None),
    (0, 1099),
    (0, 1100),
    (0, 1101),
    (999, 2048),
    (0, 2048),
    (1234, 5678),
    (9999, None),
    (9999, 10_000),
    (0, 10_000),
    (1, 10_000),
    (10_000, 10_000),
]


def spell(least: int, most: int | None) -> str:
    return f"{{{least},{'' if most is None else most}}}"


def edges(least: int, most: int | None) -> set[int]:
    near = {least - 1, least, least + 1, 0, 99, 100, 101, 1000, 1001}
    return {count for count in near | ({most - 1, most, most + 1} if most else set()) if count >= 0}


@pytest.mark.parametrize(("least", "most"), COUNTS)
@pytest.mark.parametrize(
    "atom",
    [
        pytest.param("[a-z]", id="class"),
        pytest.param("(?:a|zz)", id="alternatives"),
    ],
)
def test_a_large_count_matches_exactly(atom: str, least: int, most: int | None) -> None:
    """The number of accepted copies equals that of `re`."""
    source = f"^{atom}{spell(least, most)}$"
    pattern = compile_pattern(source)
    oracle = re.compile(source)
    lengths = sorted(edges(least, most))

    for text in ("a", "z"):
        matched_lengths = {length for length in lengths if pattern.search(text * length)}
        assert {length for length in lengths if oracle.match(text * length)} == matched_lengths


MOST_NESTED = 2500


@st.composite
def nested_counts(draw: st.DrawFn) -> list[tuple[int, int | None]]:
    """Return the counts of nested repetitions, inner ones first."""
    counts: list[tuple[int, int | None]] = []
    copies = 1
    for _ in range(draw(st.integers(2, 3))):
        most = draw(st.integers(1, MOST_NESTED // copies))
        least = draw(st.one_of(st.just(most), st.integers(0, most)))
        counts.append((least, None if draw(st.integers(0, 5)) == 0 else most))
        copies *= most
    return counts


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(nested_counts(), st.data())
def test_nested_counts_match_exactly(
    counts: list[tuple[int, int | None]], data: st.DataObject
) -> None:
    """A text of one letter matches if its length is a sum of the counts."""
    expression = "a"
    for least, most in counts:
        expression = f"(?:{expression}{spell(least, most)})"
    pattern = compile_pattern(f"^{expression}$")
    expected = accepted_lengths(counts, MOST_NESTED + 1)
    # Wherever a length is accepted and the next one is not, or the other way round.
    changes = [n for n in range(1, MOST_NESTED + 1) if (n in expected) is not (n - 1 in expected)]
    lengths = {0, 1, MOST_NESTED, *changes[:4], *(n - 1 for n in changes[:4]), *changes[-2:]}
    lengths |= {data.draw(st.integers(0, MOST_NESTED))}

    assert {n for n in lengths if n in expected} == {n for n in lengths if pattern.search("a" * n)}


def accepted_lengths(counts: list[tuple[int, int | None]], end: int) -> set[int]:
    """Return the numbers of letters below *end* that the nested repetitions accept.

    Backtracking would take `re` for ever, so the sums of lengths are computed. Languages
    are integers whose bit n stands for the length n.
    """
    mask = (1 << end) - 1
    language = 0b10
    for least, most in counts:
        optional = end if most is None else most - least
        required = power(language, least, mask)
        language = add(required, power(language | 1, optional, mask), mask)
    return {length for length in range(end) if language >> length & 1}


def add(first: int, second: int, mask: int) -> int:
    """Return the lengths that are a sum of a length of *first* and one of *second*."""
    # The smaller number of lengths is added one by one.
    few, many = sorted((first, second), key=int.bit_count)
    total = 0
    while few:
        length = (few & -few).bit_length() - 1
        total |= many << length
        few &= few - 1
    return total & mask


def power(language: int, count: int, mask: int) -> int:
    result = 1
    while count:
        if count & 1:
            result = add(result, language, mask)
        language = add(language, language, mask)
        count >>= 1
    return result


@given(st.integers(0, 10_000), st.integers(0, 10_000), st.integers(1, LARGEST_COUNT))
def test_a_repetition_has_the_number_of_copies_of_its_atom(
    least: int, further: int, nested: int
) -> None:
    """There are at most a few hundred copies, and RE2 accepts the counts."""
    for most in (least + further, None):
        repetition = repeat(least, most, nested)
        spelled = repetition.spell("x")

        assert repetition.copies == spelled.count("x")
        assert repetition.nested <= LARGEST_COUNT
        assert nested * max(map(int, re.findall("[0-9]+", spelled)), default=1) <= LARGEST_COUNT


@pytest.mark.parametrize(
    ("source", "instructions"),
    [
        pytest.param("^[a-z]{1,10000}$", 10_300, id="optional"),
        pytest.param("^[a-z]{10000}$", 10_010, id="required"),
        pytest.param(r"^(\w{1,100}){1,100}$", 75_000, id="nested"),
        pytest.param("^(?:(?:[ab]{0,10}){0,100}){0,10}$", 26_000, id="nested-optional"),
    ],
)
def test_a_program_has_about_an_instruction_for_each_copy(source: str, instructions: int) -> None:
    """Neither the split nor RE2 multiplies the copies."""
    assert compile_pattern(source).cost <= instructions


def test_a_split_repetition_counts_exactly() -> None:
    """One more or less than its limit changes the verdict."""
    pattern = compile_pattern("^[a-z]{1,10000}$")
    for length in (9_999, 10_000, 10_001):
        assert (length <= 10_000) is pattern.search("a" * length)
