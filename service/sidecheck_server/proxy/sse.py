"""Server-sent events, as they come: https://html.spec.whatwg.org/multipage/server-sent-events.html."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

__all__ = ["Event", "EventReader", "EventTooLongError"]

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_LINE_END = re.compile(rb"\r\n?|\n")
_BLANK_LINE = re.compile(rb"(?:\r\n|\n|\r(?!\n))(?:\r\n?|\n)")
"""The end of a line, and that of an empty line after it."""

_OTHER_ENDS = re.compile(rb"[\x0b\x0c\x1c-\x1e]|\xc2\x85|\xe2\x80[\xa8\xa9]")
"""Where str.splitlines of Python ends lines, beside the line ends of events."""

_JSON_START = re.compile(rb"[^!-~]*+[\[{]")

_SAFE_LINE = re.compile(rb":.*+|(?:event|id|retry)(?::.*+)?", re.DOTALL)
"""A comment, or a field that is not data."""


class EventTooLongError(Exception):
    """An event is longer than the limit."""

    def __init__(self, unread: bytes) -> None:
        super().__init__()
        #: The bytes from the start of the event on.
        self.unread = unread


@dataclass(frozen=True, slots=True)
class Event:
    """One event, or what stands between two."""

    #: All of its bytes, with the blank line at its end.
    text: bytes
    #: Its data; None if it has none, as a comment.
    data: bytes | None

    @property
    def type(self) -> bytes:
        """The last value of its field ``event``; "message" if it has none."""
        values = [value for name, value in map(_field, self.text.splitlines()) if name == b"event"]
        return (values[-1] if values else b"") or b"message"

    @property
    def has_id(self) -> bool:
        """Whether a stream can be resumed after it."""
        return any(_field(line)[0] == b"id" for line in self.text.splitlines())

    @property
    def may_be_json(self) -> bool:
        """Whether readers that skip marks and blanks find an object or an array in its data."""
        return self.data is not None and _JSON_START.match(self.data) is not None

    def safe_text(self, data: bytes | None) -> bytes:
        r"""Return the event with *data* so that every reader finds the same fields in it.

        Readers differ in where lines end: at ``\n`` alone, or at other characters too, as in
        Python. They also differ in the marks that they skip at the start of a stream, and in
        what they make of bytes that are not UTF-8. So only fields of the specification and
        comments are left, each in a line that ends in ``\n``; other line ends in the data are
        escaped, because where they stand in JSON, they are in strings.
        """
        lines = [line for line in self.text.splitlines() if _is_safe(line)]
        if data is not None:
            escaped = _OTHER_ENDS.sub(lambda end: b"\\u%04x" % ord(end[0].decode()), data)
            lines += [b"data: " + line for line in escaped.splitlines()] or [b"data: "]
        text = b"".join(line + b"\n" for line in lines)
        is_comment = bool(lines) and all(line.startswith(b":") for line in lines)
        return text if is_comment else text + b"\n"

    def with_data(self, data: bytes) -> bytes:
        """Return the event with *data* in place of its own."""
        kept = [line for line in self.text.splitlines() if line and _field(line)[0] != b"data"]
        return b"\n".join([*kept, *(b"data: " + line for line in data.splitlines()), b"", b""])


class EventReader:
    """Splits a stream of bytes into events of at most *limit* bytes.

    Events and comments are complete with their last byte; nothing waits for the next chunk.
    What is kept takes as many bytes as it has, whatever divides it into lines and chunks.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        #: The event that has not ended.
        self._text = bytearray()
        #: The second half of a line end whose first half ended a chunk.
        self._carried = b""
        self._ends_in_return = False
        self._is_start = True

    @property
    def held(self) -> int:
        """How many bytes are kept of an event that has not ended."""
        return len(self._text)

    def feed(self, chunk: bytes) -> Iterator[Event]:
        """Yield the events that *chunk* completes.

        Raises:
            EventTooLongError: an event is longer than the limit.
        """
        # A line end of one character may be at the end of what was searched before.
        searched = max(len(self._text) - 1, 0)
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
        while end := self._end_of_event(searched):
            self._check_size(end)
            yield self._take_event(end)
            searched = 0
        self._check_size(len(self._text))

    def rest(self) -> bytes:
        """Return the bytes after the last event, which are none by the specification."""
        return self._carried + self._text

    def _check_size(self, size: int) -> None:
        if size > self._limit:
            unread = self.rest()
            self._text.clear()
            raise EventTooLongError(unread)

    def _end_of_event(self, searched: int) -> int:
        """Return where the event ends, 0 if it has not; no blank line begins before *searched*."""
        text, start = self._text, self._start() if self._is_start else 0
        if text.startswith(b":", start):
            end = _LINE_END.search(text, max(start, searched))
        else:
            end = _LINE_END.match(text, start) or _BLANK_LINE.search(text, searched)
        return 0 if end is None else end.end()

    def _start(self) -> int:
        """Return where the stream begins: readers ignore a byte order mark before it."""
        return len(_BYTE_ORDER_MARK) if self._text.startswith(_BYTE_ORDER_MARK) else 0

    def _take_event(self, end: int) -> Event:
        event = bytes(self._text[self._start() if self._is_start else 0 : end])
        del self._text[:end]
        data = [value for name, value in map(_field, event.splitlines()) if name == b"data"]
        text, self._carried, self._is_start = self._carried + event, b"", False
        return Event(text, b"\n".join(data) if data else None)


def _is_safe(line: bytes) -> bool:
    """Return whether every reader takes *line* for the same comment or field."""
    if not _SAFE_LINE.fullmatch(line) or b"\0" in line or _OTHER_ENDS.search(line):
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
