"""From bytes to a JSON value: strict and bounded (RFC 8259, I-JSON's RFC 7493).

Integers are decoded exactly, up to 4,300 digits; every other number is an IEEE
double. What other readers accept in silence is reported here: NaN and Infinity,
numbers beyond these ranges, lone surrogates, duplicate keys, a byte order mark,
and anything after the end.
"""

import json
import math
import re
from collections.abc import Iterator
from itertools import accumulate
from typing import Any

import msgspec

from sidecheck_server.core.limits import exceeded
from sidecheck_server.core.words import JsonValue, Violation, as_pointer

__all__ = ["MalformedError", "decode", "nesting"]


class MalformedError(ValueError):
    """A text is not JSON, or not JSON with a single meaning; *violations* say why."""

    def __init__(self, violations: tuple[Violation, ...]) -> None:
        super().__init__(violations)
        self.violations = violations


_DECODE = msgspec.json.Decoder().decode
_ENCODE = msgspec.json.Encoder().encode
_NEITHER_QUOTE_NOR_BRACKET = bytes(c for c in range(256) if c not in b'"[]{}')
_UNESCAPED_STRING = re.compile(rb'"[^"]*"?')
_STRING = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL)
_STEP = {ord("["): 1, ord("{"): 1, ord("]"): -1, ord("}"): -1}


def decode(text: bytes, *, max_depth: int, depth_bound: str = "payload_depth") -> JsonValue:
    """Return the value of the JSON *text*.

    The caller has bounded the length. Time is linear in it.

    Raises:
        MalformedError: the text is not JSON in UTF-8, or has a duplicate key or a
            number beyond the range of a double, or of 4,300 digits.
        Refusal: LIMIT_EXCEEDED if arrays and objects nest deeper than *max_depth*.
    """
    if len(text) > max_depth and text.count(b"[") + text.count(b"{") > max_depth:
        depth = nesting(text)
        if depth > max_depth:
            raise exceeded(depth_bound, max_depth, "arrays and objects nest too deep", depth)
    try:
        value: JsonValue = _DECODE(text)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise MalformedError((_diagnose(text, error),)) from None
    if _may_repeat_a_key(text, value):
        repeated = tuple(_repeated_keys(text))
        if repeated:
            raise MalformedError(repeated)
    return value


def nesting(text: bytes) -> int:
    """Return how deep arrays and objects nest in *text*, which need not be JSON.

    Brackets in strings do not count, nor in a string that does not end. Up to the
    first fault of a text that is not JSON the answer is exact, so it bounds how deep
    any reader gets.
    """
    if b"\\" in text:
        # What is left of a run of backslashes before a quote decides about the quote.
        text = text.replace(b"\\\\", b"").replace(b'\\"', b"")
    skeleton = text.translate(None, _NEITHER_QUOTE_NOR_BRACKET)
    brackets = _UNESCAPED_STRING.sub(b"", skeleton)
    return max(accumulate(map(_STEP.__getitem__, brackets), initial=0))


def _may_repeat_a_key(text: bytes, value: JsonValue) -> bool:
    # Decoding keeps the last of equal keys, so a repeated key costs a colon when
    # the value is written again. Every other colon stands in a string and is
    # written as it was read, unless it was escaped.
    colons = text.count(b":")
    escaped = b"\\" in text and (b"\\u003a" in text or b"\\u003A" in text)
    return colons > 1 and (escaped or colons != _ENCODE(value).count(b":"))


def _repeated_keys(text: bytes) -> Iterator[Violation]:
    repeated: dict[int, list[str]] = {}
    kept: list[Any] = []

    def collect(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        members = dict(pairs)
        if len(members) < len(pairs):
            seen: set[str] = set()
            names = [name for name, _ in pairs if name in seen or seen.add(name)]  # type: ignore[func-returns-value]
            kept.append(members)
            repeated[id(members)] = list(dict.fromkeys(names))
        return members

    root = json.loads(text, object_pairs_hook=collect)
    stack: list[tuple[tuple[str | int, ...], Any]] = [((), root)]
    while stack:
        path, value = stack.pop()
        if isinstance(value, dict):
            for name in repeated.get(id(value), ()):
                yield _repeated(path, name)
            # In the order of the text, so that the first ones are kept if not all are.
            within = [((*path, name), member) for name, member in value.items()]
            stack.extend(reversed(within))
        elif isinstance(value, list):
            stack.extend(((*path, index), value[index]) for index in reversed(range(len(value))))


def _repeated(path: tuple[str | int, ...], name: str) -> Violation:
    return Violation(
        instance_pointer=as_pointer((*path, name)),
        schema_pointer="",
        keyword="",
        code="DUPLICATE_KEY",
        message="the object has this key more than once; readers would disagree which one counts",
        clause="RFC 8259, section 4; RFC 7493, section 2.3",
    )


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
_LONE_SURROGATE = re.compile(
    rb"\\u[dD][89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F][0-9a-fA-F]{2})"
    rb"|(?<!\\u[dD][89abAB][0-9a-fA-F]{2})\\u[dD][c-fC-F][0-9a-fA-F]{2}"
)
# CPython's bound, which keeps the time to convert a text to an integer linear
# (sys.int_info.default_max_str_digits).
_INTEGER_DIGITS = 4300
_NUMBER = re.compile(rb"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?")


def _diagnose(text: bytes, error: Exception) -> Violation:
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
    if text[offset : offset + 1] < b" ":
        return "a control character inside a string, which must be escaped,", text, offset
    return "a character that cannot stand there", text, offset


def _not_json(fault: str, text: bytes = b"", offset: int | None = None) -> Violation:
    where = "" if offset is None else f" at {_place(text, offset)}"
    return Violation("", "", "", "PAYLOAD_NOT_JSON", f"not JSON: {fault}{where}", clause="RFC 8259")


def _out_of_range(text: bytes) -> Violation:
    outside_strings = _STRING.sub(lambda found: b" " * len(found[0]), text)
    numbers = _NUMBER.finditer(outside_strings)
    first = next((found.start() for found in numbers if _is_out_of_range(found[0])), None)
    where = "" if first is None else f" at {_place(text, first)}"
    return Violation(
        "",
        "",
        "",
        "NUMBER_OUT_OF_RANGE",
        f"the number{where} is too large to be represented",
        clause="RFC 7493, section 2.2",
    )


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
