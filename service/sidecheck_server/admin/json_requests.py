"""Reads requests of the API from their JSON form.

JSON values are copied byte for byte from the body into the message, so numbers, duplicate keys
and white space are preserved.
"""

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

import msgspec
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message
from msgspec import Raw

from sidecheck_server.admin.json_shapes import Form, Path, Property, Shape, shape_of, words_of
from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.explain.nearest import find_nearest
from sidecheck_server.core.limits import limit_exceeded_error

__all__ = ["RANGES", "read_request"]

RANGES: Final[Mapping[int, range]] = {
    FieldDescriptor.CPPTYPE_INT32: range(-(1 << 31), 1 << 31),
    FieldDescriptor.CPPTYPE_UINT32: range(1 << 32),
    FieldDescriptor.CPPTYPE_UINT64: range(1 << 64),
}

_MAX_VALUES: Final = 100_000
"""Maximum number of properties and elements in a body: enough for the largest batch."""

_ARRAY: Final = msgspec.json.Decoder(list[Raw])
_BOOLEAN: Final = msgspec.json.Decoder(bool)
_INTEGER: Final = msgspec.json.Decoder(int)
_STRING: Final = msgspec.json.Decoder(str)


def read_request(request_type: Callable[[], Message], body: bytes) -> Message:
    """Return the request in *body*.

    Raises:
        RequestError: INVALID_REQUEST if it is not the JSON form of a request; LIMIT_EXCEEDED if
            it has too many values.
    """
    message = request_type()
    count = _ValueCount()
    _fill(message, shape_of(message.DESCRIPTOR), _read_object(body, "", count), "", count)
    return message


class _ValueCount:
    """Counts the properties and elements of a body, to bound the time to read it.

    Each takes some microseconds. Values inside embedded JSON, which is copied as bytes, do not
    count.
    """

    def __init__(self) -> None:
        self._values = 0

    def add(self, values: int) -> None:
        """Add *values* to the count.

        Raises:
            RequestError: LIMIT_EXCEEDED if there are too many.
        """
        self._values += values
        if self._values > _MAX_VALUES:
            raise limit_exceeded_error("body_values", _MAX_VALUES, "values of the body")


class _Key(str):
    """Key of an object: msgspec calls a hook for each, also for duplicates."""

    __slots__ = ()


def _read_object(text: bytes | Raw, location: str, count: _ValueCount) -> dict[str, Raw]:
    """Return the values of the object in *text* by name; reject duplicate names."""
    names: set[str] = set()

    def check_name(_key_type: type, name: str) -> _Key:
        count.add(1)
        if name in names:
            raise _invalid(f"duplicate property {_quoted(name)}", _join(location, name))
        names.add(name)
        return _Key(name)

    decoder = msgspec.json.Decoder(dict[_Key, Raw], dec_hook=check_name)
    values: dict[str, Raw] = _decode(decoder.decode, text, location, "a JSON object")
    return values


def _decode(decode: Callable[[Any], Any], text: bytes | Raw, location: str, expected: str) -> Any:
    """Return *text* decoded by *decode*; name *location* and *expected* in an error."""
    subject = _quoted(location) if location else "the body"
    try:
        return decode(text)
    except msgspec.ValidationError:
        raise _invalid(f"{subject} must be {expected}", location) from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        # In a body that was split into values, only strings can still be malformed. The text of
        # the error has the fault and its offset, and no content.
        raise _invalid(f"{subject} is not JSON in UTF-8: {error}", location) from None
    except RecursionError:
        raise _invalid(f"{subject} nests too deeply", location) from None


def _fill(
    message: Message, shape: Shape, values: Mapping[str, Raw], location: str, count: _ValueCount
) -> None:
    """Set the fields of *message* from *values*, its JSON form at *location*."""
    properties = []
    for name in values:
        property_ = shape.properties.get(name)
        if property_ is None:
            raise _unknown_property(name, shape.properties, location)
        properties.append(property_)
    # A property with one path determines which path applies to a property with several.
    properties.sort(key=lambda property_: len(property_.paths) > 1)
    writer = _Writer(message, shape, location, count)
    for property_ in properties:
        raw = values[property_.name]
        if property_.form is Form.JSON or bytes(raw) != b"null":
            writer.write(property_, raw)


class _Writer:
    """Sets the fields of a message, and of the messages dissolved in it."""

    def __init__(self, message: Message, shape: Shape, location: str, count: _ValueCount) -> None:
        self._count = count
        self._message = message
        self._shape = shape
        self._location = location
        #: By the name of a field or oneof that is set: the member of the oneof, and the property.
        self._set: dict[str, tuple[FieldDescriptor | None, str]] = {}

    def write(self, property_: Property, raw: Raw) -> None:
        """Set the field of *property_* to the value in *raw*."""
        *parents, field = path = self._choose_path(property_)
        for step in path:
            if (oneof := step.containing_oneof) is not None:
                self._claim(oneof.full_name, step, property_.name)
        self._claim(field.full_name, None, property_.name)
        message: Any = self._message
        for parent in parents:
            message = getattr(message, parent.name)
            message.SetInParent()
        location = _join(self._location, property_.name)
        _set_field(message, field, property_, raw, location, self._count)

    def _choose_path(self, property_: Property) -> Path:
        """Return the first path of *property_* whose messages are all present."""
        if len(property_.paths) == 1:
            return property_.paths[0]
        for path in property_.paths:
            if path[-1].containing_oneof is not None or self._has(path[:-1]):
                return path
        parents = {path[:-1] for path in property_.paths}
        siblings = sorted(
            sibling.name
            for sibling in self._shape.properties.values()
            if sibling.form is Form.JSON and sibling.paths[0][:-1] in parents
        )
        alternatives = " or ".join(map(_quoted, siblings))
        location = _join(self._location, property_.name)
        raise _invalid(f"{_quoted(property_.name)} requires {alternatives}", location)

    def _has(self, parents: Path) -> bool:
        message: Any = self._message
        for parent in parents:
            if not message.HasField(parent.name):
                return False
            message = getattr(message, parent.name)
        return True

    def _claim(self, key: str, field: FieldDescriptor | None, name: str) -> None:
        """Record that the property *name* sets *key*, a field or oneof.

        Two properties may set the same member *field* of a oneof, and nothing else twice.
        """
        claimed_field, claimant = self._set.setdefault(key, (field, name))
        if claimant != name and (field is None or claimed_field is not field):
            pair = " and ".join(map(_quoted, sorted((name, claimant))))
            raise _invalid(f"{pair} exclude each other", _join(self._location, name))


def _set_field(
    message: Any,
    field: FieldDescriptor,
    property_: Property,
    raw: Raw,
    location: str,
    count: _ValueCount,
) -> None:
    if not property_.is_repeated:
        _set_value(message, field, property_.form, raw, location, count)
        return
    array = _decode(_ARRAY.decode, raw, location, "an array")
    count.add(len(array))
    elements = getattr(message, field.name)
    for index, element in enumerate(array):
        place = f"{location}[{index}]"
        if property_.form is Form.OBJECT:
            child = elements.add()
            _fill(
                child, shape_of(child.DESCRIPTOR), _read_object(element, place, count), place, count
            )
        elif field.message_type is not None:
            elements.add(json=_value(field, property_.form, element, place))
        else:
            elements.append(_value(field, property_.form, element, place))


def _set_value(
    message: Any, field: FieldDescriptor, form: Form, raw: Raw, location: str, count: _ValueCount
) -> None:
    if form is Form.OBJECT:
        child = getattr(message, field.name)
        child.SetInParent()
        _fill(
            child, shape_of(child.DESCRIPTOR), _read_object(raw, location, count), location, count
        )
    elif form is Form.MARK:
        if _decode(_BOOLEAN.decode, raw, location, "true or false"):
            getattr(message, field.name).SetInParent()
    else:
        setattr(message, field.name, _value(field, form, raw, location))


def _value(field: FieldDescriptor, form: Form, raw: Raw, location: str) -> Any:
    """Return the value of *field* decoded from *raw*."""
    match form:
        case Form.JSON:
            return bytes(raw)
        case Form.BOOLEAN:
            return _decode(_BOOLEAN.decode, raw, location, "true or false")
        case Form.INTEGER:
            return _integer(field, raw, location)
        case Form.WORD:
            return _number_of_word(field, raw, location)
        case _:
            text: str = _decode(_STRING.decode, raw, location, "a string")
            return text if field.type == FieldDescriptor.TYPE_STRING else text.encode()


def _integer(field: FieldDescriptor, raw: Raw, location: str) -> int:
    values = RANGES[field.cpp_type]
    expected = f"an integer from {values[0]:,} to {values[-1]:,}"
    value: int = _decode(_INTEGER.decode, raw, location, expected)
    if value not in values:
        raise _invalid(f"{_quoted(location)} must be {expected}", location)
    return value


def _number_of_word(field: FieldDescriptor, raw: Raw, location: str) -> int:
    words = words_of(field.enum_type)
    expected = f"one of {', '.join(map(_quoted, words))}"
    word = _decode(_STRING.decode, raw, location, expected)
    if word not in words:
        raise _invalid(f"invalid {field.name} {_quoted(word)}; expected {expected}", location)
    return words[word]


def _unknown_property(name: str, known: Iterable[str], location: str) -> RequestError:
    candidates = (property_ for property_ in known if not property_.endswith("_text"))
    nearest = find_nearest(name, candidates)
    suggestion = f"; did you mean {_quoted(nearest)}?" if nearest else ""
    return _invalid(f"unknown property {_quoted(name)}{suggestion}", _join(location, name))


def _invalid(message: str, location: str) -> RequestError:
    return RequestError(
        ErrorReason.INVALID_REQUEST, message, {"field": location} if location else {}
    )


def _join(location: str, name: str) -> str:
    return f"{location}.{name}" if location else name


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
