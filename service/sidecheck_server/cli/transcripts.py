"""Transcripts: files with a message of the protocol on each line."""

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
"""What a line may say of the direction of its message, and who sent it then."""

TRANSCRIPT_LINE = "TRANSCRIPT_LINE"
"""The code of what is wrong with the object that a message is wrapped in."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line that is not blank."""

    #: From 1.
    number: int
    text: bytes
    #: The JSON text of its message, as it stands there.
    message: bytes
    #: Where the message stands in the line, as a JSON Pointer.
    pointer: str = ""
    sender: Sender | None = None
    #: The method that it answers, or "".
    answers: str = ""
    #: What is wrong with what stands beside the message.
    faults: tuple[Violation, ...] = ()


def read_transcript(text: bytes, limits: Limits) -> Iterator[Line]:
    """Yield the lines of *text* that are not blank, with the message of each."""
    for number, line in enumerate(text.split(b"\n"), 1):
        if line.strip():
            yield _line(number, line.removesuffix(b"\r"), limits)


def _line(number: int, text: bytes, limits: Limits) -> Line:
    wrapping = _wrapping(text, limits)
    if wrapping is None:
        return Line(number, text, text)
    faults = []
    direction, answers = wrapping.get("direction"), wrapping.get("answers")
    sender = DIRECTIONS.get(direction) if isinstance(direction, str) else None
    if sender is None and direction is not None:
        names = ", ".join(f'"{name}"' for name in DIRECTIONS)
        faults.append(_fault("/direction", f"the direction of a message is one of {names}"))
    if answers is not None and not isinstance(answers, str):
        faults.append(_fault("/answers", "what a message answers is the name of a method"))
    return Line(
        number,
        text,
        bytes(msgspec.json.decode(text, type=dict[str, msgspec.Raw])["message"]),
        "/message",
        sender,
        answers if isinstance(answers, str) else "",
        tuple(faults),
    )


def _wrapping(text: bytes, limits: Limits) -> dict[str, Any] | None:
    """Return the object around a message; None if the line is a bare one, or unreadable."""
    if len(text) > limits.payload_bytes:
        return None
    try:
        # One level more than a message, which is checked itself.
        value = decode(text, max_depth=limits.payload_depth + 1)
    except (MalformedError, RequestError):
        return None
    if isinstance(value, dict) and "message" in value and "jsonrpc" not in value:
        return value
    return None


def _fault(pointer: str, message: str) -> Violation:
    return Violation(pointer, "", "", TRANSCRIPT_LINE, message)
