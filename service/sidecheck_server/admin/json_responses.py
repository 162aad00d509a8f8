"""Writes responses of the API in their JSON form.

All properties of a message are there: those that are not set are null, "" or []. Of
alternatives only the one that is set is there. JSON stands in it byte for byte.
"""

from collections.abc import Mapping
from functools import cache
from typing import Any, Final

import msgspec
from google.protobuf.descriptor import EnumDescriptor, FieldDescriptor
from google.protobuf.message import Message

from sidecheck_server.admin.json_shapes import (
    Form,
    Path,
    Property,
    is_alternative,
    shape_of,
    words_of,
)
from sidecheck_server.admin.problems import problem_of

__all__ = ["write_response"]

_encode: Final = msgspec.json.Encoder().encode


def write_response(message: Message) -> bytes:
    """Return the JSON form of *message*, with a line feed at the end."""
    return _object(message) + b"\n"


def _object(message: Message) -> bytes:
    members = []
    for property_ in shape_of(message.DESCRIPTOR).properties.values():
        if property_.form is Form.JSON_TEXT:
            continue
        owner, field = _find(message, property_.paths[0])
        if field.has_presence and not owner.HasField(field.name):
            if not is_alternative(field):
                members.append(b'"%s":null' % property_.name.encode())
            continue
        value = getattr(owner, field.name)
        members.append(b'"%s":%s' % (property_.name.encode(), _value(property_, value)))
    return b"{%s}" % b",".join(members)


def _find(message: Any, path: Path) -> tuple[Any, FieldDescriptor]:
    *parents, field = path
    for parent in parents:
        message = getattr(message, parent.name)
    return message, field


def _value(property_: Property, value: Any) -> bytes:
    if property_.is_repeated:
        return b"[%s]" % b",".join(_element(property_, element) for element in value)
    return _element(property_, value)


def _element(property_: Property, value: Any) -> bytes:
    match property_.form:
        case Form.JSON:
            return value or b"null"
        case Form.OBJECT:
            return _object(value)
        case Form.WORD:
            return _encode(_words_by_number(property_.field.enum_type)[value])
        case Form.PROBLEM:
            return _encode(problem_of(value))
        case _:
            return _encode(value)


@cache
def _words_by_number(enum: EnumDescriptor) -> Mapping[int, str | None]:
    return {0: None, **{number: word for word, number in words_of(enum).items()}}
