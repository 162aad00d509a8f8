"""The HTTP server that clients of the proxy connect to."""

import asyncio
import signal
import socket
from collections.abc import Callable, Coroutine
from contextlib import suppress
from http import HTTPStatus
from typing import Any, cast

import uvicorn
from starlette.types import ASGIApp

from sidecheck_server.http_servers.listener import HttpServer, open_listener
from sidecheck_server.proxy.http_bounds import HttpBounds
from sidecheck_server.proxy.http_limits import HttpAddress
from sidecheck_server.proxy.http_protocol import BoundedProtocol
from sidecheck_server.proxy.http_rejections import rejection_bytes

__all__ = ["serve_http"]

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_GRACE_SECONDS = 5
_IDLE_SECONDS = 75
"""How long a connection is open without a request: longer than clients use it again."""

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


async def serve_http(
    application: ASGIApp,
    address: HttpAddress,
    bounds: HttpBounds,
    report_ready: Callable[[int], None],
) -> None:
    """Serve *application* within *bounds* until a signal; *report_ready* gets the port.

    Raises:
        OSError: the address cannot be used, or a file cannot be read.
        ssl.SSLError: a file is no certificate or key.
    """
    config = uvicorn.Config(
        application,
        ssl_certfile=address.certificate,
        ssl_keyfile=address.private_key,
        log_config=None,
        access_log=False,
        server_header=False,
        date_header=False,
        timeout_keep_alive=_IDLE_SECONDS,
        timeout_graceful_shutdown=_GRACE_SECONDS,
        lifespan="off",
        ws="none",
    )
    config.load()
    with _listen(address) as listener:
        report_ready(listener.getsockname()[1])
        await _BoundedServer(config, bounds).serve(sockets=[listener])


class _BoundedServer(HttpServer):
    """A server that accepts connections within *bounds*, until a signal."""

    def __init__(self, config: uvicorn.Config, bounds: HttpBounds) -> None:
        super().__init__(config, _SIGNALS)
        self._bounds = bounds

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Accept the connections of *sockets*."""
        acceptors = [
            _Acceptor(listener, self.config, self.server_state, self._bounds)
            for listener in sockets or []
        ]
        # What uvicorn needs of a server is that it closes.
        self.servers = cast("list[asyncio.Server]", acceptors)
        self.started = True


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
        bounds: HttpBounds,
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
        note = self._bounds.connections.admit(protocol, address)
        if note is None:
            protocol.connecting = self._start(self._connect(connection, protocol), self._tasks)
            return
        self._bounds.rejections.add("TOO_MANY_CONNECTIONS", note)
        if self._config.is_ssl or len(self._rejected) >= _MOST_REJECTED:
            connection.close()
        else:
            self._start(_reject(connection, note), self._rejected)

    async def _connect(self, connection: socket.socket, protocol: BoundedProtocol) -> None:
        limits = self._bounds.limits
        times = {
            "ssl_handshake_timeout": limits.head_seconds,
            "ssl_shutdown_timeout": limits.write_seconds,
        }
        try:
            _find_vanished_peer(connection)
            await asyncio.get_running_loop().connect_accepted_socket(
                lambda: protocol,
                connection,
                ssl=self._config.ssl,
                **(times if self._config.is_ssl else {}),
            )
        except OSError:
            # The handshake failed.
            self._bounds.connections.release(protocol)
        except asyncio.CancelledError:
            self._bounds.connections.release(protocol)
            raise

    def _start(
        self, work: Coroutine[Any, Any, None], tasks: set[asyncio.Task[None]]
    ) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        tasks.add(task)
        task.add_done_callback(tasks.discard)
        return task


async def _reject(connection: socket.socket, note: str) -> None:
    """Send the client the rejection, and close *connection* when it has read it."""
    loop = asyncio.get_running_loop()
    response = rejection_bytes(HTTPStatus.SERVICE_UNAVAILABLE, "TOO_MANY_CONNECTIONS", note)
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


def _listen(address: HttpAddress) -> socket.socket:
    try:
        return open_listener(address.host, address.port)
    except OSError as error:
        raise OSError(f"{address.host}:{address.port}: {error.strerror or error}") from None
