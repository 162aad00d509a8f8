"""Decoding compared with the standard library and with a scan byte by byte."""

import json
from collections.abc import Iterator
from decimal import Decimal
from random import Random
from typing import Any

import pytest
from hypothesis import given, seed, settings
from hypothesis import strategies as st
from sidecheck_server.core.errors import RequestError
from sidecheck_server.core.payload import MalformedError, decode, nesting_depth
from sidecheck_server.core.types import as_pointer
from support.json_texts import NotStrictError, mutated, random_text, read_strictly

SECRET = "hunter2"
DEPTH = 30
HIDDEN = b'["\\n", ' + b"[" * 900 + b"]" * 900 + b', "x\\n"]'


def with_types(value: Any) -> Any:
    """Return *value* so that 1, 1.0 and true differ, and -0.0 from 0.0."""
    if isinstance(value, dict):
        return {name: with_types(item) for name, item in value.items()}
    if isinstance(value, list):
        return [with_types(item) for item in value]
    if isinstance(value, float | Decimal):
        number = Decimal(repr(value)) if isinstance(value, float) else value
        return "number", number, number.is_signed()
    return type(value).__name__, repr(value)


def nesting_by_bytes(text: bytes) -> int:
    """Scan *text*; a backslash takes the quote or the backslash after it along."""
    depth = deepest = position = 0
    inside = False
    while position < len(text):
        if text[position : position + 2] in (b'\\"', b"\\\\"):
            position += 2
            continue
        if text[position] == ord('"'):
            inside = not inside
        elif not inside:
            depth += text[position : position + 1] in (b"[", b"{")
            depth -= text[position : position + 1] in (b"]", b"}")
            deepest = max(deepest, depth)
        position += 1
    return deepest


def depth_of(value: Any) -> int:
    """Return how deep arrays and objects nest in a value."""
    if isinstance(value, dict | list):
        within = value.values() if isinstance(value, dict) else value
        return 1 + max(map(depth_of, within), default=0)
    return 0


def outcome(text: bytes) -> Any:
    """Return the typed value of *text*, the codes of its faults, or the exceeded bound."""
    try:
        return with_types(decode(text, max_depth=DEPTH))
    except MalformedError as error:
        return {violation.code for violation in error.violations}
    except RequestError as refusal:
        return refusal.metadata["bound"]


def answers(text: bytes) -> list[Any]:
    """Return the outcomes that are right by the standard library."""
    try:
        read = read_strictly(text)
    except NotStrictError:
        return [{"PAYLOAD_NOT_JSON"}, "number_digits", "payload_depth"]
    if nesting_by_bytes(text) > DEPTH:
        return ["payload_depth"]
    return [{"DUPLICATE_KEY"}] if read.repeated else [with_types(read.value)]


def repeated_keys(text: bytes) -> list[str]:
    """Return the pointers of the repeated keys that are found in *text*."""
    try:
        decode(text, max_depth=DEPTH)
    except MalformedError as error:
        return [violation.instance_location for violation in error.violations]
    return []


def error_text_of(text: bytes) -> str:
    """Return all that is said of *text* but for pointers."""
    try:
        decode(text, max_depth=DEPTH)
    except MalformedError as error:
        return repr(
            [
                (violation.message, violation.suggestion, violation.spec_url)
                for violation in error.violations
            ]
        )
    except RequestError as refusal:
        return repr((refusal.message, refusal.metadata))
    return ""


def draws(count: int) -> Iterator[Random]:
    """Yield sources of randomness, the same ones every time."""
    for number in range(count):
        yield Random(number)


@seed(1)
@settings(max_examples=150, deadline=None, database=None)
@given(st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text())
def test_every_scalar_is_read_as_it_was_written(value: Any) -> None:
    """Numbers keep their value, texts every character."""
    text = json.dumps({"a": [value]}).encode()

    assert with_types({"a": [value]}) == with_types(decode(text, max_depth=DEPTH))


def test_texts_without_repeated_keys_are_read() -> None:
    """Strings have arbitrary contents and escapes."""
    for text in [
        b'{"a:b":{"\\u003a":"\\u003A::"},":":[":"]}',
        *(random_text(random, repeated_keys=False) for random in draws(1500)),
    ]:
        assert with_types(read_strictly(text).value) == outcome(text), text


def test_repeated_keys_are_found_exactly() -> None:
    """Each is reported once, at its location in the resulting value."""
    for text in [
        b'{"a":1,"\\u0061":2}',
        b'{"a":1,"a":"\\u003a"}',
        b'{"a":":","a":"::\\u003A"}',
        b'{"a":{"b":1,"b":2},"a":{"c":[{"d":1,"d":1}]}}',
        b'{"a":1,"a":2,"b":"\\u003a"}',
        b'{"a":1,"a":"\\\\u003a"}',
        b'{"a":"\\\\\\u003a","a":"\\\\u003a:"}',
        *(random_text(random, repeated_keys=True) for random in draws(2500)),
    ]:
        repeated = read_strictly(text).repeated
        expected = {as_pointer((*path, name)) for path, name in repeated}
        assert sorted(expected) == sorted(repeated_keys(text)), text


@seed(2)
@settings(max_examples=400, deadline=None, database=None)
@given(st.lists(st.sampled_from([*b'"\\[]{}nu0a ', 0xFF]), max_size=40).map(bytes))
def test_the_nesting_depth_equals_a_scan_byte_by_byte(text: bytes) -> None:
    """The input may be any bytes."""
    assert nesting_by_bytes(text) == nesting_depth(text)


def test_nesting_of_json_is_that_of_its_value() -> None:
    """Strings have arbitrary contents and escapes."""
    for random in draws(1500):
        text = random_text(random, repeated_keys=False)
        assert depth_of(read_strictly(text).value) == nesting_depth(text), text


def test_the_standard_library_agrees_on_json() -> None:
    """Both read a mutated text equally, or both reject it."""
    for text in [
        HIDDEN,
        b'"\\ud800"',
        b'"\\ud83d\\ud83d\\ude00"',
        b"-0",
        b"-0.0",
        b"1E400",
        b"5e-324",
        b"9" * 4300,
        b"-" + b"9" * 4301,
        b'{"a":1,"b":' + b"9" * 4300 + b',"a":2}',
        *map(mutated, draws(8000)),
    ]:
        actual = outcome(text)
        assert actual in answers(text), text


@seed(3)
@settings(max_examples=300, deadline=None, database=None)
@given(st.binary(max_size=60))
def test_any_bytes_get_an_answer(text: bytes) -> None:
    """A value, a violation or a bound; nothing else is raised."""
    assert outcome(text) in answers(text)


def test_messages_have_no_text_of_the_payload() -> None:
    """The text is at a random place of malformed JSON."""
    for random in draws(4000):
        text = mutated(random)
        position = random.randint(0, len(text))
        secret = random.choice([SECRET, f'"{SECRET}"', f'"{SECRET}":', f'"{SECRET}'])
        assert SECRET not in error_text_of(text[:position] + secret.encode() + text[position:])


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(f'{{"a": {{"{SECRET}": 1}}, "{SECRET}": 1, "{SECRET}": 2}}', id="a key"),
        pytest.param(f'{{"a": "{SECRET}", "a": "{SECRET}"}}', id="a value of a repeated key"),
    ],
)
def test_messages_of_repeated_keys_have_no_text_of_the_payload(text: str) -> None:
    """Only the pointer has names of the payload."""
    expected = error_text_of(text.encode())

    assert (True, False) == ("duplicate key" in expected, SECRET in expected)
