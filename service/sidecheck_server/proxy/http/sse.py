"""Incremental reader of server-sent events.

https://html.spec.whatwg.org/multipage/server-sent-events.html
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

__all__ = ["KEEP_ALIVE", "Event", "EventReader", "EventTooLongError"]

KEEP_ALIVE = b": keep-alive\n\n"
"""A comment, which readers ignore, to send between events."""

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_LINE_END = re.compile(rb"\r\n?|\n")
_BLANK_LINE = re.compile(rb"(?:\r\n|\n|\r(?!\n))(?:\r\n?|\n)")
"""The end of a line followed by the end of an empty line."""

_OTHER_LINE_ENDS = re.compile(rb"[\x0b\x0c\x1c-\x1e]|\xc2\x85|\xe2\x80[\xa8\xa9]")
"""Line ends of Python's str.splitlines that are not line ends of events."""

_JSON_START = re.compile(rb"[^!-~]*+[\[{]")

_SAFE_LINE = re.compile(rb":.*+|(?:event|id|retry)(?::.*+)?", re.DOTALL)
"""A comment, or a field other than data."""


class EventTooLongError(Exception):
    """An event is longer than the limit."""

    def __init__(self, unread: bytes) -> None:
        super().__init__()
        #: Bytes from the start of the event.
        self.unread = unread


@dataclass(frozen=True, slots=True)
class Event:
    """One event, or a comment or blank line between events."""

    #: All of its bytes, including the blank line at its end.
    text: bytes
    #: Its data; None without a data field, as in a comment.
    data: bytes | None
    #: Whether it is a part of an event over the limit, whose data is unknown.
    is_part: bool = False
    #: Byte order mark before it, at the start of a stream.
    mark: bytes = b""

    @property
    def type(self) -> bytes:
        """Last value of the field ``event``, "message" without one."""
        values = [value for name, value in map(_field, self.text.splitlines()) if name == b"event"]
        return (values[-1] if values else b"") or b"message"

    @property
    def may_be_endpoint(self) -> bool:
        """Whether a reader may take it for the endpoint of HTTP+SSE."""
        fields = map(_field, self.text.splitlines())
        return any(name == b"event" and value.strip() == b"endpoint" for name, value in fields)

    @property
    def has_id(self) -> bool:
        """Whether the event has an id, so that a stream can be resumed after it."""
        return any(_field(line)[0] == b"id" for line in self.text.splitlines())

    @property
    def may_be_json(self) -> bool:
        """Whether lenient readers may find a JSON object or array in the data.

        Such readers skip byte order marks and blanks.
        """
        return self.data is not None and _JSON_START.match(self.data) is not None

    def safe_text(self, data: bytes | None) -> bytes:
        r"""Return the event with *data*, in a form that all readers parse alike.

        Some readers end lines at ``\n`` alone, others also at further characters, as Python does.
        They also differ in the byte order marks that they skip, and in how they decode invalid
        UTF-8. So the result has only fields of the specification and comments, each in a line
        that ends in ``\n``. Other line ends in the data are escaped; in JSON they can only occur
        in strings.
        """
        lines = [line for line in self.text.splitlines() if _is_safe(line)]
        if data is not None:
            escaped = _OTHER_LINE_ENDS.sub(lambda end: b"\\u%04x" % ord(end[0].decode()), data)
            lines += [b"data: " + line for line in escaped.splitlines()] or [b"data: "]
        text = b"".join(line + b"\n" for line in lines)
        is_comment = bool(lines) and all(line.startswith(b":") for line in lines)
        return text if is_comment else text + b"\n"

    def with_data(self, data: bytes) -> bytes:
        """Return the event with its data replaced by *data*."""
        lines = [line for line in self.text.splitlines() if line and _field(line)[0] != b"data"]
        return b"\n".join([*lines, *(b"data: " + line for line in data.splitlines()), b"", b""])


class EventReader:
    """Splits a stream of bytes into events of at most *limit* bytes.

    An event or comment is returned with its last byte, without waiting for the next chunk. The
    memory for an incomplete event is its size, regardless of its lines and chunks. With
    *splits_long_events*, an event over the limit is returned in parts, as it arrives.
    """

    def __init__(self, limit: int, *, splits_long_events: bool = False) -> None:
        self._limit = limit
        self._splits_long_events = splits_long_events
        #: The last two bytes of the part that was returned; None outside an event over the limit.
        self._tail: bytes | None = None
        #: Bytes of the incomplete event.
        self._text = bytearray()
        #: Line feed at the start of a chunk, if the CR before it has ended an event.
        self._carried = b""
        self._ends_in_return = False
        self._is_start = True

    @property
    def buffered_bytes(self) -> int:
        """Number of bytes of the incomplete event."""
        return len(self._text)

    @property
    def is_in_part(self) -> bool:
        """Whether an event over the limit continues."""
        return self._tail is not None

    def feed(self, chunk: bytes) -> Iterator[Event]:
        """Yield the events that *chunk* completes.

        Raises:
            EventTooLongError: an event is longer than the limit, and is not to be split.
        """
        if self._tail is not None:
            end = self._end_of_part(self._tail, chunk)
            if end is None:
                self._tail = (self._tail + chunk)[-2:]
                if chunk:
                    yield Event(chunk, None, is_part=True)
                return
            yield Event(chunk[:end], None, is_part=True)
            self._tail = None
            self._ends_in_return = chunk[:end].endswith(b"\r")
            chunk = chunk[end:]
        # The last byte may be the first line end of a blank line, so it is searched again.
        search_start = max(len(self._text) - 1, 0)
        if self._ends_in_return and chunk.startswith(b"\n"):
            chunk = chunk[1:]
            if self._text:
                self._text += b"\n"
            else:
                self._carried = b"\n"
        elif not chunk:
            return
        self._ends_in_return = chunk.endswith(b"\r")
        self._text += chunk
        while end := self._end_of_event(search_start):
            if end > self._limit and self._splits_long_events:
                event = self._take_event(end)
                yield Event(event.mark + event.text, None, is_part=True)
            else:
                self._check_size(end)
                yield self._take_event(end)
            search_start = 0
        if len(self._text) > self._limit and self._splits_long_events:
            unread = self.rest()
            self._tail, self._carried = unread[-2:], b""
            self._text.clear()
            self._is_start = self._ends_in_return = False
            yield Event(unread, None, is_part=True)
            return
        self._check_size(len(self._text))

    def finish(self) -> Event | None:
        """Return the last event of a stream that ends without a blank line after it.

        Lenient readers take it for an event.
        """
        return self._take_event(len(self._text)) if self._text or self._carried else None

    def rest(self) -> bytes:
        """Return the bytes after the last event, which are not an event themselves."""
        return self._carried + self._text

    def _check_size(self, size: int) -> None:
        if size > self._limit:
            unread = self.rest()
            self._text.clear()
            raise EventTooLongError(unread)

    def _end_of_part(self, tail: bytes, chunk: bytes) -> int | None:
        """Return the end of the event in *chunk*, which follows *tail*, or None."""
        end = _BLANK_LINE.search(tail + chunk)
        return None if end is None else end.end() - len(tail)

    def _end_of_event(self, search_start: int) -> int:
        """Return the end of the event, 0 if it is incomplete.

        No blank line begins before *search_start*.
        """
        text, start = self._text, self._start() if self._is_start else 0
        if text.startswith(b":", start):
            end = _LINE_END.search(text, max(start, search_start))
        else:
            end = _LINE_END.match(text, start) or _BLANK_LINE.search(text, search_start)
        return 0 if end is None else end.end()

    def _start(self) -> int:
        """Return the start of the first event, after a byte order mark."""
        return len(_BYTE_ORDER_MARK) if self._text.startswith(_BYTE_ORDER_MARK) else 0

    def _take_event(self, end: int) -> Event:
        start = self._start() if self._is_start else 0
        mark, event = bytes(self._text[:start]), bytes(self._text[start:end])
        del self._text[:end]
        data = [value for name, value in map(_field, event.splitlines()) if name == b"data"]
        text, self._carried, self._is_start = self._carried + event, b"", False
        return Event(text, b"\n".join(data) if data else None, mark=mark)


def _is_safe(line: bytes) -> bool:
    """Return whether every reader parses *line* as the same comment or field."""
    if not _SAFE_LINE.fullmatch(line) or b"\0" in line or _OTHER_LINE_ENDS.search(line):
        return False
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True


def _field(line: bytes) -> tuple[bytes, bytes]:
    """Return the name and the value of the field in *line*."""
    name, _, value = line.rstrip(b"\r\n").partition(b":")
    return name, value.removeprefix(b" ")
