"""Digests of tool definitions and schemas: SHA-256 over canonical JSON.

Canonical JSON is that of RFC 8785, with exact integers. RFC 8785 itself reads every
number as an IEEE double, so 2^53 and 2^53 + 1, which schemas distinguish, would have
the same digest. Here two numbers have the same text if and only if they are equal;
below 2^53 that text is RFC 8785's.
"""

import hashlib
from collections.abc import Iterable
from json.encoder import encode_basestring
from typing import Any

from sidecheck_server.core.types import Document, JsonValue

__all__ = ["canonical_json", "digest_of"]


def digest_of(value: JsonValue, documents: Iterable[Document] = ()) -> str:
    """Return ``sha256:`` and the hexadecimal digest of the canonical JSON of *value*.

    The *documents* that *value* may refer to are part of its meaning: with any, the
    digest is that of an array of *value* and an object that maps each URI to the
    hexadecimal SHA-256 of the document's text.

    The nesting of *value* must be bounded.

    Raises:
        UnicodeEncodeError: *value* has lone surrogates; values decoded from UTF-8 do not.
    """
    documents_by_uri: JsonValue = {
        document.uri: hashlib.sha256(document.json).hexdigest() for document in documents
    }
    whole = [value, documents_by_uri] if documents_by_uri else value
    return "sha256:" + hashlib.sha256(canonical_json(whole)).hexdigest()


def canonical_json(value: JsonValue) -> bytes:
    """Return the canonical JSON text of *value*, in UTF-8."""
    parts: list[str] = []
    _write(value, parts.append)
    return "".join(parts).encode()


def _write(value: JsonValue, write: Any) -> None:
    if isinstance(value, str):
        write(encode_basestring(value))
    elif isinstance(value, dict):
        separator = "{"
        # RFC 8785, section 3.2.3: properties in the order of their UTF-16 code units.
        for name in sorted(value, key=_utf16):
            write(separator)
            write(encode_basestring(name))
            write(":")
            _write(value[name], write)
            separator = ","
        write("}" if value else "{}")
    elif isinstance(value, list):
        separator = "["
        for item in value:
            write(separator)
            _write(item, write)
            separator = ","
        write("]" if value else "[]")
    elif isinstance(value, bool):
        write("true" if value else "false")
    elif value is None:
        write("null")
    elif isinstance(value, int):
        write(str(value))
    else:
        write(_double(value))


def _utf16(name: str) -> bytes:
    return name.encode("utf-16-be", "surrogatepass")


def _double(value: float) -> str:
    """Return an integral double as an integer, any other as ECMA-262's Number::toString.

    The latter is RFC 8785, section 3.2.2.3. It is not used for integral doubles because
    its shortest digits denote another integer beyond 2^53.
    """
    if value.is_integer():
        return str(int(value))
    mantissa, _, exponent = f"{abs(value)!r}".partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    # Index of the digit that follows the decimal point.
    point = len(whole) + int(exponent or 0) - (len(whole + fraction) - len(digits))
    digits = digits.rstrip("0")
    sign = "-" if value < 0 else ""
    if point > 0:
        return f"{sign}{digits[:point]}.{digits[point:]}"
    if point > -6:
        return f"{sign}0.{'0' * -point}{digits}"
    rest = f".{digits[1:]}" if len(digits) > 1 else ""
    return f"{sign}{digits[0]}{rest}e-{1 - point}"
