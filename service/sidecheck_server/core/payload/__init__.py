"""Strict and bounded decoding of JSON (RFC 8259; I-JSON, RFC 7493).

Numbers keep their exact value, up to 4,300 digits. NaN and Infinity, lone surrogates,
duplicate keys, a byte order mark, and trailing characters, which other decoders accept
silently, are violations.
"""

from sidecheck_server.core.payload.decoding import (
    decode,
    decoding_steps,
    encode_json,
    encode_like,
    encode_sorted,
    has_long_integers,
    is_object_text,
    nesting_depth,
    number_steps,
    read_json,
)
from sidecheck_server.core.payload.faults import UNREADABLE_CODES, MalformedError

__all__ = [
    "UNREADABLE_CODES",
    "MalformedError",
    "decode",
    "decoding_steps",
    "encode_json",
    "encode_like",
    "encode_sorted",
    "has_long_integers",
    "is_object_text",
    "nesting_depth",
    "number_steps",
    "read_json",
]
