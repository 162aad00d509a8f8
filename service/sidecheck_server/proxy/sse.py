"""Server-sent events, as they come: https://html.spec.whatwg.org/multipage/server-sent-events.html."""

from collections.abc import Iterator
from dataclasses import dataclass

__all__ = ["Event", "EventReader", "EventTooLongError"]


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
        """Return the event with the line *data* in place of its own."""
        kept = [line for line in self.text.splitlines() if line and not _is_data(line)]
        return b"\n".join([*kept, b"data: " + data, b"", b""])


class EventReader:
    """Splits a stream of bytes into events of at most *limit* bytes."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        #: The pieces of the line that has not ended.
        self._line: list[bytes] = []
        self._lines: list[bytes] = []
        #: The bytes of both.
        self._size = 0

    def feed(self, chunk: bytes) -> Iterator[Event]:
        """Yield the events that *chunk* completes.

        Raises:
            EventTooLongError: an event is longer than the limit.
        """
        pieces = chunk.splitlines(keepends=True)
        for index, piece in enumerate(pieces):
            self._size += len(piece)
            if self._size > self._limit:
                raise EventTooLongError(b"".join([*self._lines, *self._line, *pieces[index:]]))
            self._line.append(piece)
            # A carriage return may be the first half of a line break.
            if piece.endswith(b"\n"):
                line = b"".join(self._line)
                self._line = []
                self._lines.append(line)
                if not line.strip(b"\r\n"):
                    yield self._event()

    def rest(self) -> bytes:
        """Return the bytes after the last event, which are none by the specification."""
        return b"".join([*self._lines, *self._line])

    def _event(self) -> Event:
        data = [_value(line) for line in self._lines if _is_data(line)]
        event = Event(b"".join(self._lines), b"\n".join(data) if data else None)
        self._lines, self._size = [], 0
        return event


def _is_data(line: bytes) -> bool:
    return line.rstrip(b"\r\n").partition(b":")[0] == b"data"


def _value(line: bytes) -> bytes:
    """Return the value of a line of data."""
    return line.rstrip(b"\r\n").removeprefix(b"data").removeprefix(b":").removeprefix(b" ")
