"""HTTP over sockets: requests and responses as raw bytes.

No library rejects or cleans what an attacker writes.
"""

import http.client
import json
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from support.http_mcp_server import TOOL
from support.raw_servers import serving

__all__ = ["RawServer", "Received", "Response", "exchange", "raw_server", "response_of"]

_SECONDS = 300
_END = b"\r\n\r\n"


@dataclass(frozen=True, slots=True)
class Received:
    """A request as the server got it."""

    head: bytes
    body: bytes

    @property
    def line(self) -> str:
        """Its method and target."""
        return self.head.partition(b"\r\n")[0].decode("latin-1").removesuffix(" HTTP/1.1")

    @property
    def names(self) -> set[bytes]:
        """The names of its headers, in lower case."""
        return {line.partition(b":")[0].lower() for line in self.head.split(b"\r\n")[1:] if line}


@dataclass(frozen=True, slots=True)
class Response:
    """A response as a client gets it."""

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes

    def header(self, name: str) -> str | None:
        """Return the value of the header *name*, None without one."""
        return next((value for key, value in self.headers if key.lower() == name), None)


class RawServer:
    """A server that lists one tool, and answers all else with the bytes of `answer`."""

    def __init__(self) -> None:
        self.port = 0
        #: Requests but for those of the proxy itself.
        self.received: list[Received] = []
        #: Returns the response to a request, as bytes; the connection is closed after it.
        self.answer: Callable[[Received], bytes] = lambda _: response_of(b"{}")

    def handle(self, connection: socket.socket) -> None:
        """Serve *connection* until a response that is not the server's own."""
        stream = connection.makefile("rb")
        while head := _read_head(stream):
            body = stream.read(_length(head))
            if own := _answer_listing(body):
                connection.sendall(own)
                continue
            received = Received(head, body)
            self.received.append(received)
            # Without it, the proxy might use the connection again before it notices its end.
            answer = self.answer(received).replace(b"\r\n", b"\r\nconnection: close\r\n", 1)
            connection.sendall(answer)
            connection.shutdown(socket.SHUT_WR)
            # Closed with bytes unread, it would be reset, and the proxy might lose the response.
            while connection.recv(4096):
                pass
            return


@contextmanager
def raw_server() -> Iterator[RawServer]:
    """Serve on a free port."""
    server = RawServer()
    with serving(server.handle) as address:
        server.port = int(address.rpartition(":")[2])
        yield server


def response_of(
    body: bytes, kind: str = "application/json", status: int = 200, head: bytes = b""
) -> bytes:
    """Return the bytes of a response with *body* of the type *kind*, and more of a *head*."""
    lines = [b"HTTP/1.1 %d Status" % status, b"content-length: %d" % len(body)]
    lines += [b"content-type: " + kind.encode()] if kind else []
    lines += [head] if head else []
    return b"\r\n".join(lines) + _END + body


def exchange(port: int, request: bytes) -> Response:
    """Return the response to the bytes of one *request*."""
    with socket.create_connection(("127.0.0.1", port), _SECONDS) as connection:
        connection.sendall(request)
        response = http.client.HTTPResponse(connection, method=request.split(b" ")[0].decode())
        try:
            response.begin()
            body = response.read()
        except http.client.HTTPException:
            return Response(0, (), b"")
        return Response(response.status, tuple(response.getheaders()), body)


def _read_head(stream: Any) -> bytes:
    head = b""
    while not head.endswith(_END):
        line = stream.readline()
        if not line:
            return b""
        head += line
    return head


def _length(head: bytes) -> int:
    lengths = [
        line.partition(b":")[2]
        for line in head.lower().split(b"\r\n")
        if line.startswith(b"content-length:")
    ]
    # What the proxy sends can be read in one way only.
    assert len(lengths) <= 1, head
    assert b"transfer-encoding" not in head.lower(), head
    return int(lengths[0]) if lengths else 0


def _answer_listing(body: bytes) -> bytes | None:
    """Return the response to *body* if the proxy itself sends it."""
    if not body.startswith(b'{"jsonrpc":"2.0","id":"sidecheck-'):
        return None
    id_ = json.loads(body)["id"]
    response = {"jsonrpc": "2.0", "id": id_, "result": {"tools": [TOOL]}}
    return response_of(json.dumps(response).encode())
