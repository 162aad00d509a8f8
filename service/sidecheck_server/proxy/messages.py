"""JSON-RPC messages as the proxy reads them: their parts as JSON text, byte for byte."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import msgspec

__all__ = [
    "Message",
    "RequestId",
    "error_response",
    "join_object",
    "read_list",
    "read_message",
    "read_object",
    "result_response",
    "string_value",
]

#: Id of a request that is equal to the id of its response: a string, or a number.
RequestId: TypeAlias = tuple[type, str | int | float]

INTERNAL_ERROR = -32603
"""Code of JSON-RPC for what is wrong with neither side's request."""


@dataclass(frozen=True, slots=True)
class Message:
    """A JSON object that should be a message."""

    text: bytes
    #: JSON texts of its properties.
    properties: Mapping[str, bytes]

    @property
    def method(self) -> str:
        """The method; "" if there is none, as in a response."""
        return string_value(self.properties.get("method"))

    @property
    def id(self) -> RequestId | None:
        """The id; None if there is none, or none that JSON-RPC allows."""
        value = _value(self.properties.get("id", b"null"))
        if isinstance(value, str):
            return (str, value)
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        return (float, value) if is_number else None

    @property
    def is_request(self) -> bool:
        """Whether a response is due."""
        return "method" in self.properties and "id" in self.properties

    @property
    def is_response(self) -> bool:
        """Whether it answers a request."""
        return "method" not in self.properties and "id" in self.properties

    @property
    def params(self) -> Mapping[str, bytes]:
        """JSON texts of the properties of ``params``; empty if that is no object."""
        return read_object(self.properties.get("params", b"")) or {}

    @property
    def result(self) -> Mapping[str, bytes] | None:
        """JSON texts of the properties of ``result``; None if that is no object."""
        return read_object(self.properties.get("result", b""))

    def with_property(self, name: str, value: bytes) -> bytes:
        """Return the text with the JSON text *value* as its property *name*."""
        return join_object({**self.properties, name: value})


def read_message(text: bytes) -> Message | list[Message] | None:
    """Return the message in *text*, those of a batch, or None if it is neither."""
    properties = read_object(text)
    if properties is not None:
        return Message(text, properties)
    items = read_list(text)
    if items is None:
        return None
    batch = [Message(item, read_object(item) or {}) for item in items]
    return batch or None


def read_object(text: bytes) -> dict[str, bytes] | None:
    """Return the JSON texts of the properties of the object in *text*; None if it is none."""
    raw = _decode(text, dict[str, msgspec.Raw])
    return None if raw is None else {name: bytes(value) for name, value in raw.items()}


def read_list(text: bytes) -> list[bytes] | None:
    """Return the JSON texts of the items of the array in *text*; None if it is none."""
    raw = _decode(text, list[msgspec.Raw])
    return None if raw is None else [bytes(item) for item in raw]


def join_object(properties: Mapping[str, bytes]) -> bytes:
    """Return the JSON text of an object with *properties*, which are JSON texts."""
    members = (msgspec.json.encode(name) + b":" + text for name, text in properties.items())
    return b"{" + b",".join(members) + b"}"


def result_response(request: Message, result: bytes) -> bytes:
    """Return the response to *request* with the JSON text *result*."""
    return _response(request, "result", result)


def error_response(request: Message, error: bytes | str) -> bytes:
    """Return the response to *request* with *error*: JSON text, or the message of an error."""
    if isinstance(error, str):
        error = msgspec.json.encode({"code": INTERNAL_ERROR, "message": error})
    return _response(request, "error", error)


def _response(request: Message, name: str, value: bytes) -> bytes:
    return join_object({"jsonrpc": b'"2.0"', "id": request.properties["id"], name: value})


def string_value(text: bytes | None) -> str:
    """Return the string in the JSON *text*, "" if it is none."""
    value = None if text is None else _value(text)
    return value if isinstance(value, str) else ""


def _value(text: bytes) -> Any:
    return _decode(text, Any)


def _decode(text: bytes, kind: Any) -> Any:
    try:
        return msgspec.json.decode(text, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
