"""Which values may take the place of one of another type: the table, and its conversions.

A conversion is safe if the value survives it exactly and the text is the one spelling
that it has as JSON, so that nothing is lost that the caller may have meant: "007" is
more than 7, and "1e3" or " 5 " need somebody who knows what they are for. The empty
string and "null" are no null, a number is no boolean, and nothing is wrapped.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sidecheck_server.core.digests import canonical_json
from sidecheck_server.core.engines.json_types import is_number
from sidecheck_server.core.errors import RequestError
from sidecheck_server.core.payload import MalformedError, decode
from sidecheck_server.core.types import ChangeRule, JsonValue

__all__ = ["CONTAINERS", "LONGEST", "SCALARS", "Conversion", "decoded"]

LONGEST = 4300
"""How many digits an integer has at most, as in `core.payload`."""

_INTEGER = re.compile(r"-?(?:0|[1-9][0-9]*)")
_DECIMAL = re.compile(r"-?(?:0|[1-9][0-9]*)\.[0-9]+")
_BOOLEANS = {"true": True, "false": False}


@dataclass(frozen=True, slots=True)
class Conversion:
    """A row of the table."""

    rule: ChangeRule
    #: The name of the type that is demanded.
    wanted: str
    #: Returns the values that stand for a value: one or none.
    convert: Callable[[Any], list[JsonValue]]


def decoded(text: str, depth: int) -> list[JsonValue]:
    """Return the object or array whose JSON text *text* is, or nothing.

    Not if it nests deeper than *depth*, or is a text with which the payload as a whole
    would be no JSON with a single meaning.
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
        double = float(value)
        return [double] if repr(double) == value else []
    return _integer(value)


def _boolean(value: Any) -> list[JsonValue]:
    return [_BOOLEANS[value]] if isinstance(value, str) and value in _BOOLEANS else []


def _number_text(value: Any) -> list[JsonValue]:
    # 1.0 may have been written in more ways than one, and the decoder has kept none.
    if not is_number(value) or (isinstance(value, float) and value.is_integer()):
        return []
    return [canonical_json(value).decode()]


def _boolean_text(value: Any) -> list[JsonValue]:
    return [canonical_json(value).decode()] if isinstance(value, bool) else []


CONTAINERS = ("object", "array")
"""The types of what a JSON text may hold to be decoded."""

SCALARS = (
    Conversion(ChangeRule.STRING_TO_INTEGER, "integer", _integer),
    Conversion(ChangeRule.STRING_TO_NUMBER, "number", _number),
    Conversion(ChangeRule.STRING_TO_BOOLEAN, "boolean", _boolean),
    Conversion(ChangeRule.NUMBER_TO_STRING, "string", _number_text),
    Conversion(ChangeRule.BOOLEAN_TO_STRING, "string", _boolean_text),
)
"""What is safe among scalars. Of a value and the types demanded, at most one value comes."""
