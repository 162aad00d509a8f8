"""Messages of the API as JSON that every language can read and write.

Names of fields are those of the .proto files. ``bytes`` are text, as all of them are JSON text
or source text in UTF-8; a value of an enumeration is its word without the prefix, in lower case
and with hyphens; integers are numbers. An error (``google.rpc.Status``) has a kind, the reason,
the name of the status code, the message and the metadata.
"""

import re
from collections.abc import Mapping
from typing import Any

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message
from google.rpc.code_pb2 import Code
from google.rpc.error_details_pb2 import ErrorInfo
from google.rpc.status_pb2 import Status
from sidecheck_server.admin.json_shapes import is_alternative

# Decision 0057: every client runs the shared cases as calls with whole responses.
__all__ = ["fill", "render_error", "render_request", "render_response"]

_UNAVAILABLE_REASONS = {"OVERLOADED", "SHUTTING_DOWN"}

#: Fields that depend on what else the server has done, and on the size of a page.
_VARIABLE_FIELDS = {"registry_revision", "revision", "next_page_token"}


def render_request(message: Message) -> dict[str, Any]:
    """Return *message* with the fields that are set."""
    return {field.name: _render(field, value) for field, value in message.ListFields()}


def render_response(message: Message) -> dict[str, Any]:
    """Return *message* with all fields: null for an absent message, the set one of a oneof."""
    rendered: dict[str, Any] = {}
    for field in message.DESCRIPTOR.fields:
        if field.name in _VARIABLE_FIELDS:
            continue
        if field.has_presence and not message.HasField(field.name):
            if not is_alternative(field):  # type: ignore[arg-type]
                rendered[field.name] = None
            continue
        rendered[field.name] = _render(field, getattr(message, field.name), complete=True)
    return rendered


def render_error(status: Status) -> dict[str, Any]:
    """Return the error in *status*."""
    info = ErrorInfo(reason=Code.Name(status.code))
    for detail in status.details:
        if detail.Is(ErrorInfo.DESCRIPTOR):
            detail.Unpack(info)
    return {
        "kind": "unavailable" if info.reason in _UNAVAILABLE_REASONS else "error",
        "reason": info.reason,
        "status": Code.Name(status.code),
        "message": status.message,
        "metadata": dict(info.metadata),
    }


def fill(message: Message, fields: Mapping[str, Any]) -> None:
    """Set *fields*, rendered as in a request, in *message*."""
    for name, value in fields.items():
        field = message.DESCRIPTOR.fields_by_name[name]
        if field.message_type is not None:
            for element in value if field.is_repeated else [value]:
                target = getattr(message, name)
                nested = target.add() if field.is_repeated else target
                nested.SetInParent()
                fill(nested, element)
        elif field.is_repeated:
            getattr(message, name).extend(_parse(field, element) for element in value)
        else:
            setattr(message, name, _parse(field, value))


def _render(field: Any, value: Any, *, complete: bool = False) -> Any:
    if field.is_repeated:
        return [_render_element(field, element, complete=complete) for element in value]
    return _render_element(field, value, complete=complete)


def _render_element(field: Any, value: Any, *, complete: bool) -> Any:
    if isinstance(value, Status):
        return render_error(value)
    if isinstance(value, Message):
        return render_response(value) if complete else render_request(value)
    if isinstance(value, bytes):
        return value.decode()
    if field.enum_type is not None:
        name = field.enum_type.values_by_number[value].name
        return name.removeprefix(_prefix(field.enum_type)).lower().replace("_", "-")
    return value


def _parse(field: Any, value: Any) -> Any:
    if field.enum_type is not None and isinstance(value, str):
        name = _prefix(field.enum_type) + value.upper().replace("-", "_")
        return field.enum_type.values_by_name[name].number
    return value.encode() if field.type == FieldDescriptor.TYPE_BYTES else value


def _prefix(enum: Any) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", enum.name).upper() + "_"
