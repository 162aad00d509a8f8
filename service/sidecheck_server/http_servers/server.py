"""HTTP servers in an event loop, and the sockets that they listen on."""

import asyncio
import signal
import socket
from collections.abc import Coroutine, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, cast

import uvicorn

from sidecheck_server.config.addresses import Address
from sidecheck_server.http_servers.connections import ClientBounds
from sidecheck_server.http_servers.protocol import BoundedProtocol, response_bytes

__all__ = ["HttpServer", "open_listener"]

_BACKLOG = 2048

_ACCEPTS_AT_ONCE = 16
"""Connections that are accepted before others get their turn."""
_RETRY_SECONDS = 0.1
"""Time until the next attempt to accept connections after the system has refused."""
_MOST_REJECTED = 128
_REJECTED_SECONDS = 1.0
"""How many refused connections stay open for their clients to read the rejection, and how long.
Closed with a request unread, a connection is reset, and the client may lose the response."""

_KEEP_ALIVE = {"TCP_KEEPIDLE": 60, "TCP_KEEPINTVL": 15, "TCP_KEEPCNT": 4}
"""Options of TCP, in seconds and counts, that find out about clients that vanished: a stream
without events would otherwise be open for good."""


def open_listener(address: Address) -> socket.socket:
    """Return a socket that listens on *address*, so that whoever is told can connect.

    Raises:
        OSError: the address cannot be used.
    """
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    # asyncio turns off the delay of small segments only where the protocol is named. With it, a
    # response of several writes waits 40 milliseconds for an acknowledgement.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((address.host, address.port))
        listener.listen(_BACKLOG)
    except BaseException:
        listener.close()
        raise
    return listener


class HttpServer(uvicorn.Server):
    """A server for clients within *bounds*, which ends by *signals* only.

    The process goes on afterwards. Without *signals* they are left to the code around the
    server. uvicorn itself takes SIGINT and SIGTERM, and raises them again once it has ended; its
    method that does so is replaced.
    """

    def __init__(
        self,
        config: uvicorn.Config,
        bounds: ClientBounds,
        signals: Sequence[signal.Signals] = (),
    ) -> None:
        super().__init__(config)
        self._bounds = bounds
        self._signals = signals

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Accept the connections of *sockets*."""
        acceptors = [
            _Acceptor(listener, self.config, self.server_state, self._bounds)
            for listener in sockets or []
        ]
        # What uvicorn needs of a server is that it closes.
        self.servers = cast("list[asyncio.Server]", acceptors)
        self.started = True

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """End at the first signal in the block; at a second one, do not wait for requests."""
        loop = asyncio.get_running_loop()
        for number in self._signals:
            loop.add_signal_handler(number, self._end)
        try:
            yield
        finally:
            for number in self._signals:
                loop.remove_signal_handler(number)

    def _end(self) -> None:
        self.force_exit = self.should_exit
        self.should_exit = True


class _Acceptor:
    """Accepts the connections of *listener* while it is not closed.

    The server of asyncio accepts whatever comes, and hands a connection over when its handshake
    of TLS is done; it is counted from the beginning here.
    """

    def __init__(
        self,
        listener: socket.socket,
        config: uvicorn.Config,
        state: uvicorn.server.ServerState,
        bounds: ClientBounds,
    ) -> None:
        self._listener = listener
        self._config = config
        self._state = state
        self._bounds = bounds
        #: The connections that TLS is not ready for, and those that are refused.
        self._tasks: set[asyncio.Task[None]] = set()
        self._rejected: set[asyncio.Task[None]] = set()
        listener.settimeout(0)
        self._accepting = asyncio.create_task(self._accept())

    def close(self) -> None:
        """Accept no more connections, and end those without a request."""
        for task in (self._accepting, *self._tasks, *self._rejected):
            task.cancel()

    async def wait_closed(self) -> None:
        """Wait until the tasks of the acceptor have ended."""
        await asyncio.gather(self._accepting, *self._tasks, *self._rejected, return_exceptions=True)

    async def _accept(self) -> None:
        loop = asyncio.get_running_loop()
        count = 0
        while True:
            try:
                connection, (address, *_) = await loop.sock_accept(self._listener)
            except OSError:
                # The client is gone already, or the process has no descriptor left.
                await asyncio.sleep(_RETRY_SECONDS)
                continue
            self._admit(connection, address)
            count += 1
            if count % _ACCEPTS_AT_ONCE == 0:
                await asyncio.sleep(0)

    def _admit(self, connection: socket.socket, address: str) -> None:
        protocol = BoundedProtocol(self._config, self._state, self._bounds)
        exceeded = self._bounds.connections.admit(protocol, address)
        if exceeded is None:
            connecting = self._start(self._connect(connection, protocol), self._tasks)
            # Also called for a task that was cancelled before it began.
            connecting.add_done_callback(lambda _: self._end_connecting(connection, protocol))
            protocol.connecting = connecting
            return
        response = self._bounds.reject(exceeded)
        if self._config.is_ssl or len(self._rejected) >= _MOST_REJECTED:
            connection.close()
        else:
            self._start(_reject(connection, response_bytes(response)), self._rejected)

    async def _connect(self, connection: socket.socket, protocol: BoundedProtocol) -> None:
        limits = self._bounds.limits
        times = {
            "ssl_handshake_timeout": limits.head_seconds,
            "ssl_shutdown_timeout": limits.write_seconds,
        }
        # The handshake may fail.
        with suppress(OSError):
            _find_vanished_peer(connection)
            await asyncio.get_running_loop().connect_accepted_socket(
                lambda: protocol,
                connection,
                ssl=self._config.ssl,
                **(times if self._config.is_ssl else {}),
            )

    def _end_connecting(self, connection: socket.socket, protocol: BoundedProtocol) -> None:
        protocol.connecting = None
        if protocol.transport is None:
            self._bounds.connections.release(protocol)
            connection.close()

    def _start(
        self, work: Coroutine[Any, Any, None], tasks: set[asyncio.Task[None]]
    ) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        tasks.add(task)
        task.add_done_callback(tasks.discard)
        return task


async def _reject(connection: socket.socket, response: bytes) -> None:
    """Send the client *response*, and close *connection* when it has read it."""
    loop = asyncio.get_running_loop()
    with connection, suppress(OSError):
        async with asyncio.timeout(_REJECTED_SECONDS):
            await loop.sock_sendall(connection, response)
            connection.shutdown(socket.SHUT_WR)
            while await loop.sock_recv(connection, 1 << 16):
                pass


def _find_vanished_peer(connection: socket.socket) -> None:
    """Let the system close *connection* when its peer has vanished."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in _KEEP_ALIVE.items():
        # Systems have different ones.
        if hasattr(socket, name):
            connection.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)
