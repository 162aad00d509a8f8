"""Diagnosis of texts that are not JSON."""

import re
from string import ascii_letters

from sidecheck_server.core.exact_numbers import NumberTooLongError, read_number
from sidecheck_server.core.types import Violation

__all__ = [
    "UNREADABLE_CODES",
    "MalformedError",
    "diagnose",
    "find_long_number",
    "line_and_column",
]

UNREADABLE_CODES = frozenset({"PAYLOAD_NOT_JSON", "DUPLICATE_KEY"})
"""Codes of the violations for texts that are not JSON, or are ambiguous JSON."""


class MalformedError(ValueError):
    """A text is not JSON, or is ambiguous JSON, for the reasons in *violations*."""

    def __init__(self, violations: tuple[Violation, ...], *, truncated: bool = False) -> None:
        super().__init__(violations)
        self.violations = violations
        #: Whether there are further violations.
        self.truncated = truncated


# Parts of msgspec's messages, each with the text for our message.
_FAULTS = (
    ("trailing comma", "a trailing comma"),
    ("trailing characters", "text after the end of the JSON value"),
    ("object keys must be strings", "a key that is not a string in double quotes"),
    ("expected ',' or ']'", "a missing comma or closing bracket"),
    ("expected ',' or '}'", "a missing comma or closing brace"),
    ("expected ':'", "a missing colon after a key"),
    ("invalid number", "a malformed number"),
    ("invalid escape", "an invalid escape sequence"),
    ("invalid character in unicode escape", "a \\u escape without four hexadecimal digits"),
    ("utf-16 surrogate", "a lone surrogate"),
)
_LETTERS = ascii_letters.encode()
# Parts of the messages whose offset msgspec reports one byte too far.
_LATE_OFFSETS = {
    "trailing characters",
    "invalid escape",
    "invalid character in unicode escape",
}
# Both alternatives begin with the same two characters, so that the search can skip to them.
_LONE_SURROGATE = re.compile(
    rb"\\u[dD](?:[89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F][0-9a-fA-F]{2})"
    rb"|(?<!\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD])[c-fC-F][0-9a-fA-F]{2})"
)
# Numbers that may have too many digits: half of the limit, or an exponent of four digits.
_LONG_NUMBER = re.compile(
    rb"(?<![0-9.eE+-])-?(?:[0-9]++(?:\.[0-9]++)?[eE][+-]?[0-9]{4,}+|(?=[0-9.]{2000})[0-9]++"
    rb"(?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?)"
)


def diagnose(text: bytes, error: Exception) -> Violation:
    """Return the violation of *text*, which msgspec rejected with *error*."""
    if isinstance(error, UnicodeDecodeError):
        return _not_json("it is not UTF-8 text")
    if text.startswith((b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")):
        return _not_json("it begins with a byte order mark; JSON is UTF-8 without one")
    if not text.strip():
        return _not_json("it is empty")
    # An escaped backslash does not begin a surrogate. Blanks in its place keep the offsets.
    if surrogate := _LONE_SURROGATE.search(text.replace(b"\\\\", b"  ")):
        return _not_json("a lone surrogate", text, surrogate.start())
    message = str(error)
    offset = re.search(r"\(byte (\d+)\)", message)
    if offset is None:
        return _not_json("it ends before the value is complete", text, len(text))
    return _not_json(*_describe_fault(text, message, int(offset[1])))


def _describe_fault(text: bytes, message: str, offset: int) -> tuple[str, bytes, int]:
    for library_text, fault in _FAULTS:
        if library_text in message:
            return fault, text, offset - (library_text in _LATE_OFFSETS)
    if re.match(rb"-?(?:NaN|Infinity)", text[max(offset - 1, 0) :].lstrip(b" [,:")):
        return "NaN and Infinity are not JSON numbers", text, offset
    before = text[:offset]
    if before.replace(b"\\\\", b"  ").replace(b'\\"', b"  ").count(b'"') % 2:
        return "an unescaped control character in a string", text, offset
    # For a word that begins like a literal (`nul`), msgspec reports its end; report its start.
    return "an unexpected character", text, len(before.rstrip(_LETTERS))


def _not_json(fault: str, text: bytes = b"", offset: int | None = None) -> Violation:
    position = "" if offset is None else f" at {line_and_column(text, offset)}"
    message = f"not JSON: {fault}{position}"
    return Violation(
        "",
        "",
        "",
        "PAYLOAD_NOT_JSON",
        message,
        spec_url="https://www.rfc-editor.org/rfc/rfc8259",
        offset=offset,
    )


def find_long_number(text: bytes) -> int | None:
    """Return the offset of the first number in *text* with too many digits, or None."""
    # Blanks keep the offsets.
    pieces = text.replace(b"\\\\", b"  ").replace(b'\\"', b"  ").split(b'"')
    outside = b'"'.join(pieces[::2])
    for number in _LONG_NUMBER.finditer(outside):
        if _is_too_long(number[0].decode()):
            strings = outside.count(b'"', 0, number.start())
            # One of the two quotes of each string remains.
            return number.start() + strings + sum(map(len, pieces[1 : 2 * strings : 2]))
    return None


def _is_too_long(number: str) -> bool:
    try:
        read_number(number)
    except NumberTooLongError:
        return True
    return False


def line_and_column(text: bytes, offset: int) -> str:
    """Return *offset* in *text* as line and column, for people."""
    before = text[:offset]
    line = before.count(b"\n") + 1
    column = len(before[before.rfind(b"\n") + 1 :].decode("utf-8", "replace")) + 1
    return f"line {line}, column {column}"
