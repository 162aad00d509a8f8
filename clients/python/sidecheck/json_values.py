"""JSON values of Python values, such as functions return.

This module needs the standard library only; pydantic models serialize themselves.
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

#: Deepest nesting; also stops at values that contain themselves.
MAX_DEPTH: Final = 128

#: Longest location in a message, in characters.
_MAX_LOCATION: Final = 200

_UTC: Final = "+00:00"

_Location: TypeAlias = tuple[str | int, ...]


def json_value(value: object) -> Any:
    """Return the JSON value of *value*: dicts, lists, strings, numbers, booleans or None.

    * An enum member becomes its value, a dataclass the object of its fields, and a pydantic
      model the result of ``model_dump(mode="json", by_alias=True)``.
    * ``bytes`` become Base64 (RFC 4648, section 4), dates, times and durations ISO 8601, a
      ``Decimal``, a ``UUID`` and a path their text.
    * A tuple becomes a list, and so does a set, ordered by the JSON of its items.
    * Property names that are numbers, booleans or None become their JSON text.

    Raises:
        NotJson: JSON cannot express it (RFC 8259): another type, NaN or an infinity, two
            properties of the same name, or nesting deeper than 128. The message begins with
            the location, a JSON Pointer, unless that is the whole value.
    """
    return _convert(value, ())


def _convert(value: object, location: _Location) -> Any:
    if len(location) > MAX_DEPTH:
        raise _not_json(location[:3], f"nests deeper than the limit of {MAX_DEPTH}")
    for kinds, convert in _BY_TYPE:
        if isinstance(value, kinds):
            return convert(value, location)
    if hasattr(type(value), "__pydantic_serializer__"):
        return _model(value, location)
    if is_dataclass(value) and not isinstance(value, type):
        properties = {field.name: getattr(value, field.name) for field in fields(value)}
        return _object(properties, location)
    raise _not_json(location, f"is of type {type(value).__name__}, which has no JSON form")


def _plain(value: Any, _location: _Location) -> Any:
    return value


def _enum(value: Enum, location: _Location) -> Any:
    return _convert(value.value, location)


def _text(value: str, _location: _Location) -> str:
    return str(value)


def _integer(value: int, _location: _Location) -> int:
    return int(value)


def _float(value: float, location: _Location) -> float:
    if not math.isfinite(value):
        raise _not_json(location, "is NaN or infinite, which JSON cannot express")
    return float(value)


def _decimal(value: Decimal, location: _Location) -> str:
    if not value.is_finite():
        raise _not_json(location, "is NaN or infinite, which JSON cannot express")
    return str(value)


def _bytes(value: Any, _location: _Location) -> str:
    return b64encode(value).decode()


def _iso_time(value: date | time, _location: _Location) -> str:
    # As in RFC 3339 and as pydantic writes them.
    text = value.isoformat()
    return f"{text.removesuffix(_UTC)}Z" if text.endswith(_UTC) else text


def _duration(value: timedelta, _location: _Location) -> str:
    sign, value = ("-", -value) if value < timedelta(0) else ("", value)
    minutes, seconds = divmod(value.seconds, 60)
    fraction = f".{value.microseconds:06}".rstrip("0") if value.microseconds else ""
    hours, minutes = divmod(minutes, 60)
    text = "".join(f"{count}{unit}" for count, unit in ((hours, "H"), (minutes, "M")) if count)
    if seconds or fraction:
        text += f"{seconds}{fraction}S"
    days = f"{value.days}D" if value.days else ""
    return f"{sign}P{days}T{text}" if text else f"{sign}P{days or 'T0S'}"


def _string(value: object, _location: _Location) -> str:
    return str(value)


def _object(value: Mapping[Any, Any], location: _Location) -> dict[str, Any]:
    properties: dict[str, Any] = {}
    for key, item in value.items():
        name = _name(key, location)
        if name in properties:
            raise _not_json(location, f"has two properties whose JSON name is {name[:80]!r}")
        properties[name] = _convert(item, (*location, name))
    return properties


def _name(key: object, location: _Location) -> str:
    name = _convert(key, location)
    if name is None or isinstance(name, int | float):
        return dumps(name)
    if not isinstance(name, str):
        raise _not_json(
            location, f"has a property name of type {type(key).__name__}, which JSON cannot express"
        )
    return name


def _array(value: Sequence[Any], location: _Location) -> list[Any]:
    return [_convert(item, (*location, index)) for index, item in enumerate(value)]


def _set(value: Any, location: _Location) -> list[Any]:
    items = (_convert(item, location) for item in value)
    return sorted(items, key=lambda item: dumps(item, sort_keys=True))


def _model(value: Any, location: _Location) -> Any:
    dump = getattr(value, "model_dump", None)
    if dump is None:  # A pydantic dataclass.
        dump = type(value).__pydantic_serializer__.to_python
        return _convert(dump(value, mode="json", by_alias=True), location)
    return _convert(dump(mode="json", by_alias=True), location)


#: Converters by type; the first match counts, because True is an int and a datetime a date.
_BY_TYPE: Final[tuple[tuple[Any, Callable[[Any, _Location], Any]], ...]] = (
    (Enum, _enum),
    ((bool, type(None)), _plain),
    (str, _text),
    (int, _integer),
    (float, _float),
    (Decimal, _decimal),
    ((bytes, bytearray, memoryview), _bytes),
    ((datetime, date, time), _iso_time),
    (timedelta, _duration),
    ((UUID, PurePath), _string),
    (Mapping, _object),
    ((list, tuple), _array),
    ((set, frozenset), _set),
)


def _not_json(location: _Location, reason: str) -> NotJson:
    pointer = "".join("/" + str(key).replace("~", "~0").replace("/", "~1") for key in location)
    if len(pointer) > _MAX_LOCATION:
        pointer = f"{pointer[:_MAX_LOCATION]}…"
    return NotJson(f"{pointer} {reason}" if pointer else f"the value {reason}")
