"""Patterns that need backtracking match as ECMA-262 specifies, where allowed."""

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator

import pytest
from hypothesis import assume, given, seed, settings
from hypothesis import strategies as st
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.patterns import (
    UNBOUNDED,
    PatternError,
    PatternFault,
    compile_pattern,
    needs_backtracking,
)
from support.shared_material import unavailable

LENIENT = Limits(allow_backtracking=True)

# Sections are those of ECMA-262, 2024 edition.
MEANINGS = [
    # 22.2.2.4 (CompileAssertion): look-ahead
    pytest.param(r"a(?=b)", "ab", True, id="ahead"),
    pytest.param(r"a(?=b)", "ac", False, id="ahead-lacking"),
    pytest.param(r"a(?!b)", "ab", False, id="not-ahead"),
    pytest.param(r"^((?!--).)*$", "a-b-c", True, id="nowhere"),
    pytest.param(r"^((?!--).)*$", "a--b", False, id="somewhere"),
    pytest.param(r"(?=a)(?=.b)ab$", "ab", True, id="both-ahead"),
    pytest.param(r"^(?:(?=a)|b)ab", "ab", True, id="ahead-beside-an-alternative"),
    pytest.param(r"(?=a*?)b", "b", True, id="ahead-of-nothing"),
    pytest.param(r"^(?=(a+))a*b\1$", "aabaa", True, id="what-was-ahead-stays-captured"),
    pytest.param(r"^(?=(a+))a*b\1$", "aaba", False, id="no-going-back-into-a-look-ahead"),
    pytest.param(r"(.*?)a(?!(a+)b\2c)\2(.*)", "baaabaac", True, id="forgotten-when-negated"),
    # the same section: look-behind, from right to left
    pytest.param(r"(?<=a)b", "ab", True, id="behind"),
    pytest.param(r"(?<!a)b", "ab", False, id="not-behind"),
    pytest.param(r"^[a-z-]+(?<!-)$", "ab-", False, id="no-dash-at-the-end"),
    pytest.param(r"(?<=^a+b{2,})c", "aaabbbc", True, id="behind-of-any-length"),
    pytest.param(r"(?<=\$\d+\.)\d\d$", "$12.50", True, id="behind-after-a-number"),
    pytest.param(r"^(?<=^)a", "a", True, id="behind-at-the-start"),
    pytest.param(r"(?<=^(\d+)(\d+))-\1$", "1053-1", True, id="greedy-from-the-right"),
    pytest.param(r"(?<=\1(a))b", "aab", True, id="reference-before-its-group-behind"),
    pytest.param(r"(?<=^\1(a))b", "ab", False, id="reference-needs-its-text-behind"),
    pytest.param(r"(?<=^(a)\1)b", "aab", False, id="reference-after-its-group-is-empty-behind"),
    pytest.param(r"(?<=(?=(a))a)\1$", "aa", True, id="ahead-inside-behind"),
    # 22.2.2.7.2 (BackreferenceMatcher)
    pytest.param(r"^(['\"]).*\1$", "'a\"'", True, id="the-same-quote"),
    pytest.param(r"^(['\"]).*\1$", "'a\"", False, id="another-quote"),
    pytest.param(r"^<(\w+)>.*</\1>$", "<b>x</b>", True, id="the-same-tag"),
    pytest.param(r"^(?<y>\d\d)-\k<y>$", "12-12", True, id="by-name"),
    pytest.param(r"^(?<y>\d\d)-\k<y>$", "12-13", False, id="by-name-differs"),
    pytest.param(r"^\k<$\u{6f}>(?<$o>a)$", "a", True, id="by-name-before-its-group"),
    pytest.param(r"^(a)?b\1$", "b", True, id="a-group-that-took-no-part"),
    pytest.param(r"^(?:(a)|b)\1$", "b", True, id="an-alternative-that-took-no-part"),
    pytest.param(r"^\1(a)$", "a", True, id="a-group-that-comes-later"),
    pytest.param(r"^(a\1)$", "a", True, id="inside-its-own-group"),
    pytest.param(r"^(?:a\2|(b))*(c)?$", "aba", True, id="a-group-after-the-repetition"),
    pytest.param(r"^(.)\1$", "🐲🐲", True, id="beyond-the-bmp"),
    pytest.param(r"^(.)(?:\1)0$", "aa0", True, id="a-digit-after-a-reference"),
    pytest.param(r"^(a)(b)(c)(d)(e)(f)(g)(h)(i)(j)\10$", "abcdefghijj", True, id="two-digits"),
    pytest.param(r"^(?:(?<a>x)|(?<a>y))\k<a>$", "yy", True, id="one-name-in-two-alternatives"),
    pytest.param(r"^(?:(?<a>x)|(?<a>y))\k<a>$", "yx", False, id="the-other-alternative"),
    # 22.2.2.3.1 (RepeatMatcher)
    pytest.param(r"^(?:(a)|b)*\1$", "ab", True, id="a-turn-forgets"),
    pytest.param(r"^(?:(a)|b)*\1$", "aba", False, id="the-last-turn-counts"),
    pytest.param(r"^(?:(a)|b)*\1$", "abaa", True, id="the-last-turn-counts-again"),
    pytest.param(r"^(z)((a+)?(b+)?(c))*\3$", "zaacbbbcac", False, id="turns-as-in-the-clause"),
    pytest.param(r"^(?:(a)|b|)*\1$", "a", False, id="no-empty-turn"),
    pytest.param(r"^(?:(a)|b|){2,3}\1$", "a", True, id="an-empty-turn-that-is-needed"),
    pytest.param(r"(?=(?:|a)*(a*))\1b", "aab", True, id="no-empty-turn-ahead"),
    pytest.param(r"^(?=(?:|a)*(a*))\1b", "aab", False, id="no-empty-turn-ahead-of-the-start"),
    pytest.param(r"(?<=^(?:(a)|b)*)c\1$", "abc", False, id="turns-from-the-right"),
    pytest.param(r"(?<=^(?:(a)|b)*)c\1$", "abca", True, id="turns-from-the-right-forget"),
    pytest.param(r"(?<=^(?:(a*)|b){1,2})c\1$", "abc", False, id="no-empty-turn-behind"),
    pytest.param(r"b(?<=(a|1b|){2,3})\1\1", "a1b", False, id="needed-turns-first-from-the-right"),
    # characters and classes match as in the linear engine
    pytest.param(r"^(?:(?!x).)$", "\u2028", False, id="dot"),
    pytest.param(r"^(?:(?!x).)$", "🐲", True, id="dot-is-a-code-point"),
    pytest.param(r"(?!x)^a$", "a\n", False, id="end-is-not-before-a-last-newline"),
    pytest.param(r"(?<!x)\d", "٣", False, id="digits-are-ascii"),
    pytest.param(r"(?<!x)\w", "é", False, id="word-characters-are-ascii"),
    pytest.param(r"(?<!x)\s", "\ufeff", True, id="space"),
    pytest.param(r"(?<!x)\s", "\x1c", False, id="not-a-space"),
    pytest.param(r"(?<=\b)cole", "école", True, id="boundary"),
    pytest.param(r"(?!x)\B", "éé", True, id="no-boundary"),
    pytest.param(r"(?!x)\B", "", True, id="no-boundary-in-nothing"),
    pytest.param(r"(?<=^\p{Lu})\p{Emoji}", "É🐲", True, id="properties"),
    pytest.param(r"(?<!x)[]", "a", False, id="empty-class"),
    pytest.param(r"(?<!x)^[^]$", "\n", True, id="full-class"),
    pytest.param(r"(?<!x)^[[:^&|~\-\]]{8}$", "[:^&|~-]", True, id="signs-in-a-class"),
    pytest.param(r"(?<!x)^\{\}#\ &~$", "{}# &~", True, id="signs"),
    pytest.param(r"(?<!x)^{a}{e<=1}$", "{a}{e<=1}", True, id="braces-are-literal"),
    pytest.param(r"(?<!\ud83d)\udc32", "🐲", False, id="half-of-a-character-is-not-in-it"),
    pytest.param(r"(?<!x)^.$", "\ud83d\udc32", True, id="halves-side-by-side-are-one-character"),
    pytest.param(r"(?<!x)^\ud83d$", "\ud83d", True, id="lone-surrogate"),
    pytest.param("(?<!x)^\ud83d\udc32$", "🐲", True, id="halves-side-by-side-in-the-pattern"),
    # as tools write them
    pytest.param(r"^(?=.*\d)(?=.*[a-z])(?!.*\s).{8,}$|^-$", "abcdefg1", True, id="a-password"),
    pytest.param(r"^(?!-)[a-z0-9-]{1,63}(?<!-)$", "-a", False, id="a-label"),
    pytest.param(r"^\d{4}(-?)\d\d\1\d\d$", "2026-01-02", True, id="a-date"),
    pytest.param(r"^\d{4}(-?)\d\d\1\d\d$", "2026-0102", False, id="a-date-with-one-dash"),
    pytest.param(r"^/(?!/)(?:[^?#](?!\.\.))*$", "/a/..", False, id="a-path"),
]


@pytest.mark.parametrize(("source", "text", "expected"), MEANINGS)
def test_a_pattern_matches_by_ecma_262(source: str, text: str, expected: bool) -> None:
    """The expected verdicts follow ECMA-262."""
    pattern = compile_pattern(source, LENIENT)

    assert expected is pattern.search(text)


@pytest.mark.parametrize("source", sorted({str(case.values[0]) for case in MEANINGS}))
def test_backtracking_patterns_are_rejected_by_default(source: str) -> None:
    """They are recognized before compilation, and their cost is unbounded."""
    with pytest.raises(PatternError) as excinfo:
        compile_pattern(source)

    assert needs_backtracking(source)
    assert excinfo.value.fault is PatternFault.NOT_LINEAR
    assert compile_pattern(source, LENIENT).cost == UNBOUNDED


def test_linear_patterns_stay_linear_where_backtracking_is_allowed() -> None:
    """Allowing backtracking changes nothing for a pattern that needs none."""
    source = r"^(?!a+$)(a|aa)+$"

    assert not needs_backtracking(source)
    assert compile_pattern(source) is compile_pattern(source, LENIENT)


@pytest.mark.parametrize(
    ("source", "fault", "offset"),
    [
        pytest.param(r"(?<=a", PatternFault.SYNTAX, 0, id="not-closed"),
        pytest.param(r"(a)\2", PatternFault.SYNTAX, 3, id="reference-to-no-group"),
        pytest.param(r"(?<=a)*", PatternFault.SYNTAX, 6, id="look-behind-repeated"),
        pytest.param(r"(?>a)(?<=a)", PatternFault.SYNTAX, 0, id="atomic-group"),
        pytest.param(r"(?<=a)" + "x" * 1020, PatternFault.TOO_LARGE, 1024, id="too-long"),
        pytest.param(r"(?<=a)x{10001}", PatternFault.TOO_LARGE, 7, id="too-many-copies"),
        pytest.param(
            "(?<=a)" + "(" * 41 + ")" * 41, PatternFault.TOO_LARGE, 46, id="nested-too-deep"
        ),
        pytest.param(
            r"(a)\1" + "(?:" * 9 + ")*" * 9, PatternFault.TOO_LARGE, 49, id="repetitions-too-deep"
        ),
        pytest.param(r"(?<=a)" + r"\p{L}" * 100, PatternFault.TOO_LARGE, None, id="large-classes"),
    ],
)
def test_invalid_patterns_are_rejected(source: str, fault: PatternFault, offset: int) -> None:
    """Invalid patterns and patterns over a limit are rejected too."""
    with pytest.raises(PatternError) as excinfo:
        compile_pattern(source, LENIENT)

    assert fault is excinfo.value.fault
    assert offset in (None, excinfo.value.offset)
    assert not excinfo.value.message.endswith(": ")


def test_the_deepest_pattern_compiles_in_a_deep_call_stack() -> None:
    """Nesting within the bound leaves a part of the interpreter's stack to the caller."""
    references = "".join(rf"(?:\{number})" for number in range(1, 21))
    source = "(?<=a)" + "(?:(" * 20 + "b" + "))" * 14 + ")+)" * 6 + references

    def descend(levels: int) -> bool:
        return descend(levels - 1) if levels else compile_pattern(source, LENIENT).search("b")

    assert not descend(sys.getrecursionlimit() // 4)


#: Answers each line [pattern, texts] with the verdicts under the `u` flag, null where the
#: pattern is not accepted.
ANSWER = r"""
require("readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const [pattern, texts] = JSON.parse(line);
  let verdicts = null;
  try {
    const compiled = new RegExp(pattern, "u");
    verdicts = texts.map((text) => compiled.test(text));
  } catch {}
  console.log(JSON.stringify(verdicts));
});
"""

Oracle = Callable[[str, list[str]], list[bool] | None]


@pytest.fixture(scope="module")
def javascript() -> Iterator[Oracle]:
    """Ask one node process for all patterns: ECMA-262's semantics by another hand."""
    node = shutil.which("node") or ""
    if not node:
        unavailable("node is not on PATH, so there is no JavaScript to compare with")
    with subprocess.Popen(
        [node, "-e", ANSWER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        requests, responses = process.stdin, process.stdout
        assert requests is not None
        assert responses is not None

        def ask(pattern: str, texts: list[str]) -> list[bool] | None:
            requests.write(json.dumps([pattern, texts]) + "\n")
            requests.flush()
            verdicts: list[bool] | None = json.loads(responses.readline())
            return verdicts

        yield ask
        requests.close()


# V8 looks for a match from inside of a character beyond the BMP as well, as section
# 22.2.7.2 does not, so texts with such characters stand in the table above.
LETTERS = "aab1_é\n \ud83d"
ATOMS = [*"aab1_é", r"\ud83d", ".", r"\w", r"\W", r"\s", "[ab]", "[^a]", "[]", "[^]"]
QUANTIFIERS = ["*", "+", "?", "*?", "+?", "??", "{0}", "{2}", "{1,2}", "{0,}?", "{2,3}", "{2,}"]
OPENINGS = ["(", "(", "(?:", "(?=", "(?!", "(?<=", "(?<!"]
REFERENCE = "\\1"

atom = st.sampled_from([*ATOMS, REFERENCE, REFERENCE, REFERENCE])


def widen(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """Return patterns made of *inner* ones: groups, repetitions, sequences, alternatives."""
    group = st.builds("{}{})".format, st.sampled_from(OPENINGS), inner)
    ordinary = st.builds("{}{})".format, st.sampled_from(OPENINGS[:3]), inner)
    repeated = st.builds("{}{}".format, st.one_of(atom, ordinary), st.sampled_from(QUANTIFIERS))
    pieces = st.one_of(group, repeated, atom, st.sampled_from(["^", "$", r"\b", r"\B"]))
    sequence = st.lists(pieces, max_size=3).map("".join)
    return st.one_of(sequence, st.lists(inner, min_size=2, max_size=3).map("|".join))


patterns = st.recursive(atom, widen, max_leaves=7)
texts = st.lists(st.text(LETTERS, max_size=6), min_size=1, max_size=8).map(lambda some: ["", *some])


@pytest.mark.slow
@seed(20)
@settings(max_examples=300, deadline=None, database=None)
@given(st.one_of(patterns, patterns.map("^(?:{})$".format)), st.data(), texts)
def test_patterns_match_as_in_javascript(
    javascript: Oracle, pattern: str, data: st.DataObject, texts: list[str]
) -> None:
    """Look-around and references in any place give the verdicts of JavaScript."""
    captures = len(re.findall(r"\((?!\?)", pattern))
    if captures:
        numbers = st.integers(1, captures)
        pattern = re.sub(r"\\1", lambda _: rf"(?:\{data.draw(numbers)})", pattern)
    expected = javascript(pattern, texts)
    assume(expected is not None)

    search = compile_pattern(pattern, LENIENT).search

    assert expected == [search(text) for text in texts]
