"""Transcripts: files with one protocol message per line."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import msgspec

from sidecheck_server.core.errors import RequestError
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.mcp.context import Sender
from sidecheck_server.core.payload import MalformedError, decode
from sidecheck_server.core.types import Violation

__all__ = ["DIRECTIONS", "Line", "read_transcript"]

DIRECTIONS = {
    "client": Sender.CLIENT,
    "client-to-server": Sender.CLIENT,
    "server": Sender.SERVER,
    "server-to-client": Sender.SERVER,
}
"""Sender by the value of "direction" in a line."""

TRANSCRIPT_LINE = "TRANSCRIPT_LINE"
"""Code of violations in the object around a message."""


_STATUSES = range(100, 600)


@dataclass(frozen=True, slots=True)
class Line:
    """Line of a transcript that is not blank."""

    #: Number of the line, from 1.
    number: int
    text: bytes
    #: JSON text of its message, as in the line.
    message: bytes
    #: Location of the message in the line, as a JSON Pointer.
    pointer: str = ""
    sender: Sender | None = None
    #: For a response, the method of its request, or "".
    request_method: str = ""
    #: Status of the HTTP response to it, or 0.
    http_status: int = 0
    #: Violations in the object around the message.
    faults: tuple[Violation, ...] = ()


def read_transcript(text: bytes, limits: Limits) -> Iterator[Line]:
    """Yield the lines of *text* that are not blank."""
    for number, line in enumerate(text.split(b"\n"), 1):
        if line.strip():
            yield _line(number, line.removesuffix(b"\r"), limits)


def _line(number: int, text: bytes, limits: Limits) -> Line:
    wrapper = _wrapper(text, limits)
    if wrapper is None:
        return Line(number, text, text)
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
    known_status = status if type(status) is int and status in _STATUSES else 0
    if status is not None and not known_status:
        lowest, highest = _STATUSES[0], _STATUSES[-1]
        message = f"expected a status of HTTP, an integer from {lowest} to {highest}"
        faults.append(_fault("/http/status", message))
    return Line(
        number,
        text,
        bytes(msgspec.json.decode(text, type=dict[str, msgspec.Raw])["message"]),
        "/message",
        sender,
        method if isinstance(method, str) else "",
        known_status,
        tuple(faults),
    )


def _wrapper(text: bytes, limits: Limits) -> dict[str, Any] | None:
    """Return the object around a message, or None for a bare message or an unreadable line."""
    if len(text) > limits.payload_bytes:
        return None
    try:
        # The object adds one level to its message.
        value = decode(text, max_depth=limits.payload_depth + 1)
    except (MalformedError, RequestError):
        return None
    if isinstance(value, dict) and "message" in value and "jsonrpc" not in value:
        return value
    return None


def _fault(pointer: str, message: str) -> Violation:
    return Violation(pointer, "", "", TRANSCRIPT_LINE, message)
