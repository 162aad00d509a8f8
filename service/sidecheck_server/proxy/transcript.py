"""The record of a connection: one message per line, as `sidecheck lint-messages` reads it."""

from typing import BinaryIO

from sidecheck_server.proxy.report import Direction

__all__ = ["Transcript"]

_DIRECTIONS = {"client": b"client-to-server", "server": b"server-to-client"}


class Transcript:
    """Writes the messages of both sides to *file* as they arrive, values included."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    def write(self, message: bytes, sender: Direction, http_status: int = 0) -> None:
        """Write *message*, JSON text without line breaks."""
        status = b',"http":{"status":%d}' % http_status if http_status else b""
        direction = _DIRECTIONS[sender]
        self._file.write(b'{"direction":"%s"%s,"message":%s}\n' % (direction, status, message))
        self._file.flush()
