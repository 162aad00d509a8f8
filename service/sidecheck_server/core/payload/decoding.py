"""Decoding: one strict read of a text, and what tells that it had one meaning."""

import math
import re
from gc import get_referents
from itertools import accumulate
from operator import add

import msgspec

from sidecheck_server.core.limits import limit_exceeded_error
from sidecheck_server.core.payload.faults import MalformedError, diagnose
from sidecheck_server.core.payload.repetition import find_repeated_keys, has_repeated_key
from sidecheck_server.core.types import JsonValue

__all__ = ["decode", "decoding_steps", "nesting_depth", "nests_deeper"]

_NEITHER_QUOTE_NOR_BRACKET = bytes(c for c in range(256) if c not in b'"[]{}')
_AS_BITS = bytes.maketrans(b"[{]}", b"1100")


def nests_deeper(value: JsonValue, most: int) -> bool:
    """Return whether arrays and objects nest deeper in *value* than *most*."""
    # An array must name its items to the garbage collector, and an object its
    # members, or cycles through them would never be freed; texts and numbers name
    # nothing. So every step goes down one level, all of it at once and in C.
    level: list[JsonValue] = [value]
    for _ in range(most):
        level = get_referents(*level)
        if not level:
            return False
    return any(isinstance(one, dict | list) for one in level)


def nesting_depth(text: bytes) -> int:
    """Return how deep arrays and objects nest in *text*, which need not be JSON.

    Brackets in strings do not count, nor in a string that does not end. Up to the
    first fault of a text that is not JSON the answer is exact, so it bounds how deep
    any reader gets.
    """
    if b"\\" in text:
        # What is left of a run of backslashes before a quote decides about the quote.
        text = text.replace(b"\\\\", b"").replace(b'\\"', b"")
    # Two quotes with no bracket in between change nothing for any other bracket.
    skeleton = text.translate(None, _NEITHER_QUOTE_NOR_BRACKET).replace(b'""', b"")
    brackets = b"".join(skeleton.split(b'"')[::2])
    # Eight brackets make an octet, of which tables say how far it leads and how deep
    # it gets on the way. The last one is filled up with ends, which deepen nothing.
    octets = (len(brackets) + 7) // 8
    bits = brackets.translate(_AS_BITS).ljust(8 * octets, b"0")
    packed = int(bits or b"0", 2).to_bytes(octets, "big")
    starts = accumulate(map(_STEP.__getitem__, packed), initial=0)
    return max(map(add, starts, map(_PEAK.__getitem__, packed)), default=0)


def _ways(octet: int) -> list[int]:
    steps = (1 if octet >> place & 1 else -1 for place in reversed(range(8)))
    return list(accumulate(steps, initial=0))


_STEP = tuple(_ways(octet)[-1] for octet in range(256))
_PEAK = tuple(max(_ways(octet)) for octet in range(256))


def _as_finite(number: str) -> float:
    double = float(number)
    if math.isinf(double):
        raise ValueError
    return double


_DECODE = msgspec.json.Decoder().decode
_DECODE_EXTREMES = msgspec.json.Decoder(float_hook=_as_finite).decode

_LONG_ENOUGH_TO_STALL = 8 << 10
"""The length beyond which numbers with long exponents are not left to msgspec, which
takes 13 us for a 1e300: 20 ms for a text of this length, 3 s for a megabyte."""

_EXTREMES = re.compile(r"[0-9][eE][+-]?[0-9]{3}")
"""What begins the exponents with which reading a number takes that long."""

# In steps: such a number; and how many characters are decoded in a step, at the worst.
_EXTREME = 1200
_CHARACTERS = 2

_AS_CLASSES = bytes.maketrans(b"123456789E", b"000000000e")


def decode(
    text: bytes, *, max_depth: int, depth_bound: str = "payload_depth", most: int = 1000
) -> JsonValue:
    """Return the value of the JSON *text*.

    The caller has bounded the length. Time is linear in it.

    Raises:
        MalformedError: the text is not JSON in UTF-8, or has a duplicate key or a
            number beyond the range of a double, or of 4,300 digits. It has at most
            *most* violations.
        Refusal: LIMIT_EXCEEDED if arrays and objects nest deeper than *max_depth*.
    """
    extremes = len(text) > _LONG_ENOUGH_TO_STALL and _may_have_extremes(text)
    try:
        value: JsonValue = _DECODE_EXTREMES(text) if extremes else _DECODE(text)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        _refuse_deeper(text, max_depth, depth_bound)
        raise MalformedError((diagnose(text, error),)) from None
    except RecursionError:
        _refuse_deeper(text, max_depth, depth_bound)
        raise
    # What nests takes two brackets a level.
    if len(text) > 2 * max_depth and nests_deeper(value, max_depth):
        _refuse_deeper(text, max_depth, depth_bound)
    if has_repeated_key(text, value):
        violations, truncated = find_repeated_keys(text, most)
        raise MalformedError(violations, truncated=truncated)
    return value


def decoding_steps(text: str) -> int:
    """Return how many steps decoding *text* takes at the most, as `core.budget` counts them.

    One payload is bounded by its length; this is for the texts within one, of which there
    may be many.
    """
    return len(text) // _CHARACTERS + _EXTREME * len(_EXTREMES.findall(text))


def _may_have_extremes(text: bytes) -> bool:
    """Return whether *text* may have a number with three digits in its exponent."""
    return b"0e000" in text.translate(_AS_CLASSES, b"+-")


def _refuse_deeper(text: bytes, max_depth: int, depth_bound: str) -> None:
    if text.count(b"[") + text.count(b"{") > max_depth:
        depth = nesting_depth(text)
        if depth > max_depth:
            raise limit_exceeded_error(
                depth_bound, max_depth, "arrays and objects nest too deep", depth
            )
