"""Decoding: one strict read of a text, and what tells that it had one meaning."""

import math
import re

import msgspec

from sidecheck_server.core.limits import exceeded
from sidecheck_server.core.payload.faults import MalformedError, diagnose
from sidecheck_server.core.payload.nesting import is_deeper, nesting
from sidecheck_server.core.payload.repetition import find_repeated_keys, repeats_a_key
from sidecheck_server.core.types import JsonValue

__all__ = ["decode", "decoding_steps"]


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
    if len(text) > 2 * max_depth and is_deeper(value, max_depth):
        _refuse_deeper(text, max_depth, depth_bound)
    if repeats_a_key(text, value):
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
        depth = nesting(text)
        if depth > max_depth:
            raise exceeded(depth_bound, max_depth, "arrays and objects nest too deep", depth)
