"""A request over HTTP and its response, as the admission of calls sees them."""

from collections.abc import Callable, Mapping
from typing import Any

from starlette.datastructures import Headers
from starlette.types import Receive, Scope, Send

from sidecheck_server.core.limits import limit_exceeded_error

__all__ = ["ClientGoneError", "Exchange"]


class ClientGoneError(Exception):
    """Nobody awaits the response."""


class Exchange:
    """One request and its response, whose body has at most *max_bytes*.

    It has what `Admission` needs of a call of gRPC.
    """

    def __init__(self, scope: Scope, receive: Receive, send: Send, max_bytes: int) -> None:
        self._receive = receive
        self._send = send
        self._max_bytes = max_bytes
        self._callbacks: list[Callable[[Any], None]] = []
        self.headers: Mapping[str, str] = Headers(scope=scope)
        host, port = scope.get("client") or ("", 0)
        #: Who calls: the address of the connection, in the form of gRPC.
        self.peer = f"ipv6:[{host}]:{port}" if ":" in host else f"ipv4:{host}:{port}"

    def time_remaining(self) -> None:
        """Return None: HTTP has no deadlines."""

    def add_done_callback(self, callback: Callable[[Any], None]) -> None:
        """Call *callback* when the response was sent, or will not be."""
        self._callbacks.append(callback)

    async def read(self) -> bytes:
        """Return the body of the request.

        Raises:
            RequestError: LIMIT_EXCEEDED as soon as it is known to be too large.
            ClientGoneError: the client left.
        """
        announced = self.headers.get("content-length", "")
        if announced.isdecimal():
            self._check_size(int(announced))
        body = bytearray()
        while True:
            event = await self._receive()
            if event["type"] == "http.disconnect":
                raise ClientGoneError
            body += event.get("body", b"")
            self._check_size(len(body))
            if not event.get("more_body", False):
                return bytes(body)

    async def respond(self, status: int, body: bytes, headers: Mapping[str, str]) -> None:
        """Send a response, and return when the network has taken most of it."""
        fields = {**headers, "content-length": str(len(body)), "cache-control": "no-store"}
        encoded = [(name.encode(), value.encode()) for name, value in fields.items()]
        await self._send({"type": "http.response.start", "status": status, "headers": encoded})
        # The server waits before it sends more while a part of what it sent is unread.
        await self._send({"type": "http.response.body", "body": body, "more_body": True})
        await self._send({"type": "http.response.body", "body": b""})

    def end(self) -> None:
        """Release what the exchange holds."""
        for callback in self._callbacks:
            callback(self)

    def _check_size(self, size: int) -> None:
        if size > self._max_bytes:
            raise limit_exceeded_error("message_bytes", self._max_bytes, "the body", size)
