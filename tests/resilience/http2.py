"""HTTP/2 peer for frames that a gRPC client does not send.

Frames follow RFC 9113. Headers are literals without indexing (RFC 7541, section 6.2.2), so
that the peer has no header compression state.
"""

import socket
import struct
from collections import Counter

__all__ = ["GOAWAY", "RST_STREAM", "Peer", "announce"]

_PATIENCE_SECONDS = 60.0
_FRAME = 16_384
_HEAD = 9

_PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
_DATA, _HEADERS, RST_STREAM, _SETTINGS, _PING, GOAWAY, _WINDOW_UPDATE = 0, 1, 3, 4, 6, 7, 8
_ACK = _END_STREAM = 0x1
_END_HEADERS = 0x4
_INITIAL_WINDOW = 0x4
_CANCEL = 8
_HEADERS_OF_A_CALL = (
    (":method", "POST"),
    (":scheme", "http"),
    (":authority", "localhost"),
    ("content-type", "application/grpc"),
    ("te", "trailers"),
)


class Peer:
    """A connection to ``host:port`` or ``unix:path``; *window* is the window of its streams.

    It reads from the server only in `receive`, and when it waits for a window.
    """

    def __init__(self, address: str, window: int = 65_535) -> None:
        if address.startswith("unix:"):
            self.socket = socket.socket(socket.AF_UNIX)
            self.socket.connect(address.removeprefix("unix:"))
        else:
            host, _, port = address.rpartition(":")
            self.socket = socket.create_connection((host, int(port)))
        self.socket.settimeout(_PATIENCE_SECONDS)
        self._received = b""
        self._next_stream = 1
        self._initial_window = 65_535
        #: Bytes that may be sent: on the connection (0) and on each stream.
        self._windows: Counter[int] = Counter({0: 65_535})
        #: Number of received frames by type.
        self.frames: Counter[int] = Counter()
        settings = struct.pack(">HI", _INITIAL_WINDOW, window)
        try:
            self.socket.sendall(_PREFACE + _frame(_SETTINGS, 0, 0, settings))
        except OSError:
            self.socket.close()
            raise

    def call(self, path: str, body: bytes = b"", *, end: bool = True, timeout: str = "") -> int:
        """Begin a call with a small *body*, end it if *end*; return the number of its stream."""
        stream = self._next_stream
        self._next_stream += 2
        self._windows[stream] = self._initial_window - len(body)
        self._windows[0] -= len(body)
        block = b"".join(map(_literal, _HEADERS_OF_A_CALL)) + _literal((":path", path))
        block += _literal(("grpc-timeout", timeout)) if timeout else b""
        data = _frame(_DATA, _END_STREAM if end else 0, stream, body)
        self.socket.sendall(_frame(_HEADERS, _END_HEADERS, stream, block) + data)
        return stream

    def send(self, stream: int, body: bytes) -> bool:
        """Send more of a body as windows open; return whether all of it was sent."""
        start = 0
        while start < len(body):
            size = min(len(body) - start, _FRAME, self._windows[0], self._windows[stream])
            if size <= 0:
                if not self.receive():
                    return False
                continue
            self.socket.sendall(_frame(_DATA, 0, stream, body[start : start + size]))
            self._windows[0] -= size
            self._windows[stream] -= size
            start += size
        return True

    def reset(self, stream: int) -> None:
        """Cancel a call."""
        self.socket.sendall(_frame(RST_STREAM, 0, stream, struct.pack(">I", _CANCEL)))

    def ping(self, count: int = 1) -> None:
        """Send *count* pings at once."""
        self.socket.sendall(_frame(_PING, 0, 0, bytes(8)) * count)

    def receive(self, seconds: float = 0.5) -> bool:
        """Read data that arrives within *seconds*; return whether there was any."""
        self.socket.settimeout(seconds)
        try:
            data = self.socket.recv(1 << 16)
        except TimeoutError:
            return False
        finally:
            self.socket.settimeout(_PATIENCE_SECONDS)
        self._received += data
        while len(self._received) >= _HEAD:
            size = int.from_bytes(self._received[:3], "big")
            if len(self._received) < _HEAD + size:
                break
            kind, flags, stream = struct.unpack(">BBI", self._received[3:_HEAD])
            self._take(kind, flags, stream, self._received[_HEAD : _HEAD + size])
            self._received = self._received[_HEAD + size :]
        return bool(data)

    def _take(self, kind: int, flags: int, stream: int, payload: bytes) -> None:
        self.frames[kind] += 1
        if kind == _WINDOW_UPDATE:
            self._windows[stream] += int.from_bytes(payload, "big")
        elif kind == _SETTINGS and not flags & _ACK:
            for at in range(0, len(payload), 6):
                name, value = struct.unpack_from(">HI", payload, at)
                if name == _INITIAL_WINDOW:
                    self._initial_window = value
            self.socket.sendall(_frame(_SETTINGS, _ACK, 0, b""))
        elif kind == _PING and not flags & _ACK:
            self.socket.sendall(_frame(_PING, _ACK, 0, payload))

    def close(self) -> None:
        """Close the connection."""
        self.socket.close()


def announce(size: int) -> bytes:
    """Return the prefix of a message of *size* bytes (gRPC over HTTP2, Length-Prefixed-Message)."""
    return b"\0" + struct.pack(">I", size)


def _frame(kind: int, flags: int, stream: int, payload: bytes) -> bytes:
    return struct.pack(">I", len(payload))[1:] + struct.pack(">BBI", kind, flags, stream) + payload


def _literal(field: tuple[str, str]) -> bytes:
    name, value = field
    return b"\0" + _text(name) + _text(value)


def _text(text: str) -> bytes:
    encoded = text.encode()
    assert len(encoded) < 127, "longer strings need a second byte of length"
    return bytes([len(encoded)]) + encoded
