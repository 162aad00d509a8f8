"""The record of a connection: one message per line, as `sidecheck lint-messages` reads it."""

from collections.abc import Callable

from sidecheck_server.proxy.messages import Direction

__all__ = ["Transcript"]

_DIRECTIONS = {"client": b"client-to-server", "server": b"server-to-client"}


class Transcript:
    """Writes the messages of both sides by *write_line* as they arrive, values included."""

    def __init__(self, write_line: Callable[[bytes], None]) -> None:
        self._write_line = write_line

    def write(self, message: bytes, sender: Direction, http_status: int = 0) -> None:
        """Write *message*, JSON text, whose line breaks become spaces."""
        message = message.replace(b"\n", b" ").replace(b"\r", b" ")
        status = b',"http":{"status":%d}' % http_status if http_status else b""
        direction = _DIRECTIONS[sender]
        self._write_line(b'{"direction":"%s"%s,"message":%s}' % (direction, status, message))
