"""Violations of payloads that are not JSON, or are ambiguous JSON."""

from typing import Any

import msgspec
import pytest
from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.payload import MalformedError, decode, nesting_depth
from sidecheck_server.core.payload.faults import _FAULTS
from sidecheck_server.core.types import Violation

NOT_JSON = [
    pytest.param(b"", "not JSON: it is empty", id="nothing"),
    pytest.param(b" \n", "not JSON: it is empty", id="white space"),
    pytest.param(
        b'{"a": [1, 2',
        "not JSON: it ends before the value is complete at line 1, column 12",
        id="an end in between",
    ),
    pytest.param(
        b'\n\n  "abc',
        "not JSON: it ends before the value is complete at line 3, column 7",
        id="a string without an end",
    ),
    pytest.param(
        b'{"a": 1,}',
        "not JSON: a trailing comma at line 1, column 9",
        id="a comma too many in an object",
    ),
    pytest.param(
        b"[1,\n]",
        "not JSON: a trailing comma at line 2, column 1",
        id="a comma too many in an array",
    ),
    pytest.param(
        b"{} {}",
        "not JSON: text after the end of the JSON value at line 1, column 4",
        id="two values",
    ),
    pytest.param(
        b"{a: 1}",
        "not JSON: a key that is not a string in double quotes at line 1, column 2",
        id="a key without quotes",
    ),
    pytest.param(
        b"[1 2]", "not JSON: a missing comma or closing bracket at line 1, column 4", id="no comma"
    ),
    pytest.param(
        b'{"a": 1 "b": 2}',
        "not JSON: a missing comma or closing brace at line 1, column 9",
        id="no comma between members",
    ),
    pytest.param(
        b'{"a" 1}', "not JSON: a missing colon after a key at line 1, column 6", id="no colon"
    ),
    pytest.param(
        b"[01]",
        "not JSON: a malformed number at line 1, column 3",
        id="a leading zero",
    ),
    pytest.param(
        b"[1.]",
        "not JSON: a malformed number at line 1, column 4",
        id="a point without digits",
    ),
    pytest.param(
        b'["\\x41"]',
        "not JSON: an invalid escape sequence at line 1, column 4",
        id="an escape of JavaScript",
    ),
    pytest.param(
        b'["\\u00g0"]',
        "not JSON: a \\u escape without four hexadecimal digits at line 1, column 7",
        id="an escape without digits",
    ),
    pytest.param(
        b'["a\tb"]',
        "not JSON: an unescaped control character in a string at line 1, column 4",
        id="a tab in a string",
    ),
    pytest.param(
        b'["a\\"\nb"]',
        "not JSON: an unescaped control character in a string at line 1, column 6",
        id="a line break after an escaped quote",
    ),
    pytest.param(
        b"nope\n",
        "not JSON: an unexpected character at line 1, column 1",
        id="a word that begins like a literal, before a line break",
    ),
    pytest.param(
        b"[1, falsy]",
        "not JSON: an unexpected character at line 1, column 5",
        id="a word that begins like a literal, in an array",
    ),
    pytest.param(
        b"[\"\xc3\xa9\", 'a']",
        "not JSON: an unexpected character at line 1, column 7",
        id="single quotes after a letter of two bytes",
    ),
    pytest.param(
        b"[1, NaN]",
        "not JSON: NaN and Infinity are not JSON numbers at line 1, column 5",
        id="NaN",
    ),
    pytest.param(
        b'{"a": -Infinity}',
        "not JSON: NaN and Infinity are not JSON numbers at line 1, column 8",
        id="negative infinity",
    ),
    pytest.param(
        b'["\\\\", "\\ud800"]',
        "not JSON: a lone surrogate at line 1, column 9",
        id="the first a lone surrogate",
    ),
    pytest.param(
        b'["\\ude00"]',
        "not JSON: a lone surrogate at line 1, column 3",
        id="the second a lone surrogate",
    ),
    pytest.param(
        b'["\\\\ud800", ]',
        "not JSON: a trailing comma at line 1, column 13",
        id="a backslash before a seeming lone surrogate",
    ),
    pytest.param(b'["\xff"]', "not JSON: it is not UTF-8 text", id="a byte that UTF-8 lacks"),
    pytest.param(
        b'["\xed\xa0\x80"]', "not JSON: it is not UTF-8 text", id="a surrogate in three bytes"
    ),
    pytest.param(
        b"\xef\xbb\xbf{}",
        "not JSON: it begins with a byte order mark; JSON is UTF-8 without one",
        id="the byte order mark of UTF-8",
    ),
    pytest.param(
        '{"a": 1}'.encode("utf-16"),
        "not JSON: it begins with a byte order mark; JSON is UTF-8 without one",
        id="UTF-16",
    ),
]
TOO_MANY_DIGITS = [
    pytest.param(b'[1, "1e9999", 1e9999]', "line 1, column 15", id="a number beside its text"),
    pytest.param(b"[1,\n -1.5E+4400, 2]", "line 2, column 2", id="a negative number"),
    pytest.param(b"9" * 4300 + b".5", "line 1, column 1", id="an integer with a fraction"),
    pytest.param(b"[0." + b"3" * 4300 + b"]", "line 1, column 2", id="a long fraction"),
    pytest.param(
        b'["a\\"1e9999\\\\", "", 0e9999, 1e4299, 1.5e-4298, -0.02E+04400]',
        "line 1, column 48",
        id="after texts and numbers that look alike",
    ),
    pytest.param(b"[1e-4301]", "line 1, column 2", id="a number close to zero"),
    pytest.param(
        b"[" + b"1e4299,\n" * 2000 + b"1e4300]",
        "line 2001, column 1",
        id="far down in a long text",
    ),
    pytest.param(
        b"9" * 2154 + b"." + b"9" * 9 + b"e2155",
        "line 1, column 1",
        id="half of it in the exponent",
    ),
    pytest.param(
        b"[\n" + b"9" * 4300 + b",\n-" + b"9" * 4301 + b",\n1]",
        "line 3, column 1",
        id="an integer of 4,301 digits",
    ),
    pytest.param(b"1e" + b"9" * 5000, "line 1, column 1", id="an exponent of many digits"),
]
REPEATED = [
    pytest.param(b'{"a": 1, "a": 1}', ["/a"], id="the same value twice"),
    pytest.param(b'{"a": 1, "a": 2, "a": 3}', ["/a"], id="three times"),
    pytest.param(b'[{"/": 1, "b": 2, "/": 3, "b": 4}]', ["/0/~1", "/0/b"], id="two keys"),
    pytest.param(
        b'{"x": {"b": 1, "b": 1}, "y": [{}, {"c": 1, "c": 1}], "x2": {"d": 1, "d": 1}}',
        ["/x/b", "/y/1/c", "/x2/d"],
        id="in the order of the text",
    ),
    pytest.param(
        b'{"a": {"b": 1, "b": 1}, "a": {}}', ["/a"], id="not inside of a value that is lost"
    ),
    pytest.param(b'{"": 1, "\\u0061": 1, "a": 1}', ["/a"], id="through an escape"),
    pytest.param(b'{":": 1, "\\u003a": 1}', ["/:"], id="through an escaped colon"),
]


def excinfo(text: bytes) -> tuple[Violation, ...]:
    with pytest.raises(MalformedError) as malformed:
        decode(text, max_depth=128)
    return malformed.value.violations


@pytest.mark.parametrize(("text", "message"), NOT_JSON)
def test_malformed_json_is_reported_with_its_position(text: bytes, message: str) -> None:
    """One violation describes the fault."""
    expected = Violation(
        "", "", "", "PAYLOAD_NOT_JSON", message, spec_url="https://www.rfc-editor.org/rfc/rfc8259"
    )

    assert (expected,) == excinfo(text)


@pytest.mark.parametrize(("text", "place"), TOO_MANY_DIGITS)
def test_a_number_with_too_many_digits_has_its_position(text: bytes, place: str) -> None:
    """It is the first such number in the text."""
    with pytest.raises(RequestError) as refusal:
        decode(text, max_depth=128)

    assert {"bound": "number_digits", "limit": "4300"} == refusal.value.metadata
    assert (
        f"LIMIT_EXCEEDED: the digits of the number at {place}, written without exponent: more than "
        "the limit of 4,300 (number_digits)"
    ) == str(refusal.value)


@pytest.mark.parametrize(("text", "pointers"), REPEATED)
def test_repeated_keys_are_reported_with_their_locations(text: bytes, pointers: list[str]) -> None:
    """Each is reported once, in the order of the text."""
    expected = tuple(
        Violation(
            pointer,
            "",
            "",
            "DUPLICATE_KEY",
            "duplicate key in the object; JSON parsers disagree on which value counts",
            spec_url="https://www.rfc-editor.org/rfc/rfc8259#section-4",
        )
        for pointer in pointers
    )

    assert expected == excinfo(text)


@pytest.mark.parametrize(
    ("maximum", "pointers", "truncated"),
    [
        pytest.param(1, ["/a"], True, id="one of three"),
        pytest.param(2, ["/a", "/b/0/c"], True, id="two of three"),
        pytest.param(3, ["/a", "/b/0/c", "/d/e"], False, id="all of them"),
    ],
)
def test_no_more_repeated_keys_are_reported_than_wanted(
    maximum: int, pointers: list[str], truncated: bool
) -> None:
    """The first ones of the text, and whether there are others."""
    text = b'{"a": 1, "a": 1, "b": [{"c": 1, "c": 1}], "d": {"e": 1, "e": 1}}'

    with pytest.raises(MalformedError) as malformed:
        decode(text, max_depth=128, max_violations=maximum)

    locations = [violation.instance_location for violation in malformed.value.violations]
    assert (pointers, truncated) == (locations, malformed.value.truncated)


@pytest.mark.parametrize(
    ("text", "deepest"),
    [
        pytest.param(b'{"a": [[], [0], 1], "b": "[[[["}', 3, id="a scalar at the bottom"),
        pytest.param(b'[{"": {"": [[]]}}, ""]', 5, id="an empty array at the bottom"),
        pytest.param(b'[{"": {"": [{}]}}, ""]', 5, id="an empty object at the bottom"),
    ],
)
def test_the_bound_is_the_deepest_nesting_that_is_read(text: bytes, deepest: int) -> None:
    """The length of the text does not matter."""
    padded = text + b" " * 300

    assert decode(padded, max_depth=deepest) == decode(text, max_depth=128)
    with pytest.raises(RequestError):
        decode(padded, max_depth=deepest - 1)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        pytest.param(b"9" * 4300, int("9" * 4300), id="an integer of 4,300 digits"),
        pytest.param(b"-0", 0, id="negative zero as an integer"),
        pytest.param(b'"\\ud83d\\ude00"', "😀", id="a surrogate pair"),
        pytest.param(b'"\\u0000\x7f"', "\x00\x7f", id="control characters that may stand there"),
        pytest.param(b'\r\n\t {"": null} ', {"": None}, id="an empty key, and white space"),
    ],
)
def test_valid_json_is_read(text: bytes, value: Any) -> None:
    """The texts are unusual but valid JSON."""
    decoded = decode(text, max_depth=128)

    assert (type(value), value) == (type(decoded), decoded)


@pytest.mark.parametrize(
    ("text", "depth"),
    [
        pytest.param(b"", 0, id="nothing"),
        pytest.param(b"1", 0, id="a scalar"),
        pytest.param(b"[]", 1, id="an array"),
        pytest.param(b'[{"a": [1]}, [[2]]]', 3, id="arrays and objects"),
        pytest.param(b']]"[', 0, id="more ends than beginnings"),
        pytest.param(b'["[[[", "\\"[[[", "\\\\", [[]]]', 3, id="brackets in strings"),
        pytest.param(b'["\\n", "[["]', 1, id="an escape before brackets in a string"),
        pytest.param(b'["\\n", [[[]]], "x\\n"]', 4, id="an escape before brackets"),
        pytest.param(b'["\\\\\\"[", [[]]]', 3, id="a backslash and a quote in a string"),
        pytest.param(b'[["[[', 2, id="a string without an end"),
    ],
)
def test_nesting_counts_brackets_outside_of_strings(text: bytes, depth: int) -> None:
    """Escapes do not change the count."""
    assert depth == nesting_depth(text)


@pytest.mark.parametrize("bracket", [b"[", b'{"a":'])
def test_nesting_beyond_the_bound_is_rejected_before_anything_is_read(bracket: bytes) -> None:
    """The error names the bound; at the bound, other faults are reported instead."""
    with pytest.raises(RequestError) as deep:
        decode(bracket * 9, max_depth=8)

    assert ErrorReason.LIMIT_EXCEEDED == deep.value.reason
    assert {"bound": "payload_depth", "limit": "8", "found": "9"} == deep.value.metadata
    with pytest.raises(MalformedError):
        decode(bracket * 8, max_depth=8)


def test_every_parsed_error_text_is_one_of_msgspec() -> None:
    """msgspec does not document them: a release with other texts fails this test."""
    texts = [
        *(b"[1,]", b"1 2", b"{1:2}", b"[1 2]", b'{"a":1 2}', b'{"a" 1}', b"[1.]"),
        *(b'["\\x"]', b'["\\u12g4"]', b'["\\udc00"]'),
    ]
    faults = []
    for text in texts:
        with pytest.raises(msgspec.DecodeError, match=r"\(byte \d+\)") as malformed:
            msgspec.json.decode(text)
        faults += [part for part, _ in _FAULTS if part in str(malformed.value)]

    assert sorted(part for part, _ in _FAULTS) == sorted(faults)
