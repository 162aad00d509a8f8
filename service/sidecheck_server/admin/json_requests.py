"""Reads requests of the API from their JSON form.

JSON values are copied byte for byte from the body into the message, so numbers, duplicate keys
and white space are preserved. Errors are in terms of the body: its properties, the types of
JSON, and JSON Pointers (RFC 6901).
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
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

_TYPES: Final[Mapping[bytes, str]] = {
    b"{": "an object",
    b"[": "an array",
    b'"': "a string",
    b"t": "true",
    b"f": "false",
    b"n": "null",
}
"""Names of the types of JSON values, keyed by the first byte; all others begin a number."""

_OFFSET: Final = re.compile(r"(?:JSON is malformed: )?(?P<fault>.*) \(byte (?P<offset>\d+)\)")
_SURROGATE: Final = re.compile(rb"\\u[dD][89a-fA-F]")
_HALF_PAIR: Final = "it ends early, or an escape in it has half of a surrogate pair"
_LONGEST_NUMBER: Final = 24

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
    if not body.strip():
        raise _invalid("the body is empty; expected a JSON object", "")
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
            fault = f"duplicate property {_quoted(name)}{_within(location)}"
            raise _invalid(fault, _join(location, name))
        names.add(name)
        return _Key(name)

    decoder = msgspec.json.Decoder(dict[_Key, Raw], dec_hook=check_name)
    values: dict[str, Raw] = _decode(decoder.decode, text, location, "an object")
    return values


def _decode(decode: Callable[[Any], Any], text: bytes | Raw, location: str, expected: str) -> Any:
    """Return *text* decoded by *decode*; name *location* and *expected* in an error."""
    try:
        return decode(text)
    except msgspec.ValidationError:
        raise _wrong_type(expected, bytes(text), location) from None
    except UnicodeDecodeError as error:
        # The position is one within a string, and so of no use to the caller.
        raise _invalid(f"{_subject(location)} is not UTF-8: {error.reason}", location) from None
    except msgspec.DecodeError as error:
        # The text of the error has the fault and its offset, and no content.
        fault = _describe_fault(str(error), bytes(text), location)
        raise _invalid(f"{_subject(location)} is not JSON: {fault}", location) from None
    except RecursionError:
        raise _invalid(f"{_subject(location)} nests too deeply", location) from None


def _wrong_type(expected: str, found: bytes, location: str) -> RequestError:
    return _invalid(f"expected {expected}, found {_type_of(found)}{_at(location)}", location)


def _type_of(text: bytes) -> str:
    """Return the JSON type of the value in *text*, with its article."""
    return _TYPES.get(text.lstrip()[:1], "a number")


def _describe_fault(message: str, text: bytes, location: str) -> str:
    """Return msgspec's *message* on *text*; in the body, with the line and the column."""
    if "truncated" in message:
        is_half = _SURROGATE.search(text) is not None
        return _HALF_PAIR if is_half else "it ends before the value is complete"
    match = _OFFSET.fullmatch(message)
    if match is None:
        return message
    if location:
        return match["fault"]
    before = text[: int(match["offset"])]
    line = before.count(b"\n") + 1
    column = len(before.rpartition(b"\n")[2].decode(errors="replace")) + 1
    return f"{match['fault']} at line {line}, column {column}"


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
        raise _invalid(
            f"{_quoted(property_.name)} requires {alternatives}{_within(self._location)}", location
        )

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
            raise _invalid(
                f"{pair} exclude each other{_within(self._location)}", _join(self._location, name)
            )


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
        place = f"{location}/{index}"
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
    text = bytes(raw).strip()
    with suppress(msgspec.ValidationError):
        value: int = _INTEGER.decode(raw)
        if value in values:
            return value
    is_short_number = _type_of(text) == "a number" and len(text) <= _LONGEST_NUMBER
    found = text.decode() if is_short_number else _type_of(text)
    raise _invalid(f"expected {expected}, found {found}{_at(location)}", location)


def _number_of_word(field: FieldDescriptor, raw: Raw, location: str) -> int:
    words = words_of(field.enum_type)
    expected = f"one of {', '.join(map(_quoted, words))}"
    word = _decode(_STRING.decode, raw, location, expected)
    if word not in words:
        name = location.rpartition("/")[2]
        raise _invalid(
            f"invalid {name} {_quoted(word)}{_at(location)}; expected {expected}", location
        )
    return words[word]


def _unknown_property(name: str, known: Iterable[str], location: str) -> RequestError:
    candidates = (property_ for property_ in known if not property_.endswith("_text"))
    nearest = find_nearest(name, candidates)
    suggestion = f"; did you mean {_quoted(nearest)}?" if nearest else ""
    return _invalid(
        f"unknown property {_quoted(name)}{_within(location)}{suggestion}", _join(location, name)
    )


def _invalid(message: str, location: str) -> RequestError:
    return RequestError(
        ErrorReason.INVALID_REQUEST, message, {"field": location} if location else {}
    )


def _join(location: str, name: str) -> str:
    return f"{location}/{name.replace('~', '~0').replace('/', '~1')}"


def _at(location: str) -> str:
    return f" at {location}" if location else " as the body"


def _within(location: str) -> str:
    return f" in {location}" if location else ""


def _subject(location: str) -> str:
    return f"the value at {location}" if location else "the body"


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
