"""Writer of the log: a bounded queue of lines, and the thread that writes them.

Logging an event never blocks, even if nobody reads standard error.
"""
# Decision 0051: a stuck log reader can delay neither calls nor the end of the process.

import os
import threading
from collections.abc import Callable

from sidecheck_server.observability.operating_system import ATOMIC_BYTES, wait_until_writable

__all__ = ["LogWriter"]

QUEUE_BYTES = 1 << 20
"""Most bytes of queued lines. The thread may hold as many more."""


class LogWriter:
    """Writes lines to a descriptor, in order, in a separate thread.

    Lines that arrive while the queue is full, and lines whose write fails, are dropped.
    After the next successful write, the thread calls *report_dropped* with their number; the
    lines that this writes are queued even if the queue is full.
    """

    def __init__(self, descriptor: int, report_dropped: Callable[[int], None]) -> None:
        self._descriptor = descriptor
        self._report_dropped = report_dropped
        # The lock must be reentrant: the garbage collector may run code that logs at any point.
        self._changed = threading.Condition()
        self._lines: list[bytes] = []
        self._size = 0
        self._dropped = 0
        self._writing = False
        self._line_is_torn = False
        self._thread = threading.Thread(target=self._run, name="log", daemon=True)
        self._thread.start()

    def write(self, text: str) -> None:
        """Queue *text*, one or more lines that end with a line break."""
        line = text.encode("utf-8", "backslashreplace")
        with self._changed:
            is_report = threading.current_thread() is self._thread
            if self._size + len(line) > QUEUE_BYTES and not is_report:
                self._dropped += 1
                return
            self._lines.append(line)
            self._size += len(line)
            self._changed.notify_all()

    def flush(self, seconds: float) -> None:
        """Wait until all lines are written or dropped, for *seconds* at most."""
        with self._changed:
            self._changed.wait_for(lambda: not (self._lines or self._writing), seconds)

    def _run(self) -> None:
        while True:
            with self._changed:
                self._writing = False
                self._changed.notify_all()
                self._changed.wait_for(lambda: self._lines)
                lines, self._lines, self._size = self._lines, [], 0
                self._writing = True
            unwritten = self._write(lines)
            with self._changed:
                self._dropped += unwritten
                dropped = 0 if unwritten else self._dropped
                self._dropped -= dropped
            if dropped:
                self._report_dropped(dropped)

    def _write(self, lines: list[bytes]) -> int:
        """Write *lines*, and return the number of unwritten lines."""
        # A partially written line must not run into the next.
        start = b"\n" if self._line_is_torn else b""
        text = start + b"".join(lines)
        written = _write_all(self._descriptor, text)
        if written:
            self._line_is_torn = text[written - 1 : written] != b"\n"
        return text.count(b"\n", max(written, len(start)))


def _size_at_once(text: memoryview) -> int:
    """Return the number of bytes of *text* to write at once, in whole lines.

    Several processes may write to one pipe.
    """
    if len(text) <= ATOMIC_BYTES:
        return len(text)
    end = bytes(text[:ATOMIC_BYTES]).rfind(b"\n") + 1
    return end or len(text)


def _write_all(descriptor: int, text: bytes) -> int:
    """Write *text* to *descriptor*; return the number of bytes before an error."""
    rest = memoryview(text)
    try:
        while rest:
            try:
                rest = rest[os.write(descriptor, rest[: _size_at_once(rest)]) :]
            except BlockingIOError:  # the creator of the pipe has set O_NONBLOCK
                wait_until_writable(descriptor)
    except OSError:
        pass  # the reader has closed the pipe, or the disk is full; the caller counts lost lines
    return len(text) - len(rest)
