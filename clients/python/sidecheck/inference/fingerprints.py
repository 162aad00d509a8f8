"""Fingerprints of definitions, equal to the digests that the service computes."""

import hashlib
from collections.abc import Callable
from json.encoder import encode_basestring
from typing import Any

__all__ = ["fingerprint_of"]


def fingerprint_of(value: Any) -> str:
    """Return ``sha256:`` and the hexadecimal SHA-256 of the canonical JSON of *value*.

    Canonical JSON follows RFC 8785, but with exact numbers. *value* is decoded JSON.
    """
    parts: list[str] = []
    _write(value, parts.append)
    return "sha256:" + hashlib.sha256("".join(parts).encode()).hexdigest()


def _write(value: Any, put: Callable[[str], None]) -> None:
    match value:
        case str():
            put(encode_basestring(value))
        case dict():
            # RFC 8785, section 3.2.3: properties are sorted by UTF-16 code units.
            names = sorted(value, key=lambda name: name.encode("utf-16-be", "surrogatepass"))
            _write_items("{}", names, put, lambda name: _write_property(name, value[name], put))
        case list():
            _write_items("[]", value, put, lambda item: _write(item, put))
        case None | True | False:
            put({None: "null", True: "true", False: "false"}[value])
        case _:
            put(_format_number(value))


def _write_items(
    brackets: str, items: list[Any], put: Callable[[str], None], write_item: Callable[[Any], None]
) -> None:
    put(brackets[0])
    for index, item in enumerate(items):
        if index:
            put(",")
        write_item(item)
    put(brackets[1])


def _write_property(name: str, value: Any, put: Callable[[str], None]) -> None:
    put(encode_basestring(name))
    put(":")
    _write(value, put)


def _format_number(value: float) -> str:
    """Format an integral number as an integer, any other as RFC 8785, section 3.2.2.3.

    The decimal digits of a double are the shortest that identify it.
    """
    mantissa, _, power = f"{abs(value)!r}".partition("e")
    whole, _, fraction = mantissa.partition(".")
    significant = (whole + fraction).lstrip("0")
    digits = significant.rstrip("0")
    # The power of ten of the last digit.
    exponent = int(power or 0) - len(fraction) + len(significant) - len(digits)
    sign = "-" if value < 0 else ""
    if not digits:
        return "0"
    if exponent > _MAX_ZEROS:
        return f"{sign}{digits}e{exponent}"
    if exponent >= 0:
        return f"{sign}{digits}{'0' * exponent}"
    # Number of digits before the decimal point.
    point = len(digits) + exponent
    if point > 0:
        return f"{sign}{digits[:point]}.{digits[point:]}"
    if point > -6:
        return f"{sign}0.{'0' * -point}{digits}"
    rest = f".{digits[1:]}" if len(digits) > 1 else ""
    return f"{sign}{digits[0]}{rest}e-{1 - point}"


_MAX_ZEROS = 308
"""Maximum zeros at the end of an integer without an exponent, as in 1e308."""
