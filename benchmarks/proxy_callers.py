"""Clients of `proxy.py`, which do as little as a client can: over stdio, and over HTTP."""

import json
import re
import socket
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, Protocol
from urllib.parse import urlsplit

__all__ = ["Caller", "http_caller", "running", "stdio_caller"]

_INITIALIZE = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "client", "version": "1"},
}
_VERSION = "2026-07-28"
_META = {
    "io.modelcontextprotocol/protocolVersion": _VERSION,
    "io.modelcontextprotocol/clientInfo": {"name": "client", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}


class Caller(Protocol):
    """A client that has begun a session, if there are any."""

    def send(self, params: Any) -> None:
        """Send a call."""
        ...

    def receive(self) -> None:
        """Wait for the response to the call that was sent first.

        Raises:
            RuntimeError: it has no result.
        """
        ...


def check(text: bytes) -> None:
    """Check that *text* is a response with a result.

    Raises:
        RuntimeError: it is another message.
    """
    response = json.loads(text)
    if "result" not in response or response["result"].get("isError"):
        raise RuntimeError(f"not a result: {response}")


class _StdioCaller:
    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self._input, self._output = process.stdin, process.stdout
        self._id = 0
        self._request("initialize", _INITIALIZE)
        self.receive()
        initialized = {"jsonrpc": "2.0", "method": "notifications/initialized"}
        self._input.write(json.dumps(initialized).encode() + b"\n")
        self._request("tools/list", {})
        self.receive()

    def send(self, params: Any) -> None:
        self._request("tools/call", params)

    def receive(self) -> None:
        check(self._output.readline())

    def _request(self, method: str, params: Any) -> None:
        self._id += 1
        message = {"jsonrpc": "2.0", "id": self._id, "method": method, "params": params}
        self._input.write(json.dumps(message).encode() + b"\n")
        self._input.flush()


class _HttpCaller:
    """A client with a connection for each call in flight, the next call on the one that is free.

    With sessions, or since 2026-07-28 without.
    """

    def __init__(self, url: str, connections: int, *, has_session: bool) -> None:
        parts = urlsplit(url)
        assert parts.port is not None
        address = (str(parts.hostname), parts.port)
        self._host = parts.netloc
        self._sockets = [socket.create_connection(address) for _ in range(connections)]
        for each in self._sockets:
            each.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._readers = [each.makefile("rb") for each in self._sockets]
        self._has_session = has_session
        self._session = b""
        self._id = self._sent = self._received = 0
        if has_session:
            self._request("initialize", _INITIALIZE)
            self.receive()
            self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})
            self._receive()
        self._request("tools/list", {})
        self.receive()

    def close(self) -> None:
        for reader, connection in zip(self._readers, self._sockets, strict=True):
            reader.close()
            connection.close()

    def send(self, params: Any) -> None:
        self._request("tools/call", params)

    def receive(self) -> None:
        check(self._receive())

    def _receive(self) -> bytes:
        reader = self._readers[self._received % len(self._readers)]
        self._received += 1
        head = bytearray()
        while (line := reader.readline()) not in {b"\r\n", b""}:
            head += line
        session = re.search(rb"(?i)mcp-session-id: (.*)\r", head)
        self._session = session[1] if session else self._session
        length = re.search(rb"(?i)content-length: (\d+)", head)
        assert length is not None, bytes(head)
        return reader.read(int(length[1]))

    def _request(self, method: str, params: Any) -> None:
        self._id += 1
        if not self._has_session:
            params = {**params, "_meta": _META}
        self._send({"jsonrpc": "2.0", "id": self._id, "method": method, "params": params})

    def _send(self, message: dict[str, Any]) -> None:
        body = json.dumps(message).encode()
        headers = {
            "Host": self._host,
            "Accept": "application/json, text/event-stream",
            "Content-Type": "application/json",
            "Content-Length": str(len(body)),
        }
        if not self._has_session:
            headers |= {"MCP-Protocol-Version": _VERSION, "Mcp-Method": message["method"]}
            name = message["params"].get("name")
            headers |= {"Mcp-Name": name} if name else {}
        elif self._session:
            headers |= {"MCP-Protocol-Version": "2025-11-25"}
            headers |= {"Mcp-Session-Id": self._session.decode()}
        lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        self._sockets[self._sent % len(self._sockets)].sendall(
            f"POST /mcp HTTP/1.1\r\n{lines}\r\n".encode() + body
        )
        self._sent += 1


@contextmanager
def stdio_caller(command: list[str]) -> Iterator[Caller]:
    """Yield a client of *command*."""
    with subprocess.Popen(  # noqa: S603  (our own command)
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        try:
            yield _StdioCaller(process)
        finally:
            process.terminate()


@contextmanager
def http_caller(url: str, connections: int, *, has_session: bool) -> Iterator[_HttpCaller]:
    """Yield a client of the server at *url*."""
    caller = _HttpCaller(url, connections, has_session=has_session)
    try:
        yield caller
    finally:
        caller.close()


@contextmanager
def running(command: list[str]) -> Iterator[str]:
    """Run *command*, and yield the URL of its first line, with the path of the server."""
    with (
        subprocess.Popen(  # noqa: S603  (our own command)
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        ) as process,
        ExitStack() as stack,
    ):
        stack.callback(process.terminate)
        assert process.stdout is not None
        line = process.stdout.readline()
        found = re.search(r"http://[^ ]*:\d+", line)
        if found is None:
            raise RuntimeError(f"no URL: {line}")
        yield f"{found[0]}/mcp"
