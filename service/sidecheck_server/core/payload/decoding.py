"""Decoding of a JSON text, with bounds on nesting and checks that it is unambiguous."""

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
    "nesting_depth",
    "number_steps",
    "read_json",
]

_LONG_BITS = 1700
"""The size of an integer of 512 digits."""


def _write_exactly(value: object) -> msgspec.Raw:
    if isinstance(value, ExactNumber):
        return msgspec.Raw(value.text.encode())
    raise TypeError(f"{type(value).__name__} is no JSON value")


encode_json = msgspec.json.Encoder(enc_hook=_write_exactly).encode
"""Returns the JSON text of a value, in UTF-8. Its nesting must be bounded."""

encode_sorted = msgspec.json.Encoder(enc_hook=_write_exactly, order="sorted").encode
"""Does the same, with properties in the order of their names."""


def encode_like(text: bytes, value: JsonValue) -> bytes:
    """Return the JSON text of *value*, which was decoded from *text* and perhaps changed.

    msgspec holds the interpreter while it writes a value. Integers that take long are
    therefore written before, one by one. The nesting of *value* must be bounded.
    """
    return encode_json(_written(value) if has_long_integers(text) else value)


def _written(value: JsonValue) -> Any:
    """Return *value* with its long integers as texts that are ready."""
    if isinstance(value, dict):
        return {name: _written(part) for name, part in value.items()}
    if isinstance(value, list):
        return [_written(part) for part in value]
    if isinstance(value, int) and value.bit_length() >= _LONG_BITS:
        return msgspec.Raw(str(value).encode())
    return value


_DECODE = msgspec.json.Decoder().decode
_ENCODE = msgspec.json.Encoder().encode
_DECODE_EXACTLY = msgspec.json.Decoder(float_hook=read_number).decode

read_json = _DECODE_EXACTLY
"""Returns the value of a JSON text, in which nothing but the syntax is checked.

Raises msgspec.DecodeError, UnicodeDecodeError or RecursionError."""

_LONG_ENOUGH_TO_STALL = 8 << 10
"""The length, in bytes, beyond which texts are looked through for numbers that take long."""

_LONG_INTEGER = re.compile(rb"[0-9]{512,}+")
"""Matches the integers of which a few take as long as a text of this length."""

_AS_ZEROS = bytes.maketrans(b"123456789", b"000000000")
_LONG_AS_ZEROS = b"0" * 512

_SQUARED_DIGITS = 1400
"""The square of the digits that are converted in a step, from text and to text."""

_UNUSUAL = re.compile(rb"[0-9.]{17,}+|[0-9][eE]")
"""Matches the numbers that may be no doubles, and others that take as long to read."""

# Steps of such a number, read and compared; characters decoded in a step, at worst.
_UNUSUAL_STEPS = 56
_CHARACTERS = 2

_AS_CLASSES = bytes.maketrans(b"123456789E", b"000000000e")
_MANY_DIGITS = b"0" * 16
_LARGE_DOUBLE = _MANY_DIGITS + b".0"
_LARGE_EXPONENT = b"0e00"
_FRACTION = re.compile(rb"\.[0-9]").search
_SPACE = b" \t\r\n"

_FEW_NUMBERS = 64
"""The length of texts, in bytes, up to which no other way is faster than an exact reading."""

_FEW_POINTS = 100
"""Characters for each point, from which on points are few."""


def decode(
    text: bytes, *, max_depth: int, depth_bound: str = "payload_depth", max_violations: int = 1000
) -> JsonValue:
    """Return the value of the JSON *text*, in time linear in its length.

    The caller has bounded the length.

    Raises:
        MalformedError: *text* is not JSON in UTF-8, or has duplicate keys. It has at most
            *max_violations* violations.
        RequestError: LIMIT_EXCEEDED with bound *depth_bound* if arrays and objects nest
            deeper than *max_depth*, or with bound ``number_digits``.
    """
    # The text of the value, None if it has exact numbers or takes long to write.
    written: bytes | None = None
    value: JsonValue
    try:
        if len(text) > _FEW_NUMBERS and _FRACTION(text) and _has_many_fractions(text):
            value = _DECODE(text)
            written = _ENCODE(value)
            if _differ_in_space(written, text) and not _has_large_doubles(written):
                written = text
            else:
                value = _DECODE_EXACTLY(text)
                written = _ENCODE(value)
        else:
            value = _DECODE_EXACTLY(text)
            if len(text) <= _LONG_ENOUGH_TO_STALL or not has_long_integers(text):
                written = _ENCODE(value)
    except TypeError:
        written = None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        _check_depth(text, max_depth, depth_bound)
        if isinstance(error, msgspec.ValidationError):
            raise _number_too_long(text) from None
        raise MalformedError((diagnose(text, error),)) from None
    except RecursionError:
        _check_depth(text, max_depth, depth_bound)
        raise
    # Each level takes two brackets. Exact numbers refer to other objects, as containers do.
    if len(text) > 2 * max_depth and (written is None or _nests_deeper(value, max_depth)):
        _check_depth(text, max_depth, depth_bound)
    if written != text and (
        _any_repeated_key(text) if written is None else _has_repeated_key(text, written)
    ):
        violations, truncated = _find_repeated_keys(text, max_violations)
        raise MalformedError(violations, truncated=truncated)
    return value


def _has_many_fractions(text: bytes) -> bool:
    """Return whether to write and compare *text* is faster than an exact reading.

    An exact reading calls back for each number with a point or an exponent.
    """
    return text.count(b".") * _FEW_POINTS > len(text) and not has_long_integers(text)


def _has_large_doubles(written: bytes) -> bool:
    """Return whether doubles of 2^53 and more may be *written*, by msgspec."""
    find = written.translate(_AS_ZEROS).find
    return find(_LARGE_EXPONENT) >= 0 or find(_LARGE_DOUBLE) >= 0


def _differ_in_space(written: bytes, text: bytes) -> bool:
    """Return whether *text* is *written* with other white space."""
    return written == text or (written.translate(None, _SPACE) == text.translate(None, _SPACE))


def _number_too_long(text: bytes) -> RequestError:
    offset = find_long_number(text)
    where = "" if offset is None else f" at {line_and_column(text, offset)}"
    return limit_exceeded_error(
        "number_digits", MOST_DIGITS, f"the digits of the number{where}, written without exponent"
    )


def has_long_integers(text: bytes) -> bool:
    """Return whether the JSON *text* may have so many long integers that they take time.

    CPython converts integers from and to text in time that grows with the square of their
    length: a hundred of 4,300 digits take 8 ms to read, and 23 ms to write.
    """
    return len(text) > _LONG_ENOUGH_TO_STALL and _LONG_AS_ZEROS in text.translate(_AS_ZEROS)


def number_steps(text: bytes) -> int:
    """Return the steps of reading, comparing and writing the unusual numbers of the JSON *text*.

    They are long integers and numbers that may be no doubles; in short texts there are few.
    """
    if len(text) <= _LONG_ENOUGH_TO_STALL:
        return 0
    steps = 0
    if has_long_integers(text):
        steps = sum(len(match) ** 2 for match in _LONG_INTEGER.findall(text)) // _SQUARED_DIGITS
    if _has_unusual_numbers(text):
        steps += _UNUSUAL_STEPS * len(_UNUSUAL.findall(text))
    return steps


def decoding_steps(text: str) -> int:
    """Return the most steps of decoding *text*, as `core.limits` counts them.

    A payload is bounded by its length; this is for JSON texts inside a payload, of which
    there may be many.
    """
    unusual = len(_UNUSUAL.findall(text.encode("utf-8", "surrogatepass")))
    return len(text) // _CHARACTERS + _UNUSUAL_STEPS * unusual


def _has_unusual_numbers(text: bytes) -> bool:
    """Return whether *text* may have a number of 16 digits or more, or with an exponent of two."""
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
    # A container must name its contents to the garbage collector, or cycles through them
    # would never be freed; strings and numbers name nothing. So each iteration descends
    # one whole level, in C.
    level: list[JsonValue] = [value]
    for _ in range(depth):
        level = get_referents(*level)
        if not level:
            return False
    return any(isinstance(item, dict | list) for item in level)


_NEITHER_QUOTE_NOR_BRACKET = bytes(c for c in range(256) if c not in b'"[]{}')
_AS_BITS = bytes.maketrans(b"[{]}", b"1100")


def nesting_depth(text: bytes) -> int:
    """Return how deep arrays and objects nest in *text*, which need not be JSON.

    Brackets in strings, also in an unterminated one, do not count. For a text that is
    not JSON the result is exact up to the first fault, so it bounds how deep any decoder
    gets.
    """
    if b"\\" in text:
        # Without pairs of backslashes, a backslash before a quote escapes it.
        text = text.replace(b"\\\\", b"").replace(b'\\"', b"")
    # Strings without brackets do not matter.
    skeleton = text.translate(None, _NEITHER_QUOTE_NOR_BRACKET).replace(b'""', b"")
    brackets = b"".join(skeleton.split(b'"')[::2])
    # Eight brackets make an octet. Tables hold the change of depth over each octet, and
    # the peak within it. The last octet is padded with closing brackets.
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


_LENGTH_OF_POINTERS = 1 << 20
"""The longest pointers in all, in characters: a long key around many objects is part of
every pointer into them."""

#: The path of a value: that of its container, and the last step.
_Path: TypeAlias = Union[tuple["_Path", str | int], None]


def _has_repeated_key(text: bytes, written: bytes) -> bool:
    """Return whether an object in *text* has a duplicate key.

    Exact if *text* is JSON, and *written* the text of its value with the last of each duplicate.
    """
    # It lacks the colon of each lost duplicate. Every other colon is in a string, and is
    # written as it was read, unless it was escaped.
    colons = text.count(b":")
    if colons > 1 and b"\\" in text and b"\\u003" in text:
        escapes = text.replace(b"\\\\", b"")
        colons += escapes.count(b"\\u003a") + escapes.count(b"\\u003A")
    return colons > 1 and colons != written.count(b":")


def _any_repeated_key(text: bytes) -> bool:
    """Return whether an object in *text* has a duplicate key, without converting numbers."""
    return next(_repeated_keys(text), None) is not None


def _find_repeated_keys(text: bytes, max_violations: int) -> tuple[tuple[Violation, ...], bool]:
    """Return a violation for each duplicate key in *text*, and whether there are more.

    They are in the order of the text, at most *max_violations*, and fewer if pointers are
    very long. Of the values of a duplicate key only the last is searched.
    """
    violations: list[Violation] = []
    room = _LENGTH_OF_POINTERS
    for path, name in _repeated_keys(text):
        if len(violations) == max_violations or room <= 0:
            return tuple(violations), True
        pointer = as_pointer((*_steps(path), name))
        room -= len(pointer)
        violations.append(_repeated(pointer))
    return tuple(violations), False


def _repeated_keys(text: bytes) -> Iterator[tuple[_Path, str]]:
    # Objects become tuples of pairs; numbers are not needed.
    root: Any = json.loads(text, object_pairs_hook=tuple, parse_int=str, parse_float=str)
    stack: list[tuple[_Path, Any]] = [(None, root)]
    while stack:
        path, value = stack.pop()
        if type(value) is tuple:
            properties = dict(value)
            if len(properties) < len(value):
                for name in _duplicates(value):
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


def _duplicates(pairs: tuple[tuple[str, Any], ...]) -> Iterator[str]:
    seen: set[str] = set()
    reported: set[str] = set()
    for name, _ in pairs:
        if name not in seen:
            seen.add(name)
        elif name not in reported:
            reported.add(name)
            yield name


def _steps(path: _Path) -> list[str | int]:
    steps = []
    while path is not None:
        path, step = path
        steps.append(step)
    steps.reverse()
    return steps


def _repeated(pointer: str) -> Violation:
    return Violation(
        instance_location=pointer,
        keyword_location="",
        keyword="",
        code="DUPLICATE_KEY",
        message="duplicate key in the object; JSON parsers disagree on which value counts",
        spec_url="https://www.rfc-editor.org/rfc/rfc8259#section-4",
    )
