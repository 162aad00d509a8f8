"""Fingerprints: the digests by which the service knows definitions too."""

import hashlib
from collections.abc import Callable
from json.encoder import encode_basestring
from typing import Any

__all__ = ["fingerprint_of"]


def fingerprint_of(value: Any) -> str:
    """Return ``sha256:`` and the hexadecimal digest of the canonical JSON of *value*.

    That is RFC 8785's, but with exact integers. *value* is JSON, as decoded.
    """
    parts: list[str] = []
    _write(value, parts.append)
    return "sha256:" + hashlib.sha256("".join(parts).encode()).hexdigest()


def _write(value: Any, put: Callable[[str], None]) -> None:
    match value:
        case str():
            put(encode_basestring(value))
        case dict():
            # RFC 8785, section 3.2.3: members in the order of their UTF-16 code units.
            names = sorted(value, key=lambda name: name.encode("utf-16-be", "surrogatepass"))
            _join("{}", names, put, lambda name: _member(name, value[name], put))
        case list():
            _join("[]", value, put, lambda one: _write(one, put))
        case None | True | False:
            put({None: "null", True: "true", False: "false"}[value])
        case int():
            put(str(value))
        case _:
            put(_double(value))


def _join(
    brackets: str, items: list[Any], put: Callable[[str], None], each: Callable[[Any], None]
) -> None:
    put(brackets[0])
    for index, one in enumerate(items):
        if index:
            put(",")
        each(one)
    put(brackets[1])


def _member(name: str, value: Any, put: Callable[[str], None]) -> None:
    put(encode_basestring(name))
    put(":")
    _write(value, put)


def _double(value: float) -> str:
    """Write a double as the integer that it is, or as RFC 8785, section 3.2.2.3, does."""
    if value.is_integer():
        return str(int(value))
    mantissa, _, exponent = f"{abs(value)!r}".partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    # The decimal point stands before digit number `point`.
    point = len(whole) + int(exponent or 0) - (len(whole + fraction) - len(digits))
    digits = digits.rstrip("0")
    sign = "-" if value < 0 else ""
    if point > 0:
        return f"{sign}{digits[:point]}.{digits[point:]}"
    if point > -6:
        return f"{sign}0.{'0' * -point}{digits}"
    rest = f".{digits[1:]}" if len(digits) > 1 else ""
    return f"{sign}{digits[0]}{rest}e-{1 - point}"
