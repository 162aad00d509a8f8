"""Digests: the names by which definitions and schemas are known.

A digest is SHA-256 over canonical JSON: that of RFC 8785, but with exact integers.
RFC 8785 itself reads every number as an IEEE double, and so gives 2^53 and 2^53 + 1,
which schemas tell apart, one digest. Here numbers have one text exactly if they are
equal, which below 2^53 is that of RFC 8785.
"""

import hashlib
from collections.abc import Iterable
from json.encoder import encode_basestring
from typing import Any

from sidecheck_server.core.types import Document, JsonValue

__all__ = ["canonical_json", "digest_of"]


def digest_of(value: JsonValue, documents: Iterable[Document] = ()) -> str:
    """Return ``sha256:`` and the hexadecimal digest of the canonical JSON of *value*.

    The *documents* that *value* may refer to are a part of what it means: with any,
    the digest is that of an array of *value* and of an object that gives, for each
    URI, the hexadecimal SHA-256 of the document's text.

    The nesting of *value* must be bounded. Lone surrogates, which can only come
    from values that were not decoded from UTF-8, make it raise UnicodeEncodeError.
    """
    brought: JsonValue = {
        document.uri: hashlib.sha256(document.json).hexdigest() for document in documents
    }
    whole = [value, brought] if brought else value
    return "sha256:" + hashlib.sha256(canonical_json(whole)).hexdigest()


def canonical_json(value: JsonValue) -> bytes:
    """Return the canonical JSON text of *value*, in UTF-8."""
    parts: list[str] = []
    _write(value, parts.append)
    return "".join(parts).encode()


def _write(value: JsonValue, put: Any) -> None:
    if isinstance(value, str):
        put(encode_basestring(value))
    elif isinstance(value, dict):
        separator = "{"
        # RFC 8785, section 3.2.3: members in the order of their UTF-16 code units.
        for name in sorted(value, key=_utf16):
            put(separator)
            put(encode_basestring(name))
            put(":")
            _write(value[name], put)
            separator = ","
        put("}" if value else "{}")
    elif isinstance(value, list):
        separator = "["
        for item in value:
            put(separator)
            _write(item, put)
            separator = ","
        put("]" if value else "[]")
    elif isinstance(value, bool):
        put("true" if value else "false")
    elif value is None:
        put("null")
    elif isinstance(value, int):
        put(str(value))
    else:
        put(_double(value))


def _utf16(name: str) -> bytes:
    return name.encode("utf-16-be", "surrogatepass")


def _double(value: float) -> str:
    """Write a double as the integer that it is, or as ECMA-262's Number::toString does.

    The latter is RFC 8785, section 3.2.2.3. It writes the shortest digits, which beyond
    2^53 name another integer.
    """
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
