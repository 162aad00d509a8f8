"""Server-sent events, as they come: https://html.spec.whatwg.org/multipage/server-sent-events.html."""

from collections.abc import Iterator
from dataclasses import dataclass

__all__ = ["Event", "EventReader", "EventTooLongError"]

_MARK = "\ufeff".encode()
"""What readers leave out at the beginning of a stream."""


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

    def with_data(self, data: bytes) -> bytes:
        """Return the event with *data* in place of its own, in as many lines."""
        own = self.text.removeprefix(_MARK).splitlines()
        kept = [line for line in own if line and not _is_data(line)]
        lines = [b"data: " + line for line in data.splitlines()]
        return b"\n".join([*kept, *lines, b"", b""])


class EventReader:
    """Splits a stream of bytes into events of at most *limit* bytes."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        #: The pieces of the line that has not ended.
        self._line: list[bytes] = []
        self._lines: list[bytes] = []
        #: The bytes of both.
        self._size = 0
        self._is_first = True
        #: Whether the last byte was a carriage return, which a line feed may belong to.
        self._after_return = False

    def feed(self, chunk: bytes) -> Iterator[Event]:
        """Yield the events that *chunk* completes.

        Raises:
            EventTooLongError: an event is longer than the limit.
        """
        if not chunk:
            return
        ends_line = self._after_return and chunk.startswith(b"\n")
        self._after_return = chunk.endswith(b"\r")
        if ends_line and self._lines:
            self._lines[-1] += b"\n"
            self._size += 1
        elif ends_line:
            # The event has been yielded.
            yield Event(b"\n", None)
        pieces = chunk[1 if ends_line else 0 :].splitlines(keepends=True)
        for index, piece in enumerate(pieces):
            self._size += len(piece)
            if self._size > self._limit:
                raise EventTooLongError(b"".join([*self._lines, *self._line, *pieces[index:]]))
            self._line.append(piece)
            if piece.endswith((b"\n", b"\r")):
                line = b"".join(self._line)
                self._line = []
                self._lines.append(line)
                if not line.strip(b"\r\n"):
                    yield self._event()

    def rest(self) -> bytes:
        """Return the bytes after the last event, which are none by the specification."""
        return b"".join([*self._lines, *self._line])

    def _event(self) -> Event:
        lines, text = self._lines, b"".join(self._lines)
        if self._is_first:
            self._is_first = False
            lines[0] = lines[0].removeprefix(_MARK)
        data = [_value(line) for line in lines if _is_data(line)]
        event = Event(text, b"\n".join(data) if data else None)
        self._lines, self._size = [], 0
        return event


def _is_data(line: bytes) -> bool:
    return line.rstrip(b"\r\n").partition(b":")[0] == b"data"


def _value(line: bytes) -> bytes:
    """Return the value of a line of data."""
    return line.rstrip(b"\r\n").removeprefix(b"data").removeprefix(b":").removeprefix(b" ")
