"""Connections of HTTP/2 that send frames as they like, and read nothing unless asked to."""

import socket
import struct

__all__ = ["RawConnection"]

_PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
_DATA, _HEADERS, _SETTINGS, _PING = 0, 1, 4, 6
_END_HEADERS = 4
_END_STREAM = 1
_INITIAL_WINDOW_SIZE = 4


class RawConnection:
    """A connection to the server at *address*; with a *window* of 0 it accepts no data."""

    def __init__(self, address: str, window: int = 65_535) -> None:
        host, _, port = address.rpartition(":")
        self.socket = socket.create_connection((host, int(port)))
        self._next_stream = 1
        settings = struct.pack(">HI", _INITIAL_WINDOW_SIZE, window)
        self.socket.sendall(_PREFACE)
        self._send(_SETTINGS, 0, 0, settings)

    def close(self) -> None:
        """Close the connection."""
        self.socket.close()

    def ping(self, count: int) -> None:
        """Send *count* pings at once."""
        self.socket.sendall(_frame(_PING, 0, 0, bytes(8)) * count)

    def call(self, path: str, message: bytes, announced: int | None = None) -> None:
        """Call the method *path* with *message*.

        If *announced* is given, the message is said to have that many bytes and never ends.
        """
        stream, self._next_stream = self._next_stream, self._next_stream + 2
        headers = {
            ":method": "POST",
            ":scheme": "http",
            ":path": path,
            ":authority": "localhost",
            "te": "trailers",
            "content-type": "application/grpc",
        }
        # Literal fields without indexing (RFC 7541, section 6.2.2), none longer than 126.
        block = b"".join(
            b"\0" + bytes([len(name)]) + name.encode() + bytes([len(value)]) + value.encode()
            for name, value in headers.items()
        )
        self._send(_HEADERS, _END_HEADERS, stream, block)
        size = len(message) if announced is None else announced
        end = _END_STREAM if announced is None else 0
        self._send(_DATA, end, stream, struct.pack(">BI", 0, size) + message)

    def _send(self, kind: int, flags: int, stream: int, payload: bytes) -> None:
        self.socket.sendall(_frame(kind, flags, stream, payload))


def _frame(kind: int, flags: int, stream: int, payload: bytes) -> bytes:
    return struct.pack(">I", len(payload))[1:] + struct.pack(">BBI", kind, flags, stream) + payload
