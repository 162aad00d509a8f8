"""Transcript of a connection, in the format that `sidecheck lint-messages` reads."""

from collections.abc import Callable
from io import FileIO

from sidecheck_server.proxy.messages import Direction

__all__ = [
    "LineFile",
    "Transcript",
]


class LineFile:
    """Writes lines to *file*, which is in non-blocking mode.

    At the first error, or when a pipe is full, it calls *warn* and stops, so that the relay of
    messages continues.
    """

    def __init__(self, file: FileIO, warn: Callable[[str], None]) -> None:
        self._file = file
        self._warn = warn
        self._has_failed = False

    def write(self, line: bytes) -> None:
        """Write *line*, which has no line break."""
        if self._has_failed:
            return
        try:
            rest = memoryview(line + b"\n")
            while rest:
                size = self._file.write(rest)
                if size is None:
                    self._end("no process reads it")
                    return
                rest = rest[size:]
        except OSError as error:
            self._end(error.strerror or str(error))

    def _end(self, reason: str) -> None:
        self._has_failed = True
        self._warn(f"sidecheck proxy: {self._file.name!r} ends here: {reason}\n")


_DIRECTIONS = {"client": b"client-to-server", "server": b"server-to-client"}


class Transcript:
    """Writes the messages of both sides with *write_line*, values included."""

    def __init__(self, write_line: Callable[[bytes], None]) -> None:
        self._write_line = write_line

    def write(self, message: bytes, sender: Direction, http_status: int = 0) -> None:
        """Write *message*, JSON text, with spaces in place of line breaks."""
        message = message.replace(b"\n", b" ").replace(b"\r", b" ")
        status = b',"http":{"status":%d}' % http_status if http_status else b""
        direction = _DIRECTIONS[sender]
        self._write_line(b'{"direction":"%s"%s,"message":%s}' % (direction, status, message))
