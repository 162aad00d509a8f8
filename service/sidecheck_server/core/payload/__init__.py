"""Strict and bounded decoding of JSON (RFC 8259; I-JSON, RFC 7493).

Numbers keep their value, up to 4,300 digits. It reports what other decoders accept
silently: NaN and Infinity, lone surrogates, duplicate keys, a byte order mark, and trailing
characters.
"""

from sidecheck_server.core.payload.decoding import (
    decode,
    decoding_steps,
    encode_json,
    encode_like,
    encode_sorted,
    has_long_integers,
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
    "nesting_depth",
    "number_steps",
    "read_json",
]
