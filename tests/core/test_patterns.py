"""Patterns match as ECMA-262 specifies, in time linear in the text."""

from contextlib import suppress
from dataclasses import replace

import pytest
import re2
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.patterns import Pattern, PatternError, compile_pattern
from support.counted_calls import count_calls

# Sections are those of ECMA-262, 2024 edition.
MEANINGS = [
    # 22.2.2.4 (CompileAssertion)
    pytest.param(r"^abc$", "abc", True, id="anchors"),
    pytest.param(r"^abc$", "abc\n", False, id="end-is-not-before-a-last-newline"),
    pytest.param(r"a$", "a\nb", False, id="end-is-not-the-end-of-a-line"),
    pytest.param(r"^b", "a\nb", False, id="start-is-not-the-start-of-a-line"),
    pytest.param(r"b$|^a", "ax", True, id="an-anchor-in-one-alternative"),
    pytest.param(r"(x|^)a", "ba", False, id="an-anchor-in-a-group"),
    pytest.param(r"x*^a$", "a", True, id="an-anchor-after-nothing"),
    pytest.param(r"^^a$$", "a", True, id="anchors-twice"),
    pytest.param(r"\bfoo\b", "a foo.", True, id="word-boundary"),
    pytest.param(r"\bfoo\b", "a_foo", False, id="underscore-is-a-word-character"),
    pytest.param(r"\bcole", "école", True, id="boundary-beside-a-letter-that-is-not-ascii"),
    pytest.param(r"o\Bo", "foo", True, id="no-boundary"),
    pytest.param(r"\B", "aéa", False, id="no-boundary-inside-a-character"),
    pytest.param(r"\B", "éé", True, id="no-boundary-between-characters-that-are-not-words"),
    pytest.param(r"\B", "", True, id="no-boundary-in-nothing"),
    pytest.param(r"\b", "", False, id="boundary-in-nothing"),
    # 22.2.2.3 (CompileSubpattern) and 22.2.2.5 (CompileQuantifier)
    pytest.param(r"^a{2}$", "aa", True, id="exactly"),
    pytest.param(r"^a{2,}$", "a", False, id="at-least"),
    pytest.param(r"^a{2,3}$", "aaaa", False, id="at-most"),
    pytest.param(r"^a{0}b$", "b", True, id="none"),
    pytest.param(r"^a{002}$", "aa", True, id="leading-zeros"),
    pytest.param(r"^a{1000}$", "a" * 1000, True, id="a-thousand"),
    pytest.param(r"^a+?b??$", "aab", True, id="lazy"),
    pytest.param(r"^(?:){3}(?:\b)*a$", "a", True, id="repeated-nothing"),
    pytest.param(r"^(a|ab)(c|bcd)(d*)$", "abcd", True, id="alternatives-in-any-combination"),
    pytest.param(r"", "anything", True, id="empty-pattern"),
    pytest.param(r"|", "", True, id="empty-alternatives"),
    # 22.2.2.7 (CompileAtom), 22.2.2.9 (CompileToCharSet), 12.2 and 12.3
    pytest.param(r"^.$", "\n", False, id="dot-and-newline"),
    pytest.param(r"^.$", "\r", False, id="dot-and-carriage-return"),
    pytest.param(r"^.$", "\u2028", False, id="dot-and-line-separator"),
    pytest.param(r"^.$", "\u2029", False, id="dot-and-paragraph-separator"),
    pytest.param(r"^.$", "\x85", True, id="dot-and-next-line"),
    pytest.param(r"^.$", "🐲", True, id="dot-is-a-code-point"),
    pytest.param(r"^\d$", "٣", False, id="digits-are-ascii"),
    pytest.param(r"^\D$", "٣", True, id="not-a-digit"),
    pytest.param(r"^\w$", "é", False, id="word-characters-are-ascii"),
    pytest.param(r"^\w$", "ſ", False, id="word-characters-never-fold-case"),
    pytest.param(r"^\W$", "é", True, id="not-a-word-character"),
    pytest.param(r"^\s$", "\ufeff", True, id="space-has-the-byte-order-mark"),
    pytest.param(r"^\s$", "\u202f", True, id="space-has-the-separators-of-unicode"),
    pytest.param(r"^\s$", "\u2029", True, id="space-has-the-line-terminators"),
    pytest.param(r"^\s$", "\x0b", True, id="space-has-the-vertical-tab"),
    pytest.param(r"^\s$", "\x85", False, id="space-lacks-next-line"),
    pytest.param(r"^\s$", "\u180e", False, id="space-lacks-the-mongolian-vowel-separator"),
    pytest.param(r"^\S$", "\x1c", True, id="not-a-space"),
    pytest.param(r"^\0\x00\u0000$", "\0\0\0", True, id="nul"),
    pytest.param(r"^\t\n\v\f\r$", "\t\n\x0b\x0c\r", True, id="control-escapes"),
    pytest.param(r"^\cA\cz$", "\x01\x1a", True, id="control-letters"),
    pytest.param(r"^\x41\u0042\u{43}\u{00000044}$", "ABCD", True, id="hexadecimal"),
    pytest.param(r"^\ud83d\udc32$", "🐲", True, id="escaped-pair-is-one-character"),
    pytest.param(r"^[\ud83d\udc32]$", "🐲", True, id="escaped-pair-in-a-class"),
    pytest.param(r"\ud83d", "🐲", False, id="half-of-a-character-is-not-in-it"),
    pytest.param(r"^\u{1F432}+$", "🐲🐲", True, id="braced-code-point"),
    pytest.param(r"^🐲*$", "🐲🐉", False, id="a-repeated-character-beyond-the-bmp"),
    pytest.param(
        r"^\^\$\\\.\*\+\?\(\)\[\]\{\}\|\/$", r"^$\.*+?()[]{}|/", True, id="syntax-escaped"
    ),
    # 22.2.2.8 (CompileCharacterClass)
    pytest.param(r"^[a-c]$", "b", True, id="range"),
    pytest.param(r"^[^a-c]$", "\n", True, id="negated-takes-newlines"),
    pytest.param(r"[]", "a", False, id="empty-class"),
    pytest.param(r"[]*", "", True, id="empty-class-repeated"),
    pytest.param(r"^[^]$", "\n", True, id="full-class"),
    pytest.param(r"^[\b]$", "\b", True, id="backspace"),
    pytest.param(r"^[a\-z]$", "-", True, id="escaped-dash"),
    pytest.param(r"^[a-]$", "-", True, id="dash-at-the-end"),
    pytest.param(r"^[-a]$", "-", True, id="dash-at-the-start"),
    pytest.param(r"^[+--]$", ",", True, id="range-up-to-a-dash"),
    pytest.param(r"^[[(.*^]{5}$", "[(.*^", True, id="syntax-in-a-class"),
    pytest.param(r"^[\d\s_]+$", "1 _", True, id="sets-in-a-class"),
    pytest.param(r"^[^\W_]$", "_", False, id="set-in-a-negated-class"),
    pytest.param(r"^[^\d\D]$", "a", False, id="everything-negated"),
    pytest.param(r"^[\u{1F409}-\u{1F432}]$", "🐉", True, id="range-beyond-the-bmp"),
    pytest.param(r"^[[:alpha:]]$", "b]", False, id="no-posix-classes"),
    pytest.param(r"^[a&&b]$", "&", True, id="no-intersections"),
    # 22.2.2.9 (UnicodeMatchProperty)
    pytest.param(
        r"^\p{Letter}\p{L}\p{gc=Lu}\p{General_Category=Number}$", "éßÉ½", True, id="category"
    ),
    pytest.param(r"^\P{L}$", "é", False, id="not-a-category"),
    pytest.param(r"^\p{digit}$", "৪", True, id="category-by-another-name"),
    pytest.param(r"^\p{Script=Greek}\p{sc=Grek}\p{sc=Latn}$", "πλa", True, id="script"),
    pytest.param(r"^\p{Other}\p{C}\p{Cn}$", "\x01\u0378\u0378", True, id="unassigned-is-other"),
    pytest.param(r"^[^\P{L}\p{Cn}é]$", "é", False, id="properties-in-a-negated-class"),
    pytest.param(
        r"^\p{LC}\p{ASCII}\p{Any}\p{Assigned}$", "aa\u0378a", True, id="more-than-one-category"
    ),
    pytest.param(r"^\p{Lowercase}\p{Upper}\p{AHex}\p{White_Space}$", "ªⅧf\x85", True, id="binary"),
    pytest.param(
        r"^\p{Alphabetic}\p{Emoji}\p{XIDS}\P{Emoji_Presentation}$", "é🐲éé", True, id="more-binary"
    ),
    pytest.param(r"^\p{scx=Grek}\P{sc=Grek}$", "\u0342\u0342", True, id="script-extensions"),
    pytest.param(r"^\p{Script=Unknown}$", "\u0378", True, id="no-script"),
    # 22.2.1 (GroupSpecifier)
    pytest.param(r"^(?<year>\d{4})-(?<$m\u{6f}>\d\d)$", "2026-01", True, id="named-groups"),
    pytest.param(r"^(?:(?<a>x)|(?<a>y))$", "y", True, id="one-name-in-two-alternatives"),
    pytest.param(r"^(?:a(?:b(?:c)?)?)?$", "ab", True, id="nested"),
    # Annex B.1.2, as far as real schemas need it
    pytest.param(r"^\-\@\'\_\ \<$", "-@'_ <", True, id="escaped-signs"),
    pytest.param(r"^[\w-.]+$", "a-.", True, id="dash-after-a-set"),
    pytest.param(r"^[!-\d]$", "-", True, id="dash-before-a-set"),
    pytest.param(r"^{a}]$", "{a}]", True, id="literal-brackets"),
    pytest.param(r"^a{$", "a{", True, id="literal-brace-after-a-character"),
    # look-ahead where it is at the start of the text
    pytest.param(r"^(?!foo$).*$", "foo", False, id="forbidden"),
    pytest.param(r"^(?!foo$).*$", "food", True, id="not-forbidden"),
    pytest.param(r"^(?=.*\d)(?=.*[a-z]).{4,}$", "abc1", True, id="required-both"),
    pytest.param(r"^(?=.*\d)(?=.*[a-z]).{4,}$", "abcd", False, id="required-one-lacking"),
    pytest.param(r"^(?!a|b)[a-z]$", "b", False, id="alternatives-inside-it"),
    pytest.param(r"^(?!(?=ab)(?!abc)a)a", "abd", False, id="nested-with-both-conditions"),
    pytest.param(r"^(?!(?=ab)(?!abc)a)a", "abc", True, id="nested-with-one-condition"),
    pytest.param(r"^(?=^a)(a|b)", "b", False, id="anchored-inside"),
    pytest.param(r"^(?=b)", "ab", False, id="nothing-after-it"),
    pytest.param(
        r"^(?!\.)(?!.*\.\.)([\w'+\-\.]*)[\w+-]@([a-z][a-z\-]*\.)+[a-z]{2,}$",
        "a@b.co",
        True,
        id="zod-e-mail",
    ),
    pytest.param(
        r"^(?!\.)(?!.*\.\.)([\w'+\-\.]*)[\w+-]@([a-z][a-z\-]*\.)+[a-z]{2,}$",
        "a..b@b.co",
        False,
        id="zod-e-mail-refuses",
    ),
    # lone surrogates are code points like others
    pytest.param(r"^.$", "\ud83d", True, id="lone-surrogate"),
    pytest.param(r"^\ud83d$", "\ud83d", True, id="lone-surrogate-escaped"),
    pytest.param("^\ud83d$", "\ud83d", True, id="lone-surrogate-written"),
    pytest.param(r"^\p{Cs}$", "\udc32", True, id="lone-surrogate-by-category"),
    pytest.param(r"^.$", "\ud83d\udc32", True, id="halves-side-by-side-are-one-character"),
    pytest.param("^\ud83d\udc32$", "🐲", True, id="halves-side-by-side-in-the-pattern"),
    pytest.param(r"^🐲.$", "🐲\ud83d", True, id="lone-surrogate-after-a-whole-character"),
]


@pytest.mark.parametrize(("source", "text", "expected"), MEANINGS)
def test_a_pattern_matches_by_ecma_262(source: str, text: str, expected: bool) -> None:
    """The expected verdicts follow ECMA-262."""
    assert expected is compile_pattern(source).search(text)


def test_the_same_pattern_is_compiled_once() -> None:
    """A pattern that is compiled again comes from the cache; under other bounds it does not."""
    compiled = compile_pattern("^cached$")

    assert compiled is compile_pattern("^cached$")
    assert compiled is not compile_pattern("^cached$", replace(Limits(), pattern_instructions=1000))


def test_cost_sums_the_programs_of_all_automata() -> None:
    """Unrolled repetitions and look-aheads add their own cost."""
    once, often, ahead = (
        compile_pattern(source).cost for source in ("^[a-z]$", "^[a-z]{100}$", "^(?=a)[a-z]{100}$")
    )

    assert 1 <= once < 10 < 100 <= often < ahead < 120


HOSTILE = [
    pytest.param(r"(a+)+$", "a" * 40_000 + "!", False, id="nested-plus"),
    pytest.param(r"^(a|aa)+$", "a" * 40_000 + "!", False, id="overlapping-alternatives"),
    pytest.param(r"\s+$", " " * 40_000 + "!", False, id="trailing-blanks"),
    pytest.param(r"^(([a-z])+.)+[A-Z]([a-z])+$", "a" * 40_000, False, id="repeated-twice"),
    pytest.param(r"(.*a){30}$", "a" * 4_000 + "!", False, id="thirty-stars"),
]


@pytest.mark.parametrize(("source", "text", "expected"), HOSTILE)
def test_matching_is_linear_for_any_text(source: str, text: str, expected: bool) -> None:
    """A backtracking engine would not end."""
    assert expected is compile_pattern(source).search(text)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        pytest.param(r"[ab]*a[ab]{990}$", False, id="a-state-for-each-byte"),
        pytest.param(r"^(?:a*b*){400}!", False, id="many-ways"),
        pytest.param(r"(?:(?:a?|b?)){900}$", True, id="many-optional"),
    ],
)
def test_patterns_with_many_states_are_searched(source: str, expected: bool) -> None:
    """A text that follows no rule visits as many states of the automaton as it can."""
    text = "".join("ab"[bit == "1"] for bit in f"{3**2500:b}")

    assert expected is compile_pattern(source).search(text)


@pytest.mark.parametrize(
    "source",
    [
        pytest.param("^" + r"(?=\p{L}{30})" * 7 + r"\p{L}{30}", id="large-look-aheads"),
        pytest.param(r"[^\p{L}\p{Lu}\P{IDC}]" * 44, id="large-classes"),
        pytest.param("[" + r"\p{L}\p{IDC}\p{Ll}\P{N}" * 40 + "]", id="one-large-class"),
        pytest.param(r"\S{1000}" * 100, id="many-copies"),
    ],
)
def test_no_pattern_within_the_bounds_takes_long_to_compile(source: str) -> None:
    """It is compiled or rejected within a number of function calls."""

    def compile_or_reject() -> None:
        with suppress(PatternError):
            compile_pattern(source)

    assert count_calls(compile_or_reject) < 200_000


@pytest.mark.parametrize(
    ("source", "text"),
    [
        pytest.param("a" * 10_000, "a" * 10_000, id="one-long-word"),
        pytest.param(
            "|".join(f"w{n}" for n in range(1500)) + "|end$", "the end", id="alternatives"
        ),
        pytest.param(
            "[" + "".join(chr(n) for n in range(0x4E00, 0x7000, 2)) + "]$", "一", id="class"
        ),
        pytest.param(r"^[\p{L}\p{M}\p{N}\p{Pd}' ]{1,10}$", "Zoë-Ann", id="unicode-classes"),
    ],
)
def test_large_patterns_within_the_bounds_are_run(source: str, text: str) -> None:
    """A long pattern is a pattern, if the caller allows its length."""
    pattern = compile_pattern(source, replace(Limits(), pattern_length=20_000))

    assert isinstance(pattern, Pattern)
    assert pattern.source == source
    assert pattern.search(text)
    assert not pattern.search("\t")


def test_no_automaton_stays_in_a_cache_without_a_bound_of_bytes() -> None:
    """google-re2 itself caches none after a compilation."""
    foreign = re2.compile(b"kept")
    compile_pattern("^an unseen pattern$")

    assert re2.compile(b"kept") is not foreign
