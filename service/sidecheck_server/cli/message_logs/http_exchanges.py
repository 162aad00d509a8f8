"""Messages in recorded HTTP requests and their responses."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sidecheck_server.cli.message_logs.messages import (
    LoggedMessage,
    MessageLog,
    TimedMessage,
    locate,
    sort_by_time,
)
from sidecheck_server.core.mcp.context import Sender
from sidecheck_server.proxy.http.sse import EventReader

__all__ = ["Body", "HttpExchange", "read_exchanges"]

_OK = 200
_REJECTED = 400
_EVENT_STREAM = "text/event-stream"
_MCP_HEADERS = frozenset({"mcp-session-id", "mcp-protocol-version", "mcp-method"})


@dataclass(frozen=True, slots=True)
class Body:
    """Body of a request or response."""

    #: JSON Pointer to it in the file.
    pointer: str = ""
    #: Its bytes; None if the file does not have them.
    content: bytes | None = b""


@dataclass(frozen=True, slots=True)
class HttpExchange:
    """Request and its response."""

    method: str
    url: str
    request: Body
    response: Body
    status: int = 0
    #: Headers by name in lower case.
    request_headers: Mapping[str, str] = field(default_factory=dict)
    response_headers: Mapping[str, str] = field(default_factory=dict)
    #: Start in milliseconds; None if unknown.
    time: float | None = None
    #: Milliseconds from the start to the end of the response.
    duration: float = 0
    #: JSON Pointer to the exchange in the file.
    pointer: str = ""

    @property
    def session(self) -> str:
        """Connection that the exchange belongs to."""
        name = "mcp-session-id"
        session_id = self.request_headers.get(name) or self.response_headers.get(name, "")
        return f"{self.url.partition('?')[0]} {session_id}"

    @property
    def is_of_mcp(self) -> bool:
        """Whether the exchange has headers of MCP, or a message in its request."""
        headers = self.request_headers.keys() | self.response_headers.keys()
        return bool(headers & _MCP_HEADERS) or _has_message(self.request.content or b"")


def read_exchanges(text: bytes, exchanges: Sequence[HttpExchange]) -> MessageLog:
    """Return the messages of *exchanges*, which the file *text* has."""
    of_mcp = [exchange for exchange in exchanges if exchange.is_of_mcp]
    messages = [message for exchange in of_mcp for message in _messages_of(exchange)]
    return MessageLog(
        locate(text, sort_by_time(messages)), len(exchanges) - len(of_mcp), "HTTP request"
    )


def _messages_of(exchange: HttpExchange) -> Iterator[TimedMessage]:
    end = None if exchange.time is None else exchange.time + exchange.duration
    if exchange.method == "POST":
        body = exchange.request
        missing = "" if body.content else "the file does not have the body of the request"
        yield _message(
            exchange, body, body.content or b"", Sender.CLIENT, exchange.time, missing=missing
        )
    elif exchange.method != "GET":
        return
    else:
        # Its events arrive at unknown times; most requests that they cause are later.
        end = exchange.time
    body = exchange.response
    # Browsers often lack the text of event streams.
    is_lacking = exchange.method == "POST" and exchange.status == _OK and not body.content
    if body.content is None or is_lacking:
        missing = "the file does not have the body of the response"
        yield _message(exchange, body, b"", Sender.SERVER, end, missing=missing)
        return
    content_type = exchange.response_headers.get("content-type", "")
    if content_type.partition(";")[0].strip().lower() == _EVENT_STREAM:
        for data in _event_data(body.content):
            yield _message(exchange, body, data, Sender.SERVER, end)
    elif body.content.strip() and _is_for_checking(exchange, body.content):
        yield _message(exchange, body, body.content, Sender.SERVER, end)


def _is_for_checking(exchange: HttpExchange, content: bytes) -> bool:
    """Return whether *content*, the body of a response, has to be a message."""
    # The body of an HTTP error need not be one (transports, "Sending Messages to the Server").
    return exchange.method == "POST" and (exchange.status < _REJECTED or _has_message(content))


def _message(
    exchange: HttpExchange,
    body: Body,
    content: bytes,
    sender: Sender,
    time: float | None,
    *,
    missing: str = "",
) -> TimedMessage:
    status = exchange.status if exchange.status >= _REJECTED else 0
    message = LoggedMessage(
        0,
        content,
        content,
        sender=sender,
        http_status=status,
        is_string=True,
        missing=missing,
    )
    pointer = exchange.pointer if missing else body.pointer
    return TimedMessage(message, pointer, exchange.session, time)


def _event_data(stream: bytes) -> Iterator[bytes]:
    """Yield the data of the events in *stream*, apart from those without data."""
    # The end of the recording ends its last event.
    for event in EventReader(len(stream) + 2).feed(stream + b"\n\n"):
        if event.data and event.data.strip() and event.type == b"message":
            yield event.data


def _has_message(content: bytes) -> bool:
    """Return whether *content* is a JSON-RPC message or a batch."""
    if b'"jsonrpc"' not in content:
        return False
    try:
        value: Any = json.loads(content)
    except (ValueError, RecursionError):
        return True
    items = value if isinstance(value, list) else [value]
    return any(isinstance(item, dict) and "jsonrpc" in item for item in items)
