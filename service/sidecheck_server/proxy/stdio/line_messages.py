"""Messages in lines: one in a line, as the specification demands, or one over several lines.

Clause: 2025-11-25, basic/transports, "stdio": messages are separated by line breaks, and must not
contain any.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from sidecheck_server.proxy.messages import Message, Received, parse_received, string_value

__all__ = ["LineMessages", "Unit", "find_glued", "is_protocol_message", "unit_of"]

_MARK = b"\xef\xbb\xbf"
"""Byte order mark, which readers may ignore (RFC 8259, 8.1)."""

_STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"')
_JSON_LINE = re.compile(
    rb'\s*+(?:(?:"[^"\\]*+(?:\\.[^"\\]*+)*+"|[][{}:,]|[-+.\d]++(?:[eE][-+]?\d++)?'
    rb"|true|false|null|NaN|-?Infinity)\s*+)*+\Z"
)
"""A line of JSON text, whose strings cannot contain line breaks."""


@dataclass(frozen=True, slots=True)
class Unit:
    """A line, or the lines of one message."""

    #: Bytes as they arrived, with line breaks.
    text: bytes
    #: The same without a byte order mark and without line breaks, and the messages in it.
    received: Received
    lines: int = 1
    has_mark: bool = False

    @property
    def line_break(self) -> bytes:
        """Line break at its end, which the last line may lack."""
        return self.text[len(self.text.rstrip(b"\r\n")) :]


class LineMessages:
    """Joins the lines of one sender that are one message together, up to *limit* bytes."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._lines: list[bytes] = []
        self._size = 0
        self._depth = 0

    def add(self, line: bytes) -> Iterator[Unit]:
        """Yield what is complete with *line*; keep lines that begin a JSON value."""
        unit = unit_of([line])
        if is_protocol_message(unit.received.content):
            # Also ends a value that other output has begun, so that it hides no message.
            yield from self.flush()
            yield unit
            return
        depth = _depth_of(line)
        if self._lines and (depth is None or self._size + len(line) > self._limit):
            yield from self.flush()
        if depth is None or (not self._lines and depth <= 0):
            yield unit
            return
        self._lines.append(line)
        self._size += len(line)
        self._depth += depth
        if self._depth <= 0:
            yield from self.flush()

    def flush(self) -> Iterator[Unit]:
        """Yield the kept lines: as one unit if they are one message, else each."""
        lines = self._lines
        self._lines, self._size, self._depth = [], 0, 0
        if not lines:
            return
        joined = unit_of(lines)
        if joined.received.content is None:
            yield from (unit_of([line]) for line in lines)
        else:
            yield joined


def is_protocol_message(content: Message | list[Message] | None) -> bool:
    """Return whether *content* has the version of JSON-RPC (JSON-RPC 2.0, 4: exactly "2.0")."""
    if content is None:
        return False
    messages = [content] if isinstance(content, Message) else content
    return any(string_value(message.properties.get("jsonrpc")) == "2.0" for message in messages)


def find_glued(text: bytes) -> Received | None:
    """Return the message at the end of *text*, after other text; None if there is none."""
    start = text.rfind(b"{", 0, max(0, text.find(b'"jsonrpc"')))
    if start <= 0:
        return None
    received = parse_received(text[start:])
    return received if is_protocol_message(received.content) else None


def unit_of(lines: list[bytes]) -> Unit:
    """Return the unit of *lines*."""
    text = b"".join(lines)
    content = text.rstrip(b"\r\n")
    has_mark = content.startswith(_MARK)
    if has_mark:
        content = content[len(_MARK) :]
    # A carriage return is white space in JSON, but ends a line for some readers, such as
    # Python's text files. They would read parts of this message as messages.
    content = content.replace(b"\r", b" ").replace(b"\n", b" ")
    return Unit(text, parse_received(content), len(lines), has_mark)


def _depth_of(line: bytes) -> int | None:
    """Return the change of depth in *line*; None if it cannot be a part of a JSON value."""
    line = line.removeprefix(_MARK)
    if _JSON_LINE.match(line) is None:
        return None
    outside = _STRING.sub(b"", line)
    opened = outside.count(b"{") + outside.count(b"[")
    return opened - outside.count(b"}") - outside.count(b"]")
