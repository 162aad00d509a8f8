"""Strict and bounded decoding of JSON (RFC 8259; I-JSON, RFC 7493).

Integers are decoded exactly, up to 4,300 digits; other numbers are IEEE doubles. It
reports what other decoders accept silently: NaN and Infinity, numbers beyond these
ranges, lone surrogates, duplicate keys, a byte order mark, and trailing characters.
"""

from sidecheck_server.core.payload.decoding import (
    decode,
    decoding_steps,
    has_long_integers,
    integer_steps,
    nesting_depth,
)
from sidecheck_server.core.payload.encoding import encode_like
from sidecheck_server.core.payload.faults import UNREADABLE_CODES, MalformedError

__all__ = [
    "UNREADABLE_CODES",
    "MalformedError",
    "decode",
    "decoding_steps",
    "encode_like",
    "has_long_integers",
    "integer_steps",
    "nesting_depth",
]
