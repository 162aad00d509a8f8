"""What is wrong with a text that is not JSON, told as a person would."""

import math
import re

import msgspec

from sidecheck_server.core.types import Violation

__all__ = ["UNREADABLE", "MalformedError", "diagnose"]

UNREADABLE = frozenset({"PAYLOAD_NOT_JSON", "DUPLICATE_KEY", "NUMBER_OUT_OF_RANGE"})
"""The codes of the violations of a text that is not JSON, or has no single meaning."""


class MalformedError(ValueError):
    """A text is not JSON, or not JSON with a single meaning; *violations* say why."""

    def __init__(self, violations: tuple[Violation, ...], *, truncated: bool = False) -> None:
        super().__init__(violations)
        self.violations = violations
        #: Whether there are more violations than these.
        self.truncated = truncated


# What msgspec says of a malformed text, and what is said here.
_FAULTS = (
    ("trailing comma", "a comma without a value after it"),
    ("trailing characters", "text after the end of the JSON value"),
    ("object keys must be strings", "a key that is not a string in double quotes"),
    ("expected ',' or ']'", "a missing comma or closing bracket"),
    ("expected ',' or '}'", "a missing comma or closing brace"),
    ("expected ':'", "a missing colon after a key"),
    ("invalid number", "a number that is not written as JSON writes numbers"),
    ("invalid escape", "an escape that JSON does not have"),
    ("invalid character in unicode escape", "a \\u escape without four hexadecimal digits"),
    ("utf-16 surrogate", "half of a surrogate pair"),
)
_SEEN_ONE_LATER = {"trailing characters", "invalid escape", "invalid character in unicode escape"}
# Both begin with the same two characters, which a search for them skips to.
_LONE_SURROGATE = re.compile(
    rb"\\u[dD](?:[89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F][0-9a-fA-F]{2})"
    rb"|(?<!\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD])[c-fC-F][0-9a-fA-F]{2})"
)
# CPython's bound, which keeps the time to convert a text to an integer linear
# (sys.int_info.default_max_str_digits).
_INTEGER_DIGITS = 4300
# The numbers that may be out of range: at least half of the 308 digits of the largest
# double stand in the number or in its exponent.
_LARGE_NUMBER = re.compile(
    rb"(?<![0-9.eE+-])-?[0-9]++(?:(?<=[0-9]{155})(?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?"
    rb"|(?:\.[0-9]++)?[eE]\+?[0-9]{3,}+)"
)


def diagnose(text: bytes, error: Exception) -> Violation:
    """Return what is wrong with *text*, which msgspec refused with *error*."""
    if isinstance(error, msgspec.ValidationError):
        return _out_of_range(text)
    if isinstance(error, UnicodeDecodeError):
        return _not_json("it is not UTF-8 text")
    if text.startswith((b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")):
        return _not_json("it begins with a byte order mark; JSON is UTF-8 without one")
    if not text.strip():
        return _not_json("it is empty")
    # Of the same length, so that places stay; `\\\\ud800` is a backslash and text.
    if lone := _LONE_SURROGATE.search(text.replace(b"\\\\", b"  ")):
        return _not_json("half of a surrogate pair", text, lone.start())
    said = str(error)
    found = re.search(r"\(byte (\d+)\)", said)
    if found is None:
        return _not_json("it ends before the value is complete", text, len(text))
    return _not_json(*_fault(text, said, int(found[1])))


def _fault(text: bytes, said: str, offset: int) -> tuple[str, bytes, int]:
    for theirs, ours in _FAULTS:
        if theirs in said:
            return ours, text, offset - (theirs in _SEEN_ONE_LATER)
    if re.match(rb"-?(?:NaN|Infinity)", text[max(offset - 1, 0) :].lstrip(b" [,:")):
        return "NaN and Infinity are not JSON numbers", text, offset
    if b"" < text[offset : offset + 1] < b" ":
        return "a control character inside a string, which must be escaped,", text, offset
    return "a character that cannot stand there", text, offset


def _not_json(fault: str, text: bytes = b"", offset: int | None = None) -> Violation:
    where = "" if offset is None else f" at {_place(text, offset)}"
    return Violation("", "", "", "PAYLOAD_NOT_JSON", f"not JSON: {fault}{where}", clause="RFC 8259")


def _out_of_range(text: bytes) -> Violation:
    first = _find_out_of_range(text)
    where = "" if first is None else f" at {_place(text, first)}"
    return Violation(
        "",
        "",
        "",
        "NUMBER_OUT_OF_RANGE",
        f"the number{where} is too large to be represented",
        clause="RFC 7493, section 2.2",
    )


def _find_out_of_range(text: bytes) -> int | None:
    # Of the same length, so that places stay.
    pieces = text.replace(b"\\\\", b"  ").replace(b'\\"', b"  ").split(b'"')
    outside = b'"'.join(pieces[::2])
    for found in _LARGE_NUMBER.finditer(outside):
        if _is_out_of_range(found[0]):
            strings = outside.count(b'"', 0, found.start())
            # One quote of each string is left, and nothing of what stands in it.
            return found.start() + strings + sum(map(len, pieces[1 : 2 * strings : 2]))
    return None


def _is_out_of_range(number: bytes) -> bool:
    digits = number.lstrip(b"-")
    if digits.isdigit():
        return len(digits) > _INTEGER_DIGITS
    return math.isinf(float(number))


def _place(text: bytes, offset: int) -> str:
    before = text[:offset]
    line = before.count(b"\n") + 1
    column = len(before[before.rfind(b"\n") + 1 :].decode("utf-8", "replace")) + 1
    return f"line {line}, column {column}"
