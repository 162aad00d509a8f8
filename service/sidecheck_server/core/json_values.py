"""JSON values: types, equality, uniqueness, exact arithmetic and digests.

Numbers are equal by value, so 1 equals 1.0; a boolean never equals a number; the
order of properties does not matter (JSON Schema 2020-12 core, section 4.2.2).
"""

import hashlib
import re
from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from gc import get_referents
from json.encoder import encode_basestring
from typing import Any

import msgspec

from sidecheck_server.core.exact_numbers import ExactNumber, Parts, parts_of
from sidecheck_server.core.limits import Budget, spend
from sidecheck_server.core.types import Document, Draft, JsonValue

__all__ = [
    "CLASS_OF_TYPE",
    "all_unique",
    "canonical_json",
    "digest_of",
    "digests_of_properties",
    "find_duplicate",
    "has_type",
    "is_multiple",
    "is_number",
    "json_equal",
    "number_text",
]

# Steps for hashing a string, for serializing a value, and for the digits of a double;
# characters serialized in one step.
_STRING = 3
_VALUE = 20
_DOUBLE = 20
_CHARACTERS = 64

# Steps for a division of decimals, and for a double with a large exponent; bits of an
# integer divided in one step.
_DIVISION = 40
_LARGE_EXPONENT = 300
_BITS = 16


CLASS_OF_TYPE: dict[str, type] = {
    "array": list,
    "boolean": bool,
    "null": type(None),
    "object": dict,
    "string": str,
}
"""The Python class of each JSON Schema type that has exactly one."""


def is_number(value: Any) -> bool:
    """Return whether *value* is a JSON number."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def has_type(value: Any, name: str, draft: Draft) -> bool:
    """Return whether *value* has the JSON Schema type *name* in *draft*.

    It replaces jsonschema's type checker, which is a map of `rpds`. At the interpreter's
    recursion limit, a look-up in such a map panics with a BaseException instead of
    RecursionError, so evaluation must not use `rpds`.
    """
    kind = CLASS_OF_TYPE.get(name)
    if kind is not None:
        return isinstance(value, kind)
    if name == "number":
        return is_number(value)
    if name != "integer" or isinstance(value, bool):
        return False
    if isinstance(value, int):
        return True
    # Since draft 6 a number without a fraction is an integer, even if written as 1.0
    # (draft-06 validation, section 6.25).
    return isinstance(value, float) and value.is_integer() and draft is not Draft.DRAFT_04


def json_equal(left: JsonValue, right: JsonValue) -> bool:
    """Return whether *left* and *right* are the same JSON value.

    Numbers are compared exactly. The nesting of at least one of the two must be bounded.
    """
    if isinstance(left, dict):
        if not isinstance(right, dict) or len(left) != len(right):
            return False
        for name, value in left.items():
            if name not in right or not json_equal(value, right[name]):
                return False
        return True
    if isinstance(left, list):
        if not isinstance(right, list) or len(left) != len(right):
            return False
        return all(map(json_equal, left, right))
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    return left == right


def all_unique(items: Sequence[JsonValue], budget: Budget) -> bool:
    """Return whether all *items* are distinct, in time linear in their size.

    Raises:
        Exhausted: *budget* has too few steps.
    """
    return find_duplicate(items, budget) is None


def find_duplicate(items: Sequence[JsonValue], budget: Budget) -> tuple[int, int] | None:
    """Return the indexes of the first pair of equal items, or None.

    Raises:
        Exhausted: *budget* has too few steps.
    """
    if all(item.__class__ is str for item in items):
        spend(budget, _STRING * len(items))
        if len(set(items)) == len(items):
            return None
    first_index: dict[str, int] = {}
    for index, item in enumerate(items):
        parts: list[str] = []
        _serialize(item, parts.append, budget)
        earlier = first_index.setdefault("".join(parts), index)
        if earlier != index:
            return earlier, index
    return None


def _serialize(value: JsonValue, write: Callable[[str], None], budget: Budget) -> None:
    """Write a text that is the same for two values if and only if they are equal.

    CPython hashes strings with a secret key, but numbers, and tuples of numbers, without
    one: all multiples of 2^61 - 1 collide, and a set of twenty thousand takes seconds.
    """
    spend(budget, _VALUE)
    if isinstance(value, str):
        spend(budget, len(value) // _CHARACTERS)
        write(f'{len(value)}"{value}')
    elif value is None or isinstance(value, bool):
        write(f"{value};")
    elif isinstance(value, int | float):
        if isinstance(value, float):
            spend(budget, _DOUBLE)
        write(f"{number_text(value)};")
    elif isinstance(value, list):
        write(f"[{len(value)};")
        for item in value:
            _serialize(item, write, budget)
    else:
        write(f"{{{len(value)};")
        for name in sorted(value):
            write(f'{len(name)}"{name}')
            _serialize(value[name], write, budget)


def number_text(number: float) -> str:
    """Return a text that is equal for two JSON numbers exactly if they are equal.

    It is no longer than the JSON text of *number*, which may have an exponent.
    """
    if isinstance(number, int):
        if -_SMALL_INTEGER < number < _SMALL_INTEGER:
            return f"{number:x}"
        return _long_number_text(_split_integer(number))
    # Only a number without a fraction can equal an integer.
    if not isinstance(number, ExactNumber):
        return f"{int(number):x}" if number.is_integer() else f"{number!r}"
    parts = parts_of(number)
    if parts.exponent >= 0 and len(parts.digits) + parts.exponent < _SMALL_DIGITS:
        return f"{int(number):x}"
    return _long_number_text(parts)


_SMALL_INTEGER = 10**32
_SMALL_DIGITS = 33


def _split_integer(number: int) -> Parts:
    if not number:
        return Parts("", "", 0)
    digits = str(abs(number))
    stripped = digits.rstrip("0")
    return Parts("-" if number < 0 else "", stripped, len(digits) - len(stripped))


def _long_number_text(parts: Parts) -> str:
    return f"{parts.sign}{parts.digits}e{parts.exponent}"


def is_multiple(value: float, divisor: float, budget: Budget) -> bool:
    """Return whether *value* is an integral multiple of *divisor* in base ten.

    A double represents the shortest decimal that rounds to it, so 4.35 is a multiple of
    0.01, unlike in binary division (JSON Schema 2020-12 validation, section 6.2.1). Both
    numbers must be finite.

    Raises:
        Exhausted: *budget* has too few steps.
        ZeroDivisionError: *divisor* is zero.
    """
    spend(budget, _DIVISION + sum(map(_digit_steps, (value, divisor))))
    if isinstance(value, int) and isinstance(divisor, int):
        return value % divisor == 0
    numerator, denominator = _ratio(value)
    over, under = _ratio(divisor)
    return numerator * under % (denominator * over) == 0


def _digit_steps(number: float) -> int:
    if isinstance(number, int):
        return number.bit_length() // _BITS
    if isinstance(number, ExactNumber):
        # The length of the integers in the ratio, at 3.3 bits for a digit.
        return (len(number.text) + abs(parts_of(number).exponent)) * 4 // _BITS + _LARGE_EXPONENT
    # A double with a large exponent is a ratio of up to 300 digits.
    return 0 if 1e-12 < abs(number) < 1e15 or not number else _LARGE_EXPONENT


def _ratio(number: float) -> tuple[int, int]:
    if isinstance(number, int):
        return number, 1
    # The length is bounded, since the digits of exact numbers and the exponents of doubles are.
    exact = number.decimal if isinstance(number, ExactNumber) else Decimal(repr(number))
    return exact.as_integer_ratio()


def digest_of(value: JsonValue, documents: Iterable[Document] = ()) -> str:
    """Return ``sha256:`` and the hexadecimal digest of the canonical JSON of *value*.

    With *documents*, which are part of the meaning of a schema, the digest covers an array
    of *value* and an object that maps each URI to the hexadecimal SHA-256 of the document.

    The nesting of *value* must be bounded.

    Raises:
        UnicodeEncodeError: *value* has lone surrogates; values decoded from UTF-8 do not.
    """
    return _digest_of_text(_write_text(value), _serialize_documents(documents))


def digests_of_properties(
    value: dict[str, JsonValue], names: Iterable[str], documents: Iterable[Document] = ()
) -> tuple[str, dict[str, str]]:
    """Return the digests of *value* and of its properties *names*.

    Each property is serialized once. Absent properties have no digest.
    """
    with_documents = _serialize_documents(documents)
    texts = {name: _write_text(value[name]) for name in names if name in value}
    digests = {name: _digest_of_text(text, with_documents) for name, text in texts.items()}
    members = (
        f"{encode_basestring(name)}:{texts[name] if name in texts else _write_text(value[name])}"
        for name in sorted(value, key=_utf16)
    )
    return _digest_of_text(f"{{{','.join(members)}}}", with_documents), digests


def canonical_json(value: JsonValue) -> bytes:
    """Return the canonical JSON text of *value*, in UTF-8."""
    return _write_text(value).encode()


# Decision 0006: a digest covers the documents, so that it identifies one meaning.
def _digest_of_text(text: str, documents: str) -> str:
    whole = f"[{text},{documents}]" if documents else text
    return "sha256:" + hashlib.sha256(whole.encode()).hexdigest()


def _serialize_documents(documents: Iterable[Document]) -> str:
    """Return the canonical JSON of the digests of *documents* by URI, or ""."""
    by_uri: JsonValue = {
        document.uri: hashlib.sha256(document.json).hexdigest() for document in documents
    }
    return _write_text(by_uri) if by_uri else ""


def _write_text(value: JsonValue) -> str:
    """Return the canonical text of *value*.

    msgspec writes the same text, in a hundredth of the time, unless a number is a double or
    ends in many zeros, or a name may have a character beyond U+FFFF.
    """
    if not _has_doubles(value):
        text = _ENCODE_SORTED(value).decode()
        plain = text.isascii() or not _BEYOND_BMP.search(text)
        if plain and (len(text) <= _MOST_ZEROS or _MANY_ZEROS not in text):
            return text
    parts: list[str] = []
    _write_value(value, parts.append)
    return "".join(parts)


_ENCODE_SORTED = msgspec.json.Encoder(order="sorted").encode
_BEYOND_BMP = re.compile("[\U00010000-\U0010ffff]")

_MOST_ZEROS = 308
"""Most trailing zeros of an integer, as in 1e308. More are written as an exponent; otherwise a
short text could have a long canonical text."""

_MANY_ZEROS = "0" * (_MOST_ZEROS + 1)
_NOT_INTEGERS = frozenset({float, ExactNumber})


def _has_doubles(value: JsonValue) -> bool:
    # The referents of a container are its contents; each iteration descends one level, in C.
    level: list[Any] = [value]
    while level:
        if not _NOT_INTEGERS.isdisjoint(map(type, level)):
            return True
        level = get_referents(*level)
    return False


def _write_value(value: JsonValue, write: Any) -> None:
    if isinstance(value, str):
        write(encode_basestring(value))
    elif isinstance(value, dict):
        separator = "{"
        # RFC 8785, section 3.2.3: properties in the order of their UTF-16 code units.
        for name in sorted(value, key=_utf16):
            write(separator)
            write(encode_basestring(name))
            write(":")
            _write_value(value[name], write)
            separator = ","
        write("}" if value else "{}")
    elif isinstance(value, list):
        separator = "["
        for item in value:
            write(separator)
            _write_value(item, write)
            separator = ","
        write("]" if value else "[]")
    elif isinstance(value, bool):
        write("true" if value else "false")
    elif value is None:
        write("null")
    else:
        write(_write_number(value))


def _utf16(name: str) -> bytes:
    return name.encode("utf-16-be", "surrogatepass")


def _write_number(value: float) -> str:
    """Return the canonical text of a number.

    Integral numbers are written as integers, others by Number::toString of ECMA-262 (RFC
    8785, section 3.2.2.3). The latter is not exact for integers beyond 2^53.
    """
    # Decision 0005: integers keep all of their digits.
    sign, digits, exponent = _split_integer(value) if isinstance(value, int) else parts_of(value)
    if exponent > _MOST_ZEROS:
        return f"{sign}{digits}e{exponent}"
    if exponent >= 0:
        return f"{sign}{digits or '0'}{'0' * exponent}"
    # Index of the digit that follows the decimal point.
    point = len(digits) + exponent
    if point > 0:
        return f"{sign}{digits[:point]}.{digits[point:]}"
    if point > -6:
        return f"{sign}0.{'0' * -point}{digits}"
    rest = f".{digits[1:]}" if len(digits) > 1 else ""
    return f"{sign}{digits[0]}{rest}e-{1 - point}"
