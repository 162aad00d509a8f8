"""Invalid and unsupported patterns are rejected with reason, offset and remedy."""

import pickle
from dataclasses import replace
from typing import Any

import pytest
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.patterns import PatternError, PatternFault, compile_pattern

SYNTAX, NOT_LINEAR, TOO_LARGE = PatternFault


REFUSALS = [
    pytest.param(r"a\Z", SYNTAX, 1, id="end-of-python"),
    pytest.param(r"\Aa", SYNTAX, 0, id="start-of-python"),
    pytest.param(r"\a", SYNTAX, 0, id="bell"),
    pytest.param(r"[\i]", SYNTAX, 1, id="xml-name-start"),
    pytest.param(r"\é", SYNTAX, 0, id="escaped-letter"),
    pytest.param(r"[\B]", SYNTAX, 1, id="no-boundary-in-a-class"),
    pytest.param("a\\", SYNTAX, 1, id="backslash-at-the-end"),
    pytest.param(r"\01", SYNTAX, 0, id="octal"),
    pytest.param(r"[\1]", SYNTAX, 1, id="octal-in-a-class"),
    pytest.param(r"\c1", SYNTAX, 0, id="control-without-letter"),
    pytest.param(r"\xA", SYNTAX, 0, id="one-hexadecimal-digit"),
    pytest.param(r"\u00e", SYNTAX, 0, id="three-hexadecimal-digits"),
    pytest.param(r"\u{110000}", SYNTAX, 0, id="beyond-unicode"),
    pytest.param(r"\u{}", SYNTAX, 0, id="empty-braces"),
    pytest.param(r"\p", SYNTAX, 0, id="property-without-name"),
    pytest.param(r"a\p{letter}", SYNTAX, 1, id="property-names-are-to-the-letter"),
    pytest.param(r"\p{Greek}", SYNTAX, 0, id="script-without-its-key"),
    pytest.param(r"\p{Script=L}", SYNTAX, 0, id="not-a-script"),
    pytest.param(r"\p{ASCII=Yes}", SYNTAX, 0, id="value-of-a-binary-property"),
    pytest.param(r"(\w)\1(", SYNTAX, 6, id="syntax-outweighs-what-cannot-be-run"),
    pytest.param(r"[b-a]", SYNTAX, 1, id="range-backwards"),
    pytest.param(r"x[a", SYNTAX, 1, id="class-not-closed"),
    pytest.param(r"[a-", SYNTAX, 0, id="class-not-closed-after-dash"),
    pytest.param(r"(a", SYNTAX, 0, id="group-not-closed"),
    pytest.param(r"a)", SYNTAX, 1, id="group-not-opened"),
    pytest.param(r"a|*", SYNTAX, 2, id="nothing-to-repeat"),
    pytest.param(r"a**", SYNTAX, 2, id="quantifier-repeated"),
    pytest.param(r"a*+", SYNTAX, 2, id="possessive"),
    pytest.param(r"^*", SYNTAX, 1, id="assertion-repeated"),
    pytest.param(r"\b+", SYNTAX, 2, id="boundary-repeated"),
    pytest.param(r"^(?=a)*b", SYNTAX, 6, id="look-ahead-repeated"),
    pytest.param(r"{2}", SYNTAX, 0, id="nothing-to-count"),
    pytest.param(r"a{2,1}", SYNTAX, 1, id="bounds-out-of-order"),
    pytest.param(r"a{,5}", SYNTAX, 1, id="no-lower-bound"),
    pytest.param(r"(?i)a", SYNTAX, 0, id="inline-flag"),
    pytest.param(r"(?i:a)", SYNTAX, 0, id="inline-flag-for-a-group"),
    pytest.param(r"(?P<a>b)", SYNTAX, 0, id="named-group-of-python"),
    pytest.param(r"(?>a)", SYNTAX, 0, id="atomic-group"),
    pytest.param(r"(?#a)", SYNTAX, 0, id="comment"),
    pytest.param(r"(?<1>a)", SYNTAX, 0, id="name-that-starts-with-a-digit"),
    pytest.param(r"(?<a", SYNTAX, 0, id="name-not-closed"),
    pytest.param(r"(?<a>b)(?:(?<a>c))", SYNTAX, 7, id="name-given-twice"),
    pytest.param(r"(a)\2", SYNTAX, 3, id="reference-to-no-group"),
    pytest.param(r"\k<a>", SYNTAX, 0, id="reference-to-no-name"),
    pytest.param(r"\k", SYNTAX, 0, id="reference-without-name"),
    pytest.param(r"(a)\1", NOT_LINEAR, 3, id="reference"),
    pytest.param(r"\k<a>(?<a>b)", NOT_LINEAR, 0, id="reference-by-name"),
    pytest.param(r"a(?=b)", NOT_LINEAR, 1, id="look-ahead-later"),
    pytest.param(r"(?=b)a", NOT_LINEAR, 0, id="look-ahead-without-anchor"),
    pytest.param(r"^((?!x).)*$", NOT_LINEAR, 2, id="look-ahead-repeated-in-a-group"),
    pytest.param(r"^(?!a)b|c", NOT_LINEAR, 1, id="look-ahead-beside-an-alternative"),
    pytest.param(r"c|^(?!a)b", NOT_LINEAR, 3, id="look-ahead-in-a-later-alternative"),
    pytest.param(r"^(?=(?!a)b|c)", NOT_LINEAR, 4, id="nested-look-ahead-beside-an-alternative"),
    pytest.param(r"^a*(?!b)", NOT_LINEAR, 3, id="look-ahead-after-a-repetition"),
    pytest.param(r"(?<=a)b", NOT_LINEAR, 0, id="look-behind"),
    pytest.param(r"^(?<!a)b", NOT_LINEAR, 1, id="look-behind-at-the-start"),
    pytest.param(r"a{10001}", TOO_LARGE, 1, id="too-many-copies"),
    pytest.param(r"a{0,99999999999999999999}", TOO_LARGE, 1, id="a-number-without-end"),
    pytest.param(r"(a{1,101}b){1,100}", TOO_LARGE, 11, id="too-many-copies-by-nesting"),
    pytest.param(r"((a{1,1000}){1,1000}){1,1000}", TOO_LARGE, 12, id="a-billion"),
    pytest.param("(" * 201 + ")" * 201, TOO_LARGE, 200, id="nested-too-deep"),
    pytest.param("^" + "(?=a)" * 8, TOO_LARGE, 0, id="too-many-look-aheads"),
    pytest.param("x" * 1025, TOO_LARGE, 1024, id="too-long"),
    pytest.param(r"\p{L}" * 120, TOO_LARGE, 570, id="too-many-ranges"),
    pytest.param(r"\p{L}{100}", TOO_LARGE, 0, id="too-many-instructions"),
    pytest.param(r"\p{L}{9000}\p{L}{9000}", TOO_LARGE, 16, id="too-many-ranges-by-repetition"),
    pytest.param("^" + "(?=.{1000})" * 6 + "x", TOO_LARGE, 0, id="too-much-in-look-aheads"),
]


@pytest.mark.parametrize(("source", "fault", "offset"), REFUSALS)
def test_an_unsupported_pattern_is_rejected(source: str, fault: PatternFault, offset: int) -> None:
    """The error has its fault and the offset."""
    with pytest.raises(PatternError) as excinfo:
        compile_pattern(source)

    assert (fault, offset) == (excinfo.value.fault, excinfo.value.offset)
    assert f"at offset {offset}: " in str(excinfo.value)


@pytest.mark.parametrize(
    ("source", "bound", "limit"),
    [
        pytest.param("a{10001}", "pattern_repetitions", 10_000, id="copies"),
        pytest.param("x" * 1025, "pattern_length", 1024, id="length"),
        pytest.param(".{1000}" * 10, "pattern_instructions", 100_000, id="instructions"),
        pytest.param(r"\p{L}" * 120, "pattern_instructions", 100_000, id="ranges"),
        pytest.param("^" + "(?=a)" * 8, "pattern_look_aheads", 7, id="look-aheads"),
        pytest.param("(" * 201 + ")" * 201, "pattern_depth", 200, id="groups"),
    ],
)
def test_an_error_names_the_bound_that_was_exceeded(source: str, bound: str, limit: int) -> None:
    """It has the number; a larger limit of the settings admits the pattern."""
    with pytest.raises(PatternError) as excinfo:
        compile_pattern(source)

    assert (bound, limit) == (excinfo.value.bound, excinfo.value.limit)
    assert f"more than the limit of {limit:,} ({bound})" in excinfo.value.message
    if bound in Limits.__slots__:
        raised: dict[str, Any] = {bound: 4 * limit}
        compile_pattern(source, replace(Limits(), **raised))


def test_an_error_has_a_remedy() -> None:
    """The message has the offset, the fault and the replacement."""
    with pytest.raises(PatternError) as excinfo:
        compile_pattern("^a{,5}$")

    expected = "at offset 2: `{,5}` is not a quantifier of ECMA-262; write `{0,5}`"
    assert expected == excinfo.value.message


def test_a_message_holds_no_unprintable_character() -> None:
    """Quoted parts of any pattern can be logged and sent."""
    with pytest.raises(PatternError) as excinfo:
        compile_pattern("[\x1b-\ud83d\x00-\x1f\x1f-\x00]")

    assert excinfo.value.message.isprintable()
    assert "`<U+001F>-<U+0000>`" in excinfo.value.message


def test_a_error_survives_a_worker_process() -> None:
    """A error that was pickled is the same error."""
    with pytest.raises(PatternError) as excinfo:
        compile_pattern("a{10001}")

    copy = pickle.loads(pickle.dumps(excinfo.value))

    assert (TOO_LARGE, 1, str(excinfo.value)) == (copy.fault, copy.offset, copy.message)
    assert ("pattern_repetitions", 10_000) == (copy.bound, copy.limit)


@pytest.mark.parametrize(
    ("source", "fault"),
    [
        pytest.param("(" * 2000 + ")" * 2000, TOO_LARGE, id="deep-groups"),
        pytest.param("(" * 9000, SYNTAX, id="deep-groups-not-closed"),
        pytest.param("^" + "(?=" * 2000 + ")" * 2000, TOO_LARGE, id="deep-look-aheads"),
        pytest.param("(" * 1500 + "a{999999}" + "){999999}" * 900, SYNTAX, id="huge-products"),
        pytest.param(r"\p{L}" * 2000, TOO_LARGE, id="many-large-classes"),
        pytest.param("a{" + "9" * 9000 + "}", TOO_LARGE, id="a-number-of-9000-digits"),
        pytest.param("\\" + "9" * 9000, SYNTAX, id="a-reference-of-9000-digits"),
    ],
)
def test_large_patterns_are_rejected_at_once(source: str, fault: PatternFault) -> None:
    """No size or depth of a pattern exhausts the stack."""
    with pytest.raises(PatternError) as excinfo:
        compile_pattern(source, replace(Limits(), pattern_length=20_000))

    assert fault is excinfo.value.fault
