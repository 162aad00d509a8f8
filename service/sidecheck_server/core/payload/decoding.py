"""Decoding of a JSON text, with bounds on nesting and checks that it is unambiguous."""

import math
import re
from gc import get_referents
from itertools import accumulate
from operator import add

import msgspec

from sidecheck_server.core.limits import limit_exceeded_error
from sidecheck_server.core.payload.faults import MalformedError, diagnose
from sidecheck_server.core.payload.repetition import (
    any_repeated_key,
    find_repeated_keys,
    has_repeated_key,
)
from sidecheck_server.core.types import JsonValue

__all__ = ["decode", "decoding_steps", "has_long_integers", "integer_steps", "nesting_depth"]


def _finite_float(number: str) -> float:
    double = float(number)
    if math.isinf(double):
        raise ValueError
    return double


_DECODE = msgspec.json.Decoder().decode
_DECODE_EXTREMES = msgspec.json.Decoder(float_hook=_finite_float).decode

_LONG_ENOUGH_TO_STALL = 8 << 10
"""The length, in bytes, beyond which numbers with long exponents are not left to msgspec,
which takes 13 us for a 1e300: 20 ms for a text of this length, 3 s for a megabyte."""

_LONG_INTEGER = re.compile(rb"[0-9]{512,}+")
"""Matches the integers of which a few take as long as a text of this length."""

_AS_ZEROS = bytes.maketrans(b"123456789", b"000000000")
_LONG_AS_ZEROS = b"0" * 512

_SQUARED_DIGITS = 1400
"""The square of the digits that are converted in a step, from text and to text."""

_EXTREMES = re.compile(r"[0-9][eE][+-]?[0-9]{3}")
"""Matches the exponents with which decoding a number takes that long."""

# Steps of such a number; characters decoded in a step, at worst.
_EXTREME = 1200
_CHARACTERS = 2

_AS_CLASSES = bytes.maketrans(b"123456789E", b"000000000e")


def decode(
    text: bytes, *, max_depth: int, depth_bound: str = "payload_depth", max_violations: int = 1000
) -> JsonValue:
    """Return the value of the JSON *text*, in time linear in its length.

    The caller has bounded the length.

    Raises:
        MalformedError: *text* is not JSON in UTF-8, or has duplicate keys, a number beyond
            the range of a double, or an integer of more than 4,300 digits. It has at
            most *max_violations* violations.
        RequestError: LIMIT_EXCEEDED with bound *depth_bound* if arrays and objects nest
            deeper than *max_depth*.
    """
    is_long = len(text) > _LONG_ENOUGH_TO_STALL
    extremes = is_long and _may_have_extremes(text)
    try:
        value: JsonValue = _DECODE_EXTREMES(text) if extremes else _DECODE(text)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        _check_depth(text, max_depth, depth_bound)
        raise MalformedError((diagnose(text, error),)) from None
    except RecursionError:
        _check_depth(text, max_depth, depth_bound)
        raise
    # Each level takes two brackets.
    if len(text) > 2 * max_depth and nests_deeper(value, max_depth):
        _check_depth(text, max_depth, depth_bound)
    # Writing long integers again takes three times as long as reading them.
    without_numbers = is_long and has_long_integers(text)
    if any_repeated_key(text) if without_numbers else has_repeated_key(text, value):
        violations, truncated = find_repeated_keys(text, max_violations)
        raise MalformedError(violations, truncated=truncated)
    return value


def has_long_integers(text: bytes) -> bool:
    """Return whether the JSON *text* may have so many long integers that they take time.

    CPython converts integers from and to text in time that grows with the square of their
    length: a hundred of 4,300 digits take 8 ms to read, and 23 ms to write.
    """
    return len(text) > _LONG_ENOUGH_TO_STALL and _LONG_AS_ZEROS in text.translate(_AS_ZEROS)


def integer_steps(text: bytes) -> int:
    """Return the steps of reading the long integers of the JSON *text* and writing them again."""
    if len(text) <= _LONG_ENOUGH_TO_STALL or not has_long_integers(text):
        return 0
    return sum(len(match) ** 2 for match in _LONG_INTEGER.findall(text)) // _SQUARED_DIGITS


def decoding_steps(text: str) -> int:
    """Return the most steps of decoding *text*, as `core.limits` counts them.

    A payload is bounded by its length; this is for JSON texts inside a payload, of which
    there may be many.
    """
    return len(text) // _CHARACTERS + _EXTREME * len(_EXTREMES.findall(text))


def _may_have_extremes(text: bytes) -> bool:
    """Return whether *text* may have a number with three digits in its exponent."""
    return b"0e000" in text.translate(_AS_CLASSES, b"+-")


def _check_depth(text: bytes, max_depth: int, depth_bound: str) -> None:
    if text.count(b"[") + text.count(b"{") > max_depth:
        depth = nesting_depth(text)
        if depth > max_depth:
            raise limit_exceeded_error(
                depth_bound, max_depth, "arrays and objects nest too deeply", depth
            )


def nests_deeper(value: JsonValue, depth: int) -> bool:
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
