"""Texts for values in messages: short, printable, and hidden on request."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from sidecheck_server.core.payload import encode_json

__all__ = [
    "Message",
    "Values",
    "count_noun",
    "describe_choices",
    "describe_kind",
    "format_literal",
    "join_phrase",
    "quote",
]

LONGEST = 60
"""Longest part of a value that a message shows, in characters."""

_DIGITS = 40
"""Most digits of an integer that a message shows, approximately."""

_MOST_LISTED = 8
"""Most parts of an array or object, or names of properties, that a message shows."""

_MOST_ALTERNATIVES = 20
"""Most allowed values that a message lists."""


@dataclass(frozen=True, slots=True)
class Message:
    """Message and suggestion of a violation."""

    text: str
    suggestion: str = ""


def quote(text: str) -> str:
    """Return *text* shortened, in double quotes, with unprintable characters escaped."""
    shown = text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
    if shown.isprintable() and '"' not in shown and "\\" not in shown:
        return f'"{shown}"'
    return '"' + "".join(_ESCAPES.get(c) or _printable(c) for c in shown) + '"'


_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def _printable(character: str) -> str:
    # Unprintable characters such as direction marks could disguise the text around them.
    return character if character.isprintable() else json.dumps(character)[1:-1]


def count_noun(number: float, noun: str) -> str:
    """Return *number* and *noun*, as in ``1 item``, ``3 items`` or ``2 properties``."""
    if isinstance(number, float) and number.is_integer():
        number = int(number)
    if number == 1:
        return f"1 {noun}"
    plural = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{format_literal(number)} {plural}"


def format_literal(value: Any) -> str:
    """Return *value*, a part of a schema, as JSON if short; otherwise its kind."""
    if isinstance(value, str):
        return quote(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return _integer(value)
    if isinstance(value, dict | list) and not _is_small(value):
        return describe_kind(value)
    text = msgspec.json.format(encode_json(value), indent=0).decode()
    return text if len(text) <= LONGEST and text.isprintable() else describe_kind(value)


def _integer(value: int) -> str:
    # The time to write an integer in decimal grows with the square of its length.
    if value.bit_length() > _DIGITS * 4:
        return f"an integer of about {int(value.bit_length() * 0.30103) + 1} digits"
    return str(value)


def _is_small(value: Any) -> bool:
    parts = list(value.values()) if isinstance(value, dict) else value
    return len(parts) <= _MOST_LISTED and not any(
        isinstance(part, dict | list)
        or (isinstance(part, str) and len(part) > LONGEST)
        or (isinstance(part, int) and part.bit_length() > _DIGITS * 4)
        for part in parts
    )


def describe_kind(value: Any) -> str:
    """Return the type and size of *value*, as in ``a string of 12 characters``."""
    match value:
        case bool():
            return "a boolean"
        case None:
            return "null"
        case int():
            return "an integer"
        case float():
            return "a number"
        case str():
            return (
                f"a string of {count_noun(len(value), 'character')}" if value else "an empty string"
            )
        case list():
            return f"an array of {count_noun(len(value), 'item')}" if value else "an empty array"
        case _:
            if not value:
                return "an empty object"
            return f"an object with {count_noun(len(value), 'property')}"


def join_phrase(parts: Sequence[str], last: str = "or") -> str:
    """Return *parts* as one phrase, as in ``a, b or c``."""
    if len(parts) <= 1:
        return "".join(parts)
    return f"{', '.join(parts[:-1])} {last} {parts[-1]}"


class Values:
    """Describes values and names of a payload, or hides them."""

    def __init__(self, *, hidden: bool) -> None:
        self.hidden = hidden

    def describe(self, value: Any) -> str:
        """Return *value* with its type, as in ``the string "12"``."""
        if self.hidden or isinstance(value, dict | list) or value == "":
            return describe_kind(value)
        return f"the string {quote(value)}" if isinstance(value, str) else format_literal(value)

    def format(self, value: Any) -> str:
        """Return *value* alone, as in ``"12"``."""
        return describe_kind(value) if self.hidden else format_literal(value)

    def property_named(self, name: str, noun: str = "property") -> str:
        """Return *noun* with *name*, as in ``property "q"``."""
        return noun if self.hidden else f"{noun} {quote(name)}"

    def describe_names(self, value: dict[str, Any]) -> str:
        """Return an object by its property names, as in ``an object with "a" and "b"``."""
        if self.hidden or not value or len(value) > _MOST_LISTED:
            return describe_kind(value)
        return f"an object with {join_phrase([quote(name) for name in value], 'and')}"


def describe_choices(values: Sequence[Any], first: Any = None) -> str:
    """Return *values* as a phrase, as in ``one of 1, 2 or 3``.

    If there are many, the phrase names a few of them, including *first*.
    """
    if not values:
        return "no value at all"
    shown: list[str] = []
    length = 0
    for value in values:
        text = format_literal(value)
        length += len(text)
        if len(shown) >= _MOST_ALTERNATIVES or (shown and length > 4 * LONGEST):
            break
        shown.append(text)
    if len(shown) == len(values):
        return join_phrase(shown) if len(shown) == 1 else f"one of {join_phrase(shown)}"
    shown_few = shown[:3]
    if first is not None and format_literal(first) not in shown_few:
        shown_few = [format_literal(first), *shown_few[:2]]
    return f"one of {len(values)} values such as {join_phrase(shown_few, 'and')}"
