"""Transcripts: a message in each line, alone or in an object that describes it.

The record of `sidecheck proxy --record` has this form.
"""

from collections.abc import Iterator
from typing import Any

import msgspec

from sidecheck_server.cli.message_logs.messages import LoggedMessage, MessageLog
from sidecheck_server.core.errors import RequestError
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.mcp.context import Sender
from sidecheck_server.core.payload import MalformedError, decode
from sidecheck_server.core.types import Violation

__all__ = ["DIRECTIONS", "read", "read_transcript"]

DIRECTIONS = {
    "client": Sender.CLIENT,
    "client-to-server": Sender.CLIENT,
    "server": Sender.SERVER,
    "server-to-client": Sender.SERVER,
}
"""Senders by the value of "direction" in a line."""

TRANSCRIPT_LINE = "TRANSCRIPT_LINE"
"""Code of violations in the object around a message."""

_STATUSES = range(100, 600)


def read(text: bytes, limits: Limits) -> MessageLog:
    """Return the messages of the transcript *text*."""
    return MessageLog(list(read_transcript(text, limits)))


def read_transcript(text: bytes, limits: Limits) -> Iterator[LoggedMessage]:
    """Yield the non-blank lines of *text*."""
    for number, line in enumerate(text.split(b"\n"), 1):
        if line.strip():
            yield _read_line(number, line.removesuffix(b"\r"), limits)


def _read_line(number: int, text: bytes, limits: Limits) -> LoggedMessage:
    wrapper = _read_wrapper(text, limits)
    if wrapper is None:
        return LoggedMessage(number, text, text)
    faults = []
    direction, method = wrapper.get("direction"), wrapper.get("request_method")
    sender = DIRECTIONS.get(direction) if isinstance(direction, str) else None
    if sender is None and direction is not None:
        names = ", ".join(f'"{name}"' for name in DIRECTIONS)
        faults.append(_fault("/direction", f"unknown direction; expected one of {names}"))
    if method is not None and not isinstance(method, str):
        faults.append(_fault("/request_method", "expected the name of a method, as a string"))
    http = wrapper.get("http")
    status = http.get("status") if isinstance(http, dict) else None
    valid_status = status if type(status) is int and status in _STATUSES else 0
    if status is not None and not valid_status:
        lowest, highest = _STATUSES[0], _STATUSES[-1]
        message = f"expected a status of HTTP, an integer from {lowest} to {highest}"
        faults.append(_fault("/http/status", message))
    return LoggedMessage(
        number,
        text,
        bytes(msgspec.json.decode(text, type=dict[str, msgspec.Raw])["message"]),
        "/message",
        sender,
        method if isinstance(method, str) else "",
        valid_status,
        tuple(faults),
    )


def _read_wrapper(text: bytes, limits: Limits) -> dict[str, Any] | None:
    """Return the object around a message, None if there is none or it is unreadable."""
    if len(text) > limits.payload_bytes:
        return None
    try:
        # The object adds one level of nesting to its message.
        value = decode(text, max_depth=limits.payload_depth + 1)
    except (MalformedError, RequestError):
        return None
    if isinstance(value, dict) and "message" in value and "jsonrpc" not in value:
        return value
    return None


def _fault(pointer: str, message: str) -> Violation:
    return Violation(pointer, "", "", TRANSCRIPT_LINE, message)
