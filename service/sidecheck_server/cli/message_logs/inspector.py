"""Exports of the MCP Inspector: the protocol messages, and the HTTP requests, of a connection.

The first is an array of `MessageEntry`, in which a request has its response; the second one of
`FetchRequestEntry` (https://github.com/modelcontextprotocol/inspector, core/mcp/types.ts;
exported since https://github.com/modelcontextprotocol/inspector/pull/1367).
"""

import json
from collections.abc import Iterator
from typing import Any

from sidecheck_server.cli.message_logs.har import time_of
from sidecheck_server.cli.message_logs.http_exchanges import Body, HttpExchange, read_exchanges
from sidecheck_server.cli.message_logs.messages import (
    LoggedMessage,
    MessageLog,
    NotThisFormError,
    TimedMessage,
    locate,
    sort_by_time,
)
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.mcp.context import Sender

__all__ = ["read", "recognizes"]

_SENDERS = {"client": Sender.CLIENT, "server": Sender.SERVER}
_DIRECTIONS = frozenset({"request", "response", "notification"})


def recognizes(text: bytes) -> bool:
    """Return whether *text* is such an export."""
    if not text[:4096].lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"["):
        return False
    try:
        entries = json.loads(text.removeprefix(b"\xef\xbb\xbf"))
    except (ValueError, RecursionError):
        return False
    return bool(entries) and (_has_messages(entries) or _has_requests(entries))


def read(text: bytes, limits: Limits) -> MessageLog:  # noqa: ARG001  (the form of readers)
    """Return the messages of the export *text*.

    Raises:
        NotThisFormError: it is not such an export.
    """
    text = text.removeprefix(b"\xef\xbb\xbf")
    try:
        entries = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise NotThisFormError(f"not JSON: {error}") from None
    if not isinstance(entries, list):
        raise NotThisFormError("it is not an array of entries")
    if _has_requests(entries):
        return read_exchanges(text, [_exchange(*numbered) for numbered in enumerate(entries)])
    with_message = [
        (index, entry)
        for index, entry in enumerate(entries)
        if isinstance(entry, dict) and isinstance(entry.get("message"), dict)
    ]
    messages = [
        message for index, entry in with_message for message in _messages_of(entry, f"/{index}")
    ]
    return MessageLog(
        locate(text, sort_by_time(messages)), len(entries) - len(with_message), "entry"
    )


def _has_messages(entries: Any) -> bool:
    return isinstance(entries, list) and all(
        isinstance(entry, dict) and "message" in entry and entry.get("direction") in _DIRECTIONS
        for entry in entries
    )


def _has_requests(entries: Any) -> bool:
    return bool(entries) and all(
        isinstance(entry, dict) and "requestHeaders" in entry and "url" in entry
        for entry in entries
    )


def _messages_of(entry: dict[str, Any], pointer: str) -> Iterator[TimedMessage]:
    sender = _SENDERS.get(entry.get("origin", ""))
    time, duration = time_of(entry.get("timestamp")), entry.get("duration")
    end = time + duration if time is not None and isinstance(duration, int | float) else time
    yield TimedMessage(LoggedMessage(0, b"", b"", sender=sender), f"{pointer}/message", "", time)
    if isinstance(entry.get("response"), dict):
        method = entry["message"].get("method")
        yield TimedMessage(
            LoggedMessage(
                0,
                b"",
                b"",
                sender=None if sender is None else sender.peer,
                request_method=method if isinstance(method, str) else "",
            ),
            f"{pointer}/response",
            "",
            end,
        )


def _exchange(index: int, entry: dict[str, Any]) -> HttpExchange:
    status, duration = entry.get("responseStatus"), entry.get("duration")
    return HttpExchange(
        str(entry.get("method", "")).upper(),
        str(entry.get("url", "")),
        _body(entry, "requestBody", index),
        _body(entry, "responseBody", index),
        status if type(status) is int else 0,
        _headers(entry.get("requestHeaders")),
        _headers(entry.get("responseHeaders")),
        time_of(entry.get("timestamp")),
        duration if isinstance(duration, int | float) else 0,
        f"/{index}",
    )


def _body(entry: dict[str, Any], name: str, index: int) -> Body:
    text = entry.get(name)
    content = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else b""
    return Body(f"/{index}/{name}", content)


def _headers(headers: Any) -> dict[str, str]:
    pairs = headers.items() if isinstance(headers, dict) else ()
    return {name.lower(): str(value) for name, value in pairs}
