"""Encoding of decoded JSON: numbers as they were read, in pieces that let other threads run."""

from typing import Any

import msgspec

from sidecheck_server.core.exact_numbers import ExactNumber
from sidecheck_server.core.payload.decoding import has_long_integers
from sidecheck_server.core.types import JsonValue

__all__ = ["encode_json", "encode_like", "encode_sorted"]

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
