"""From bytes to a JSON value: strict and bounded (RFC 8259, I-JSON's RFC 7493).

Integers are decoded exactly, up to 4,300 digits; every other number is an IEEE
double. What other readers accept in silence is reported here: NaN and Infinity,
numbers beyond these ranges, lone surrogates, duplicate keys, a byte order mark,
and anything after the end.
"""

from sidecheck_server.core.payload.decoding import decode, decoding_steps, nesting_depth
from sidecheck_server.core.payload.faults import UNREADABLE_CODES, MalformedError

__all__ = ["UNREADABLE_CODES", "MalformedError", "decode", "decoding_steps", "nesting_depth"]
