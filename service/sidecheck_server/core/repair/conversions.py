"""The table of safe conversions between JSON types.

A conversion is safe if the value survives it exactly and its text is the canonical
spelling, so that no intended information is lost: "007" may mean more than 7, and "1e3"
or " 5 " are not converted either. The empty string and "null" do not become null, a
number does not become a boolean, and nothing is wrapped in an array.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sidecheck_server.core.errors import RequestError
from sidecheck_server.core.exact_numbers import MOST_DIGITS, ExactNumber, read_number
from sidecheck_server.core.json_values import canonical_json, is_number
from sidecheck_server.core.payload import MalformedError, decode
from sidecheck_server.core.types import ChangeRule, JsonValue

__all__ = ["CONTAINERS", "LONGEST", "SCALARS", "Conversion", "decode_container"]

LONGEST = MOST_DIGITS
"""The longest text that is converted to a number, in characters."""

_INTEGER = re.compile(r"-?(?:0|[1-9][0-9]*)")
_DECIMAL = re.compile(r"-?(?:0|[1-9][0-9]*)\.[0-9]+")
_BOOLEANS = {"true": True, "false": False}


@dataclass(frozen=True, slots=True)
class Conversion:
    """One row of the table."""

    rule: ChangeRule
    #: The name of the target type.
    target: str
    #: Returns the converted value, or an empty list if it is not safe.
    convert: Callable[[Any], list[JsonValue]]


def decode_container(text: str, depth: int) -> list[JsonValue]:
    """Return the object or array of which *text* is the JSON text, in a list, or an empty list.

    It is empty if the container nests deeper than *depth*, or if *text* is ambiguous
    JSON, as with duplicate keys.
    """
    if not text.lstrip(" \t\r\n").startswith(("{", "[")):
        return []
    try:
        return [decode(text.encode(), max_depth=depth)]
    except (MalformedError, RequestError, UnicodeEncodeError):
        return []


def _integer(value: Any) -> list[JsonValue]:
    if not isinstance(value, str) or len(value) > LONGEST or not _INTEGER.fullmatch(value):
        return []
    return [int(value)] if value != "-0" else []


def _number(value: Any) -> list[JsonValue]:
    if isinstance(value, str) and len(value) <= LONGEST and _DECIMAL.fullmatch(value):
        number = read_number(value)
        # An exact number has any text, but 1.10 may mean more than 1.1.
        is_cut = isinstance(number, ExactNumber) and value.endswith("0")
        return [number] if repr(number) == value and not is_cut else []
    return _integer(value)


def _boolean(value: Any) -> list[JsonValue]:
    return [_BOOLEANS[value]] if isinstance(value, str) and value in _BOOLEANS else []


def _number_text(value: Any) -> list[JsonValue]:
    # 1.0 has several spellings, and the decoder does not keep the one that was sent.
    if not is_number(value) or (isinstance(value, float) and value.is_integer()):
        return []
    if isinstance(value, ExactNumber) and _DECIMAL.fullmatch(value.text):
        return [value.text]
    return [canonical_json(value).decode()]


def _boolean_text(value: Any) -> list[JsonValue]:
    return [canonical_json(value).decode()] if isinstance(value, bool) else []


CONTAINERS = ("object", "array")
"""The types that a JSON text is decoded to."""

SCALARS = (
    Conversion(ChangeRule.STRING_TO_INTEGER, "integer", _integer),
    Conversion(ChangeRule.STRING_TO_NUMBER, "number", _number),
    Conversion(ChangeRule.STRING_TO_BOOLEAN, "boolean", _boolean),
    Conversion(ChangeRule.NUMBER_TO_STRING, "string", _number_text),
    Conversion(ChangeRule.BOOLEAN_TO_STRING, "string", _boolean_text),
)
"""What is safe among scalars. Of a value and the types demanded, at most one value comes."""
