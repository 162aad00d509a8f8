"""Conversion of Python values to JSON values.

This module needs only the standard library; pydantic models serialize themselves.
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
from sidecheck.pointers import as_pointer
from sidecheck.sdk_objects import dump_model, is_client_value, is_model, to_protocol

__all__ = ["Role", "convert_value", "json_value"]

#: Maximum nesting, which also bounds values that contain themselves.
MAX_DEPTH: Final = 128

#: Maximum length of a location in a message, in characters.
_MAX_LOCATION: Final = 200

#: Properties of the protocol whose values are payloads.
_PAYLOADS: Final = frozenset({"arguments", "structuredContent"})

_UTC: Final = "+00:00"

_Location: TypeAlias = tuple[str | int, ...]


class Role(Enum):
    """Role of a value, which determines the conversion of its bytes and nulls."""

    #: A return value: ``bytes`` inside of it become Base64, nulls are kept.
    RETURN_VALUE = "return_value"
    #: A payload. ``bytes`` inside of it are an error, because ``bytes`` elsewhere are JSON text.
    #: A null is data: models and dataclasses keep it.
    PAYLOAD = "payload"
    #: JSON of the protocol. As a payload, but models and dataclasses omit the nulls of optional
    #: properties. Payloads inside of it have the role `PAYLOAD`.
    PROTOCOL = "protocol"


def json_value(value: object) -> Any:
    """Return the JSON value of *value*: a dict, list, string, number, bool or None.

    * An enum member becomes its value, a dataclass the object of its fields, and a pydantic
      model the result of ``model_dump(mode="json", by_alias=True)``.
    * ``bytes`` become Base64 (RFC 4648, section 4), dates, times and durations ISO 8601, a
      ``Decimal``, a ``UUID`` and a path their text.
    * A tuple becomes a list, and so does a set, ordered by the JSON of its items.
    * Property names that are numbers, booleans or None become their JSON text.

    Raises:
        NotJson: JSON cannot express the value (RFC 8259): another type, NaN or an infinity,
            two properties of the same name, or nesting deeper than 128. The message begins
            with the location, a JSON Pointer, unless that is the whole value.
    """
    return convert_value(value, Role.RETURN_VALUE)


def convert_value(value: object, role: Role) -> Any:
    """Return the JSON value of *value*, with the rules of its *role*.

    Raises:
        NotJson: As `json_value`; or *value* is or contains a value of this client, such as
            `Arguments`, and is not a `RETURN_VALUE`.
    """
    return _convert(value, (), role)


def _convert(value: object, location: _Location, role: Role) -> Any:
    if len(location) > MAX_DEPTH:
        raise _not_json(location[:3], f"nests deeper than the limit of {MAX_DEPTH}")
    if role is Role.PROTOCOL:
        value = to_protocol(value)
    for kinds, convert in _BY_TYPE:
        if isinstance(value, kinds):
            return convert(value, location, role)
    if is_model(value) or hasattr(type(value), "__pydantic_serializer__"):
        return _model(value, location, role)
    if is_dataclass(value) and not isinstance(value, type):
        return _dataclass(value, location, role)
    raise _not_json(location, f"is of type {type(value).__name__}, which has no JSON form")


def _plain(value: Any, _location: _Location, _role: Role) -> Any:
    return value


def _enum(value: Enum, location: _Location, role: Role) -> Any:
    return _convert(value.value, location, role)


def _text(value: str, location: _Location, _role: Role) -> str:
    try:
        value.encode()
    except UnicodeEncodeError:
        raise _not_json(location, "has a lone surrogate, which UTF-8 cannot express") from None
    return str(value)


def _integer(value: int, _location: _Location, _role: Role) -> int:
    return int(value)


def _float(value: float, location: _Location, _role: Role) -> float:
    if not math.isfinite(value):
        raise _not_json(location, "is NaN or infinite, which JSON cannot express")
    return float(value)


def _decimal(value: Decimal, location: _Location, _role: Role) -> str:
    if not value.is_finite():
        raise _not_json(location, "is NaN or infinite, which JSON cannot express")
    return str(value)


def _bytes(value: Any, location: _Location, role: Role) -> str:
    if role is not Role.RETURN_VALUE:
        raise _not_json(
            location, "is bytes inside of a value; decode it, or pass the whole as JSON text"
        )
    return b64encode(value).decode()


def _iso_time(value: date | time, _location: _Location, _role: Role) -> str:
    # With Z for UTC, as in RFC 3339 and in pydantic.
    text = value.isoformat()
    return f"{text.removesuffix(_UTC)}Z" if text.endswith(_UTC) else text


def _duration(value: timedelta, _location: _Location, _role: Role) -> str:
    sign, value = ("-", -value) if value < timedelta(0) else ("", value)
    minutes, seconds = divmod(value.seconds, 60)
    fraction = f".{value.microseconds:06}".rstrip("0") if value.microseconds else ""
    hours, minutes = divmod(minutes, 60)
    text = "".join(f"{count}{unit}" for count, unit in ((hours, "H"), (minutes, "M")) if count)
    if seconds or fraction:
        text += f"{seconds}{fraction}S"
    days = f"{value.days}D" if value.days else ""
    return f"{sign}P{days}T{text}" if text else f"{sign}P{days or 'T0S'}"


def _string(value: object, _location: _Location, _role: Role) -> str:
    return str(value)


def _object(value: Mapping[Any, Any], location: _Location, role: Role) -> dict[str, Any]:
    properties: dict[str, Any] = {}
    for key, item in value.items():
        name = _name(key, location)
        if name in properties:
            raise _not_json(location, f"has two properties whose JSON name is {name[:80]!r}")
        is_payload = role is Role.PROTOCOL and name in _PAYLOADS
        item_role = Role.PAYLOAD if is_payload else role
        properties[name] = _convert(item, (*location, name), item_role)
    return properties


def _name(key: object, location: _Location) -> str:
    name = _convert(key, location, Role.PAYLOAD)
    if name is None or isinstance(name, int | float):
        return dumps(name)
    if not isinstance(name, str):
        raise _not_json(
            location, f"has a property name of type {type(key).__name__}, which JSON cannot express"
        )
    return name


def _array(value: Sequence[Any], location: _Location, role: Role) -> list[Any]:
    return [_convert(item, (*location, index), role) for index, item in enumerate(value)]


def _set(value: Any, location: _Location, role: Role) -> list[Any]:
    items = (_convert(item, location, role) for item in value)
    return sorted(items, key=lambda item: dumps(item, sort_keys=True))


def _model(value: Any, location: _Location, role: Role) -> Any:
    options = {"mode": "json", "by_alias": True}
    try:
        if not is_model(value):  # A pydantic dataclass.
            omit_null = role is Role.PROTOCOL
            dump = type(value).__pydantic_serializer__.to_python
            dumped = dump(value, **options, exclude_none=omit_null)
        elif role is Role.PROTOCOL:
            dumped = dump_model(value)
        else:
            dumped = value.model_dump(**options)
    except ValueError as error:
        name = type(value).__name__
        raise _not_json(location, f"cannot be serialized as {name}: {error}") from error
    return _convert(dumped, location, role)


def _dataclass(value: Any, location: _Location, role: Role) -> Any:
    # For example, the caller passed `Arguments` in place of their payload.
    if role is not Role.RETURN_VALUE and is_client_value(value):
        name = type(value).__name__
        raise _not_json(location, f"is of the type {name} of sidecheck, which is not JSON")
    properties = {field.name: getattr(value, field.name) for field in fields(value)}
    if role is Role.PROTOCOL:
        properties = {name: item for name, item in properties.items() if item is not None}
    return _object(properties, location, role)


#: Converters by type. The first match applies, because True is an int and a datetime a date.
_BY_TYPE: Final[tuple[tuple[Any, Callable[[Any, _Location, Role], Any]], ...]] = (
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
    pointer = as_pointer(location)
    if len(pointer) > _MAX_LOCATION:
        pointer = f"{pointer[:_MAX_LOCATION]}…"
    return NotJson(f"{pointer} {reason}" if pointer else f"the value {reason}")
