"""JSON-RPC messages of the proxy, whose parts stay JSON text, byte for byte."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, TypeAlias

import msgspec

__all__ = [
    "INTERNAL_ERROR",
    "INVALID_PARAMS",
    "INVALID_REQUEST",
    "PARSE_ERROR",
    "Direction",
    "Message",
    "Received",
    "RequestId",
    "error_response",
    "has_result",
    "join_array",
    "join_object",
    "parse_received",
    "read_cursor",
    "read_items",
    "read_list",
    "read_message",
    "read_object",
    "request_id",
    "result_response",
    "split_members",
    "string_value",
]

#: Side that sends a message.
Direction: TypeAlias = Literal["client", "server"]

#: Comparable id of a message: its type, and a string, a number, or else its JSON text. The ids
#: of a request and its response are equal.
RequestId: TypeAlias = tuple[type, str | int | float | bytes]

# Error codes of JSON-RPC.
PARSE_ERROR = -32700
INVALID_REQUEST = -32600
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603


_BYTE_ORDER_MARK = b"\xef\xbb\xbf"

_MAX_BATCH_MESSAGES = 1000
"""Maximum number of messages in a batch."""


@dataclass(frozen=True)
class Message:
    """A JSON object that is read as a JSON-RPC message. Its parts are decoded on first use."""

    text: bytes
    #: JSON texts of its properties.
    properties: Mapping[str, bytes]

    @cached_property
    def method(self) -> str:
        """Method, "" if there is none, as in a response."""
        return string_value(self.properties.get("method"))

    @cached_property
    def id(self) -> RequestId:
        """Comparable id: 1 and 1.0 are equal, 1 and "1" are not."""
        return request_id(self.properties.get("id", b"null"))

    @property
    def has_valid_id(self) -> bool:
        """Whether the id is a string or a number, as JSON-RPC requires."""
        return self.id[0] is not bytes

    @property
    def is_json_rpc(self) -> bool:
        """Whether it has the version of JSON-RPC 2.0, as every message must."""
        return string_value(self.properties.get("jsonrpc")) == "2.0"

    @property
    def is_request(self) -> bool:
        """Whether the message requires a response."""
        return "method" in self.properties and "id" in self.properties

    @property
    def is_response(self) -> bool:
        """Whether the message is the response to a request."""
        return "method" not in self.properties and "id" in self.properties

    @cached_property
    def params(self) -> Mapping[str, bytes]:
        """JSON texts of the properties of ``params``; empty if that is not an object."""
        text = self.properties.get("params")
        return {} if text is None else read_object(text) or {}

    @cached_property
    def result(self) -> Mapping[str, bytes] | None:
        """JSON texts of the properties of ``result``; None if that is not an object."""
        text = self.properties.get("result")
        return None if text is None else read_object(text)

    @property
    def has_answer(self) -> bool:
        """Whether it has a result or an error, even if it has a method too."""
        return "result" in self.properties or "error" in self.properties

    @property
    def is_error_without_id(self) -> bool:
        """Whether it is an error whose id is missing or null, so that its request is unknown."""
        has_no_id = self.properties.get("id", b"null") == b"null"
        return has_no_id and "error" in self.properties and "method" not in self.properties

    def without_method(self) -> "Message":
        """Return the message without its method, as a reader that expects a response sees it."""
        if "method" not in self.properties:
            return self
        properties = {name: text for name, text in self.properties.items() if name != "method"}
        return Message(self.text, properties)

    def with_id(self, id_text: bytes) -> "Message":
        """Return the message, with the same text, as one with the id *id_text*."""
        return Message(self.text, {**self.properties, "id": id_text})

    def with_property(self, name: str, value: bytes) -> bytes:
        """Return the text of the message with *value*, JSON text, as its property *name*."""
        return join_object({**self.properties, name: value})


@dataclass(frozen=True, slots=True)
class Received:
    """Text from one side, and the messages in it."""

    text: bytes
    #: The message, the messages of a batch, or None if the text is neither.
    content: Message | list[Message] | None

    @property
    def has_byte_order_mark(self) -> bool:
        """Whether a byte order mark is before the message, which readers may ignore.

        Clause: RFC 8259, section 8.1.
        """
        return self.content is not None and self.text.startswith(_BYTE_ORDER_MARK)

    def without_byte_order_mark(self) -> "Received":
        """Return the text without its byte order mark, and the same messages."""
        if isinstance(self.content, Message):
            return Received(self.content.text, self.content)
        return Received(self.text.removeprefix(_BYTE_ORDER_MARK), self.content)

    @property
    def messages(self) -> list[Message]:
        """The messages in the text, none if it is invalid."""
        content = self.content
        return [content] if isinstance(content, Message) else content or []


def parse_received(text: bytes) -> Received:
    """Return *text* together with the messages in it, after a byte order mark."""
    return Received(text, read_message(text.removeprefix(_BYTE_ORDER_MARK)))


def read_message(text: bytes) -> Message | list[Message] | None:
    """Return the message in *text*, the messages of a batch, or None if it is neither.

    A batch of more than 1,000 messages counts as invalid: no client sends that many, and a short
    text could occupy the proxy for a long time.
    """
    properties = read_object(text)
    if properties is not None:
        return Message(text, properties)
    items = read_list(text)
    if items is None or len(items) > _MAX_BATCH_MESSAGES:
        return None
    batch = [Message(item, read_object(item) or {}) for item in items]
    return batch or None


def request_id(text: bytes) -> RequestId:
    """Return the comparable id in the JSON *text*."""
    value = _value(text)
    if isinstance(value, str):
        return (str, value)
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return (float, value) if is_number else (bytes, text)


def read_object(text: bytes) -> dict[str, bytes] | None:
    """Return the properties of the object in *text* as JSON texts, None for other texts.

    Values that msgspec rejects and other readers accept, such as NaN or deep nesting, are
    returned too.
    """
    raw = _decode(text, dict[str, msgspec.Raw])
    if raw is None:
        return _scan_object(text)
    return {name: bytes(value) for name, value in raw.items()}


def read_list(text: bytes) -> list[bytes] | None:
    """Return the items of the array in *text* as JSON texts, None for other texts."""
    raw = _decode(text, list[msgspec.Raw])
    return None if raw is None else [bytes(item) for item in raw]


def read_items(text: bytes) -> list[bytes] | None:
    """Return the items as `read_list` does; accept items that msgspec rejects, such as NaN."""
    items = read_list(text)
    return _scan_list(text) if items is None else items


def join_object(properties: Mapping[str, bytes]) -> bytes:
    """Return the JSON text of an object with *properties*, which are JSON texts."""
    members = (msgspec.json.encode(name) + b":" + text for name, text in properties.items())
    return b"{" + b",".join(members) + b"}"


def join_array(items: Iterable[bytes]) -> bytes:
    """Return the JSON text of an array of *items*, which are JSON texts."""
    return b"[" + b",".join(items) + b"]"


def result_response(request_id: bytes, result: bytes) -> bytes:
    """Return the response with the JSON text *result* to the request *request_id*."""
    return join_object({"jsonrpc": b'"2.0"', "id": request_id, "result": result})


def error_response(
    request_id: bytes | None, error: bytes | str, code: int = INTERNAL_ERROR
) -> bytes:
    """Return the response with *error* to the request *request_id*, None if unknown.

    *error* is the JSON text of an error object, or the message of an error with *code*.
    """
    if isinstance(error, str):
        error = msgspec.json.encode({"code": code, "message": error})
    response = {"jsonrpc": b'"2.0"', "id": request_id, "error": error}
    return join_object({name: text for name, text in response.items() if text is not None})


_TOKEN = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)|[][{},:]', re.DOTALL)
"""A string or a structural character.

An unterminated string is one token up to the end of the text. Otherwise the search would scan
the rest of the text again from each of its quotes.
"""


def _scan_object(text: bytes) -> dict[str, bytes] | None:
    """Return the properties of the object in *text* without decoding their values."""
    text = text.strip(b" \t\r\n")
    if not (text.startswith(b"{") and text.endswith(b"}")):
        return None
    properties = {}
    for member in split_members(text):
        key, colon, value = member
        name = _decode(key, str)
        if name is None or not colon or not value:
            return None
        properties[name] = value
    return properties


def _scan_list(text: bytes) -> list[bytes] | None:
    """Return the items of the array in *text* without decoding them."""
    text = text.strip(b" \t\r\n")
    if not (text.startswith(b"[") and text.endswith(b"]")):
        return None
    items = [value for _, _, value in split_members(text)]
    return items if all(items) else None


def split_members(text: bytes) -> Iterator[tuple[bytes, bytes, bytes]]:
    """Yield key, colon and value of each member of an object, or item of an array.

    Items have an empty key and colon. In malformed text, a tuple of empty bytes is last.
    """
    depth, start, colon = 0, 1, 0
    for token in _TOKEN.finditer(text):
        match token[0]:
            case b"{" | b"[":
                depth += 1
            case b"}" | b"]":
                depth -= 1
            case b":" if depth == 1 and not colon:
                colon = token.start()
        at_end = depth == 0
        if at_end or (depth == 1 and token[0] == b","):
            key = text[start:colon].strip()
            value = text[colon + 1 if colon else start : token.start()].strip()
            yield (key, b":", value) if colon else (b"", b"", value)
            start, colon = token.end(), 0
        if at_end:
            break
    if depth or start != len(text):
        yield b"", b"", b""


def string_value(text: bytes | None) -> str:
    """Return the string in the JSON *text*, "" if it is not a string."""
    value = None if text is None else _value(text)
    return value if isinstance(value, str) else ""


def read_cursor(text: bytes) -> str:
    """Return the cursor in the JSON *text* as comparable text, different for other values."""
    value = _value(text)
    is_string = isinstance(value, str)
    return msgspec.json.encode(value).decode() if is_string else text.decode("utf-8", "replace")


def _value(text: bytes) -> Any:
    return _decode(text, Any)


def _decode(text: bytes, type_: Any) -> Any:
    try:
        return msgspec.json.decode(text, type=type_)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def has_result(text: bytes) -> bool:
    """Return whether a message in *text* has a result."""
    return any("result" in message.properties for message in parse_received(text).messages)
