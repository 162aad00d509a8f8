"""Digests: equal values have equal digests, different values different ones."""

import hashlib
import json
import math
import struct
from decimal import Decimal
from typing import Any

import pytest
import rfc8785
from hypothesis import example, given, seed, settings
from hypothesis import strategies as st
from sidecheck_server.core.json_values import canonical_json, digest_of, json_equal
from sidecheck_server.core.payload import decode, encode_json, read_json
from sidecheck_server.core.types import Document

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
DOUBLES = st.floats(allow_nan=False, allow_infinity=False)
SMALL_DOUBLES = st.floats(-(2**53), 2**53, allow_nan=False)
BITS = (
    st.binary(min_size=8, max_size=8)
    .map(lambda bits: float(struct.unpack("<d", bits)[0]))
    .filter(math.isfinite)
)


def values(numbers: st.SearchStrategy[float]) -> st.SearchStrategy[Any]:
    scalars = st.none() | st.booleans() | numbers | TEXTS
    return st.recursive(
        scalars,
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
        max_leaves=10,
    )


def text_of(value: Any) -> str:
    return canonical_json(value).decode()


@pytest.mark.parametrize(
    ("value", "text"),
    [
        pytest.param({"b": 1, "a": [True, None]}, '{"a":[true,null],"b":1}', id="no white space"),
        pytest.param(
            {"\U0001f600": 1, "\ufb33": 2, "é": 3, "a": 4, "": 5},
            '{"":5,"a":4,"é":3,"\U0001f600":1,"\ufb33":2}',
            id="members in the order of UTF-16, where a pair comes before U+FB33",
        ),
        pytest.param(
            '\x00\x08\t\n\x0b\x0c\r\x1f "\\/\x7f\u2028é😀',
            '"\\u0000\\b\\t\\n\\u000b\\f\\r\\u001f \\"\\\\/\x7f\u2028é😀"',
            id="only what must be escaped is",
        ),
        pytest.param([], "[]", id="an empty array"),
        pytest.param({}, "{}", id="an empty object"),
        pytest.param(1.0, "1", id="a double without a fraction"),
        pytest.param(-0.0, "0", id="negative zero"),
        pytest.param(2**53, "9007199254740992", id="2^53"),
        pytest.param(2**53 + 1, "9007199254740993", id="2^53 + 1, which is no double"),
        pytest.param(10**30, "1" + "0" * 30, id="a large integer"),
        pytest.param(1e22, "1" + "0" * 22, id="a large double"),
        pytest.param(
            123456789012345680000.0, "123456789012345680000", id="a double, by its shortest digits"
        ),
        pytest.param(1e-6, "0.000001", id="the smallest double without an exponent"),
        pytest.param(1e-7, "1e-7", id="the largest double with an exponent"),
        pytest.param(5e-324, "5e-324", id="the smallest double"),
        pytest.param(2.0**1023, "8988465674311580" + "0" * 292, id="a very large double"),
        pytest.param(-123.456, "-123.456", id="a fraction"),
        pytest.param(10**308, "1" + "0" * 308, id="the most zeros"),
        pytest.param(-12 * 10**309, "-12e309", id="more zeros"),
        pytest.param(333333333.33333329, "333333333.3333333", id="the shortest digits"),
    ],
)
def test_the_canonical_text_is_that_of_rfc_8785_with_exact_integers(value: Any, text: str) -> None:
    """The values are at the edges of the rules."""
    assert text == text_of(value)


@seed(1)
@settings(max_examples=150, deadline=None, database=None)
@given(values(st.integers(-(2**53) + 1, 2**53 - 1) | SMALL_DOUBLES))
@example({"\ud7ff": 1, "\ue000": 2, "\U00010000": 3})
def test_canonical_text_equals_rfc_8785_for_doubles(value: Any) -> None:
    """Another implementation writes the same bytes for all that doubles can hold."""
    assert rfc8785.dumps(value) == canonical_json(value)


@seed(2)
@settings(max_examples=600, deadline=None, database=None)
@given(DOUBLES | BITS)
def test_a_double_has_the_text_of_its_value(value: float) -> None:
    """It is the text of an equal integer, or else that of RFC 8785."""
    is_large_integer = value.is_integer() and abs(value) >= 2**53
    expected = rfc8785.dumps(value)
    if is_large_integer:
        expected = str(int(Decimal(repr(value)))).encode()

    assert expected == canonical_json(value)


@seed(3)
@settings(max_examples=150, deadline=None, database=None)
@given(values(st.integers() | DOUBLES | BITS))
@example([1e22, 10**22, 1e23, 10**23, 2.0**53, 1.2345678901234568e20])
def test_canonical_text_round_trips(value: Any) -> None:
    """Decoding and encoding again gives the same text and an equal value."""
    text = canonical_json(value)
    decoded = decode(text, max_depth=20)

    assert text == canonical_json(decoded)
    assert json_equal(read_json(encode_json(value)), decoded)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        pytest.param('{"a":1,"b":2}', '{ "b" : 2, "a" : 1 }', id="order and white space"),
        pytest.param('{"maximum":1.0}', '{"maximum":1}', id="1.0 and 1"),
        pytest.param('{"maximum":1e2}', '{"maximum":100.0}', id="1e2 and 100.0"),
        pytest.param('{"maximum":1e22}', '{"maximum":10000000000000000000000}', id="10^22"),
        pytest.param('{"a":"\\u0062"}', '{"\\u0061":"b"}', id="escapes"),
    ],
)
def test_equal_values_have_one_digest(first: str, second: str) -> None:
    """Formatting and the notation of numbers do not affect the digest."""
    assert digest_of(json.loads(first)) == digest_of(json.loads(second))


@pytest.mark.parametrize(
    ("first", "second"),
    [
        pytest.param({"const": 2**53}, {"const": 2**53 + 1}, id="integers that share a double"),
        pytest.param(
            {"const": 123456789012345683968},
            {"const": 123456789012345680000.0},
            id="an integer and the double of its value, which stands for a decimal",
        ),
        pytest.param({"const": 1}, {"const": True}, id="1 and true"),
        pytest.param({"const": 1}, {"const": "1"}, id="1 and its text"),
        pytest.param({"const": None}, {}, id="null and nothing"),
        pytest.param({"enum": [1, 2]}, {"enum": [2, 1]}, id="the order of an array"),
        pytest.param({"a": "é"}, {"a": "e\u0301"}, id="a composed and a decomposed letter"),
        pytest.param({"a": {"b": 1}}, {"a": {}, "b": 1}, id="the place of a member"),
    ],
)
def test_different_values_have_different_digests(first: Any, second: Any) -> None:
    """The smallest difference gives another digest."""
    assert digest_of(first) != digest_of(second)


def test_digest_is_the_sha256_of_the_canonical_text() -> None:
    """SHA-256 of the canonical text, in hexadecimal."""
    expected = "sha256:" + hashlib.sha256(b'{"type":"string"}').hexdigest()

    assert expected == digest_of({"type": "string"})


def test_a_digest_includes_the_documents() -> None:
    """It covers their URIs and texts, and does not depend on their order."""
    schema: Any = {"$ref": "urn:a"}
    a, b = Document("urn:a", b"{}"), Document("urn:b", b"{}")
    brought: Any = {document.uri: hashlib.sha256(document.json).hexdigest() for document in (a, b)}
    several = [
        digest_of(schema),
        digest_of(schema, [a]),
        digest_of(schema, [Document("urn:a", b"{ }")]),
        digest_of(schema, [Document("urn:b", b"{}")]),
        digest_of(schema, [a, b]),
    ]

    assert len(several) == len(set(several))
    assert digest_of(schema, [a, b]) == digest_of(schema, [b, a])
    assert digest_of(schema) == digest_of(schema, [])
    assert digest_of([schema, brought]) == digest_of(schema, [a, b])


def test_a_lone_surrogate_has_no_digest() -> None:
    """Decoded JSON texts contain none."""
    with pytest.raises(UnicodeEncodeError):
        digest_of({"a": "\ud800"})
