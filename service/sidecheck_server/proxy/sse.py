"""Server-sent events, as they come: https://html.spec.whatwg.org/multipage/server-sent-events.html."""

from collections.abc import Iterator
from dataclasses import dataclass

__all__ = ["Event", "EventReader", "EventTooLongError"]


class EventTooLongError(Exception):
    """An event is longer than the limit."""


@dataclass(frozen=True, slots=True)
class Event:
    """One event, or what stands between two."""

    #: All of its bytes, with the blank line at its end.
    text: bytes
    #: Its data; None if it has none, as a comment.
    data: bytes | None

    def with_data(self, data: bytes) -> bytes:
        """Return the event with the line *data* in place of its own."""
        kept = [line for line in self.text.splitlines() if line and not line.startswith(b"data")]
        return b"\n".join([*kept, b"data: " + data, b"", b""])


class EventReader:
    """Splits a stream of bytes into events of at most *limit* bytes."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._rest = b""
        self._lines: list[bytes] = []
        self._size = 0

    def feed(self, chunk: bytes) -> Iterator[Event]:
        """Yield the events that *chunk* completes.

        Raises:
            EventTooLongError: an event is longer than the limit.
        """
        lines = (self._rest + chunk).splitlines(keepends=True)
        # A carriage return at the end may be the first half of a line break.
        is_open = bool(lines) and not lines[-1].endswith(b"\n")
        self._rest = lines.pop() if is_open else b""
        if self._size + len(self._rest) > self._limit:
            raise EventTooLongError
        for line in lines:
            self._lines.append(line)
            self._size += len(line)
            if self._size > self._limit:
                raise EventTooLongError
            if not line.strip(b"\r\n"):
                yield self._event()

    def rest(self) -> bytes:
        """Return the bytes after the last event, which are none by the specification."""
        return b"".join(self._lines) + self._rest

    def _event(self) -> Event:
        data = [_value(line) for line in self._lines if line.rstrip(b"\r\n").startswith(b"data")]
        event = Event(b"".join(self._lines), b"\n".join(data) if data else None)
        self._lines, self._size = [], 0
        return event


def _value(line: bytes) -> bytes:
    """Return the value of a line of data."""
    return line.rstrip(b"\r\n").removeprefix(b"data").removeprefix(b":").removeprefix(b" ")
