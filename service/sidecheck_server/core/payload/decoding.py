"""Decoding and encoding of JSON, with limits and a check for duplicate keys."""

import json
import re
from collections.abc import Iterator
from gc import get_referents
from itertools import accumulate
from operator import add
from typing import Any, TypeAlias, Union

import msgspec

from sidecheck_server.core.errors import RequestError
from sidecheck_server.core.exact_numbers import MOST_DIGITS, ExactNumber, read_number
from sidecheck_server.core.limits import limit_exceeded_error
from sidecheck_server.core.payload.faults import (
    MalformedError,
    diagnose,
    find_long_number,
    line_and_column,
)
from sidecheck_server.core.types import JsonValue, Violation, as_pointer

__all__ = [
    "decode",
    "decoding_steps",
    "encode_json",
    "encode_like",
    "encode_sorted",
    "has_long_integers",
    "is_object_text",
    "nesting_depth",
    "number_steps",
    "read_json",
]

_LONG_BITS = 1700
"""The size of an integer of 512 digits."""


def _write_exactly(value: object) -> msgspec.Raw:
    if isinstance(value, ExactNumber):
        return msgspec.Raw(value.text.encode())
    raise TypeError(f"{type(value).__name__} is not a JSON value")


encode_json = msgspec.json.Encoder(enc_hook=_write_exactly).encode
"""Returns the JSON text of a value, in UTF-8. Its nesting must be bounded."""

encode_sorted = msgspec.json.Encoder(enc_hook=_write_exactly, order="sorted").encode
"""Returns the JSON text of a value with properties sorted by name, in UTF-8."""


def encode_like(text: bytes, value: JsonValue) -> bytes:
    """Return the JSON text of *value*, decoded from *text* and possibly changed.

    msgspec holds the GIL while it encodes a value. Long integers are slow to convert, so
    they are converted before, one by one. The nesting of *value* must be bounded.
    """
    return encode_json(_encode_long_integers(value) if has_long_integers(text) else value)


def _encode_long_integers(value: JsonValue) -> Any:
    """Return *value* with its long integers as encoded texts."""
    if isinstance(value, dict):
        return {name: _encode_long_integers(part) for name, part in value.items()}
    if isinstance(value, list):
        return [_encode_long_integers(part) for part in value]
    if isinstance(value, int) and value.bit_length() >= _LONG_BITS:
        return msgspec.Raw(str(value).encode())
    return value


_DECODE = msgspec.json.Decoder().decode
_ENCODE = msgspec.json.Encoder().encode
_DECODE_EXACTLY = msgspec.json.Decoder(float_hook=read_number).decode

read_json = _DECODE_EXACTLY
"""Returns the value of a JSON text, checking only the syntax.

Raises msgspec.DecodeError, UnicodeDecodeError or RecursionError."""

_SLOW_LENGTH = 8 << 10
"""Length in bytes above which texts are searched for numbers that are slow to convert."""

_LONG_INTEGER = re.compile(rb"[0-9]{512,}+")
"""Matches integers of which a few take as long to decode as a text of `_SLOW_LENGTH`."""

_AS_ZEROS = bytes.maketrans(b"123456789", b"000000000")
_LONG_AS_ZEROS = b"0" * 512

_SQUARED_DIGITS = 1400
"""Squared number of digits that are converted in one step, from text and to text."""

_UNUSUAL = re.compile(rb"[0-9.]{17,}+|[0-9][eE]")
"""Matches numbers that may not be doubles, and others that take as long to decode."""

_UNUSUAL_STEPS = 56
"""Steps of decoding and comparing a number that `_UNUSUAL` matches."""

_CHARACTERS_PER_STEP = 2
"""Characters that are decoded in one step, at worst."""

_AS_CLASSES = bytes.maketrans(b"123456789E", b"000000000e")
_MANY_DIGITS = b"0" * 16
_LARGE_DOUBLE = _MANY_DIGITS + b".0"
_LARGE_EXPONENT = b"0e00"
_FRACTION = re.compile(rb"\.[0-9]").search
_SPACE = b" \t\r\n"

_SHORT_LENGTH = 64
"""Length of texts, in bytes, up to which exact decoding is always the fastest."""

_CHARACTERS_PER_POINT = 100
"""Average number of characters per decimal point from which on exact decoding is faster."""


def decode(
    text: bytes, *, max_depth: int, depth_bound: str = "payload_depth", max_violations: int = 1000
) -> JsonValue:
    """Return the value of the JSON *text*, in time linear in its length.

    The caller must limit the length.

    Raises:
        MalformedError: *text* is not JSON in UTF-8, or has duplicate keys. It has at most
            *max_violations* violations.
        RequestError: LIMIT_EXCEEDED with bound *depth_bound* if arrays and objects nest
            deeper than *max_depth*, or with bound ``number_digits``.
    """
    # The encoded value; None if it has exact numbers or is slow to encode.
    encoded: bytes | None = None
    value: JsonValue
    try:
        if len(text) > _SHORT_LENGTH and _FRACTION(text) and _has_many_fractions(text):
            value = _DECODE(text)
            encoded = _ENCODE(value)
            if _are_equal_without_space(encoded, text) and not _has_large_doubles(encoded):
                encoded = text
            else:
                value = _DECODE_EXACTLY(text)
                encoded = _ENCODE(value)
        else:
            value = _DECODE_EXACTLY(text)
            if len(text) <= _SLOW_LENGTH or not has_long_integers(text):
                encoded = _ENCODE(value)
    except TypeError:
        encoded = None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        _check_depth(text, max_depth, depth_bound)
        if isinstance(error, msgspec.ValidationError):
            raise _number_too_long(text) from None
        raise MalformedError((diagnose(text, error),)) from None
    except RecursionError:
        _check_depth(text, max_depth, depth_bound)
        raise
    # Each level takes two brackets. Exact numbers have referents, which `_nests_deeper` would
    # count as a level, so a value that may have any is measured by its text.
    if len(text) > 2 * max_depth and (encoded is None or _nests_deeper(value, max_depth)):
        _check_depth(text, max_depth, depth_bound)
    if encoded != text and (
        _has_any_repeated_key(text) if encoded is None else _has_repeated_key(text, encoded)
    ):
        violations, truncated = _find_repeated_keys(text, max_violations)
        raise MalformedError(violations, truncated=truncated)
    return value


def _has_many_fractions(text: bytes) -> bool:
    """Return whether encoding and comparing *text* is faster than exact decoding.

    Exact decoding calls Python code for each number with a point or an exponent.
    """
    return text.count(b".") * _CHARACTERS_PER_POINT > len(text) and not has_long_integers(text)


def _has_large_doubles(encoded: bytes) -> bool:
    """Return whether *encoded*, a text by msgspec, may have doubles from 2^53 on."""
    find = encoded.translate(_AS_ZEROS).find
    return find(_LARGE_EXPONENT) >= 0 or find(_LARGE_DOUBLE) >= 0


def _are_equal_without_space(encoded: bytes, text: bytes) -> bool:
    """Return whether *text* and *encoded* are equal apart from white space."""
    return encoded == text or (encoded.translate(None, _SPACE) == text.translate(None, _SPACE))


def _number_too_long(text: bytes) -> RequestError:
    offset = find_long_number(text)
    where = "" if offset is None else f" at {line_and_column(text, offset)}"
    return limit_exceeded_error(
        "number_digits", MOST_DIGITS, f"the digits of the number{where}, written without exponent"
    )


def has_long_integers(text: bytes) -> bool:
    """Return whether the JSON *text* may have many long integers.

    CPython converts integers from and to text in time that grows with the square of their
    length: a hundred of 4,300 digits take 8 ms to decode, and 23 ms to encode.
    """
    return len(text) > _SLOW_LENGTH and _LONG_AS_ZEROS in text.translate(_AS_ZEROS)


def number_steps(text: bytes) -> int:
    """Return the steps of processing the unusual numbers of *text*.

    These are long integers and numbers that may not be doubles. Short texts have few.
    """
    if len(text) <= _SLOW_LENGTH:
        return 0
    steps = 0
    if has_long_integers(text):
        steps = sum(len(match) ** 2 for match in _LONG_INTEGER.findall(text)) // _SQUARED_DIGITS
    if _has_unusual_numbers(text):
        steps += _UNUSUAL_STEPS * len(_UNUSUAL.findall(text))
    return steps


def decoding_steps(text: str) -> int:
    """Return the most steps of decoding the JSON *text*.

    It is for JSON texts inside a payload, of which there may be many; the payload itself is
    bounded by its length.
    """
    unusual = len(_UNUSUAL.findall(text.encode("utf-8", "surrogatepass")))
    return len(text) // _CHARACTERS_PER_STEP + _UNUSUAL_STEPS * unusual


def _has_unusual_numbers(text: bytes) -> bool:
    """Return whether *text* may have 16 digits, or an exponent of two, in a number."""
    classes = text.translate(_AS_CLASSES, b".+-")
    return b"0e00" in classes or _MANY_DIGITS in classes


def _check_depth(text: bytes, max_depth: int, depth_bound: str) -> None:
    if text.count(b"[") + text.count(b"{") > max_depth:
        depth = nesting_depth(text)
        if depth > max_depth:
            raise limit_exceeded_error(
                depth_bound, max_depth, "arrays and objects nest too deeply", depth
            )


def _nests_deeper(value: JsonValue, depth: int) -> bool:
    """Return whether arrays and objects nest deeper in *value* than *depth*."""
    # The referents of a container are its contents; strings and numbers have no referents.
    # So each iteration descends one level, in C.
    level: list[JsonValue] = [value]
    for _ in range(depth):
        level = get_referents(*level)
        if not level:
            return False
    return any(isinstance(item, dict | list) for item in level)


_NEITHER_QUOTE_NOR_BRACKET = bytes(c for c in range(256) if c not in b'"[]{}')
_AS_BITS = bytes.maketrans(b"[{]}", b"1100")


def nesting_depth(text: bytes) -> int:
    """Return the nesting depth of brackets in *text*, which need not be JSON.

    Brackets in strings, even in an unterminated one, do not count. For a text that is not
    JSON the result is exact up to the first fault, so that no decoder descends deeper.
    """
    if b"\\" in text:
        # After removal of escaped backslashes, every backslash before a quote escapes it.
        text = text.replace(b"\\\\", b"").replace(b'\\"', b"")
    # Remove strings without brackets.
    skeleton = text.translate(None, _NEITHER_QUOTE_NOR_BRACKET).replace(b'""', b"")
    brackets = b"".join(skeleton.split(b'"')[::2])
    # Eight brackets form an octet. Tables give the change of depth over each octet, and the
    # peak within it. Closing brackets pad the last octet.
    octets = (len(brackets) + 7) // 8
    bits = brackets.translate(_AS_BITS).ljust(8 * octets, b"0")
    packed = int(bits or b"0", 2).to_bytes(octets, "big")
    starts = accumulate(map(_CHANGE.__getitem__, packed), initial=0)
    return max(map(add, starts, map(_PEAK.__getitem__, packed)), default=0)


def _depths_within(octet: int) -> list[int]:
    steps = (1 if octet >> place & 1 else -1 for place in reversed(range(8)))
    return list(accumulate(steps, initial=0))


_CHANGE = tuple(_depths_within(octet)[-1] for octet in range(256))
_PEAK = tuple(max(_depths_within(octet)) for octet in range(256))


_MAX_POINTER_CHARACTERS = 1 << 20
"""Maximum total length of all pointers: one long key can be part of many pointers."""

#: The path of a value: the path of its container, and the last step.
_Path: TypeAlias = Union[tuple["_Path", str | int], None]


def _has_repeated_key(text: bytes, encoded: bytes) -> bool:
    """Return whether an object in *text* has a duplicate key.

    *text* must be JSON, and *encoded* the encoded value, which has the last of each duplicate.
    """
    # Decision 0004: counting colons is fast. *encoded* lacks the colon of each lost
    # duplicate. All colons in strings are in both texts, except for escaped ones.
    colons = text.count(b":")
    if colons > 1 and b"\\" in text and b"\\u003" in text:
        escapes = text.replace(b"\\\\", b"")
        colons += escapes.count(b"\\u003a") + escapes.count(b"\\u003A")
    return colons > 1 and colons != encoded.count(b":")


def _has_any_repeated_key(text: bytes) -> bool:
    """Return whether *text* has a duplicate key, without converting numbers."""
    return next(_iterate_repeated_keys(text), None) is not None


def _find_repeated_keys(text: bytes, max_violations: int) -> tuple[tuple[Violation, ...], bool]:
    """Return a violation for each duplicate key in *text*, and whether there are more.

    Violations are in text order, at most *max_violations*, and fewer if pointers are very
    long. Only the last value of a duplicate key is searched.
    """
    violations: list[Violation] = []
    characters_left = _MAX_POINTER_CHARACTERS
    for path, name in _iterate_repeated_keys(text):
        if len(violations) == max_violations or characters_left <= 0:
            return tuple(violations), True
        pointer = as_pointer((*_flatten_path(path), name))
        characters_left -= len(pointer)
        violations.append(_build_violation(pointer))
    return tuple(violations), False


def _iterate_repeated_keys(text: bytes) -> Iterator[tuple[_Path, str]]:
    # Objects become tuples of pairs; numbers are not needed.
    root: Any = json.loads(text, object_pairs_hook=tuple, parse_int=str, parse_float=str)
    stack: list[tuple[_Path, Any]] = [(None, root)]
    while stack:
        path, value = stack.pop()
        if type(value) is tuple:
            properties = dict(value)
            if len(properties) < len(value):
                for name in _find_duplicates(value):
                    yield path, name
            children = [
                ((path, name), child)
                for name, child in properties.items()
                if child and type(child) in _CONTAINERS
            ]
        else:
            children = [
                ((path, index), item)
                for index, item in enumerate(value)
                if item and type(item) in _CONTAINERS
            ]
        # Reversed, since the stack is last in, first out.
        children.reverse()
        stack += children


_CONTAINERS = {tuple, list}


_OBJECT_START = re.compile(rb"[ \t\n\r]*\{")


def is_object_text(text: bytes) -> bool:
    """Return whether the JSON text *text* is an object."""
    return _OBJECT_START.match(text) is not None


def _find_duplicates(pairs: tuple[tuple[str, Any], ...]) -> Iterator[str]:
    seen: set[str] = set()
    reported: set[str] = set()
    for name, _ in pairs:
        if name not in seen:
            seen.add(name)
        elif name not in reported:
            reported.add(name)
            yield name


def _flatten_path(path: _Path) -> list[str | int]:
    steps = []
    while path is not None:
        path, step = path
        steps.append(step)
    steps.reverse()
    return steps


def _build_violation(pointer: str) -> Violation:
    return Violation(
        instance_location=pointer,
        keyword_location="",
        keyword="",
        code="DUPLICATE_KEY",
        message="duplicate key in the object; JSON parsers disagree on which value counts",
        spec_url="https://www.rfc-editor.org/rfc/rfc8259#section-4",
    )
