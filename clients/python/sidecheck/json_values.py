"""Python values as JSON: what functions return, by what each type is commonly written as.

This module needs the standard library alone; models of pydantic write themselves.
"""

import math
from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from json import dumps
from pathlib import PurePath
from typing import Any, Final, TypeAlias
from uuid import UUID

from sidecheck.json_copies import NotJson

__all__ = ["json_value"]

#: How deep values may nest: deeper ones, and those within themselves, are refused.
DEEPEST: Final = 128

_MOST_TOLD: Final = 200

_Path: TypeAlias = tuple[str | int, ...]


def json_value(value: object) -> Any:
    """Return *value* in terms of JSON: dicts with text as names, lists, texts, numbers, None.

    * An enum member is its value, a dataclass the object of its fields, and a model of
      pydantic what ``model_dump(mode="json", by_alias=True)`` says.
    * ``bytes`` are Base64 (RFC 4648, section 4); dates, times and durations are ISO 8601; a
      ``Decimal``, a ``UUID`` and a path are their text.
    * A tuple is a list, and so is a set, ordered by the JSON of its items.
    * Names of members that are numbers, booleans or None become the text that JSON has.

    Raises:
        NotJson: JSON cannot express it (RFC 8259): another type, NaN or an infinity, two
            members of one name, or it nests deeper than 128. The message begins with the
            place, a JSON Pointer, unless that is the whole.
    """
    return _converted(value, ())


def _converted(value: object, at: _Path) -> Any:
    if len(at) > DEEPEST:
        raise _refused(at[:3], f"nests deeper than {DEEPEST}, which no JSON here may")
    for kinds, convert in _BY_TYPE:
        if isinstance(value, kinds):
            return convert(value, at)
    if hasattr(type(value), "__pydantic_serializer__"):
        return _model(value, at)
    if is_dataclass(value) and not isinstance(value, type):
        members = {field.name: getattr(value, field.name) for field in fields(value)}
        return _object(members, at)
    raise _refused(at, f"is of type {type(value).__name__}, which has no form in JSON")


def _same(value: Any, _at: _Path) -> Any:
    return value


def _enum(value: Enum, at: _Path) -> Any:
    return _converted(value.value, at)


def _text(value: str, _at: _Path) -> str:
    return str(value)


def _integer(value: int, _at: _Path) -> int:
    return int(value)


def _float(value: float, at: _Path) -> float:
    if not math.isfinite(value):
        raise _refused(at, "is NaN or infinite, which JSON cannot express")
    return float(value)


def _decimal(value: Decimal, at: _Path) -> str:
    if not value.is_finite():
        raise _refused(at, "is NaN or infinite, which JSON cannot express")
    return str(value)


def _bytes(value: Any, _at: _Path) -> str:
    return b64encode(value).decode()


def _moment(value: date | time, _at: _Path) -> str:
    return value.isoformat()


def _duration(value: timedelta, _at: _Path) -> str:
    sign, value = ("-", -value) if value < timedelta(0) else ("", value)
    seconds = f"{value.seconds}"
    if value.microseconds:
        seconds += f".{value.microseconds:06}".rstrip("0")
    return f"{sign}P{value.days}DT{seconds}S"


def _spelled(value: object, _at: _Path) -> str:
    return str(value)


def _object(value: Mapping[Any, Any], at: _Path) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, member in value.items():
        name = _name(key, at)
        if name in found:
            raise _refused(at, f"has two members that are called {name[:80]!r} in JSON")
        found[name] = _converted(member, (*at, name))
    return found


def _name(key: object, at: _Path) -> str:
    name = _converted(key, at)
    if name is None or isinstance(name, int | float):
        return dumps(name)
    if not isinstance(name, str):
        raise _refused(at, f"has a name of type {type(key).__name__}, which JSON cannot express")
    return name


def _array(value: Sequence[Any], at: _Path) -> list[Any]:
    return [_converted(item, (*at, index)) for index, item in enumerate(value)]


def _set(value: Any, at: _Path) -> list[Any]:
    items = (_converted(item, at) for item in value)
    return sorted(items, key=lambda item: dumps(item, sort_keys=True))


def _model(value: Any, at: _Path) -> Any:
    dump = getattr(value, "model_dump", None)
    if dump is None:  # A dataclass of pydantic.
        dump = type(value).__pydantic_serializer__.to_python
        return _converted(dump(value, mode="json", by_alias=True), at)
    return _converted(dump(mode="json", by_alias=True), at)


#: By type; the first that fits. A date and time is a date, and True a number.
_BY_TYPE: Final[tuple[tuple[Any, Callable[[Any, _Path], Any]], ...]] = (
    (Enum, _enum),
    ((bool, type(None)), _same),
    (str, _text),
    (int, _integer),
    (float, _float),
    (Decimal, _decimal),
    ((bytes, bytearray, memoryview), _bytes),
    ((datetime, date, time), _moment),
    (timedelta, _duration),
    ((UUID, PurePath), _spelled),
    (Mapping, _object),
    ((list, tuple), _array),
    ((set, frozenset), _set),
)


def _refused(at: _Path, why: str) -> NotJson:
    place = "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in at)
    told = place if len(place) <= _MOST_TOLD else f"{place[:_MOST_TOLD]}…"
    return NotJson(f"{told} {why}" if told else f"the value {why}")
