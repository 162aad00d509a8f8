"""HTTP servers in an event loop, and their listening sockets."""

import asyncio
import signal
import socket
from collections.abc import Coroutine, Iterator, Sequence
from contextlib import contextmanager, suppress
from enum import Enum, auto
from http import HTTPStatus
from typing import Any, cast

import h11
import uvicorn
from starlette.responses import Response
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

from sidecheck_server.config.addresses import Address
from sidecheck_server.http_servers.connections import Bound, ClientBounds
from sidecheck_server.http_servers.operating_system import LISTENER_OPTION, handled_signals

__all__ = [
    "BoundedProtocol",
    "HttpServer",
    "open_listener",
    "response_bytes",
]


class _Phase(Enum):
    """State of a connection: the event for which it waits."""

    HEAD = auto()
    """The first request, or the rest of a head."""
    IDLE = auto()
    """The next request."""
    BODY = auto()
    RESPONSE = auto()
    """A response of the application."""


class BoundedProtocol(H11Protocol):
    """An HTTP/1.1 connection, which counts against *bounds* until it is closed."""

    def __init__(self, config: uvicorn.Config, state: ServerState, bounds: ClientBounds) -> None:
        super().__init__(config, state, {})
        self._bounds = bounds
        self._phase = _Phase.HEAD
        #: Timer of the phase.
        self._deadline: asyncio.TimerHandle | None = None
        #: Timer of a write that the client does not read.
        self._write_deadline: asyncio.TimerHandle | None = None
        #: Task of the TLS handshake and the connection setup before `connection_made`.
        self.connecting: asyncio.Task[None] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin to wait for the first request."""
        connected = cast("asyncio.Transport", transport)
        super().connection_made(connected)
        # Writing pauses as soon as the buffers of the kernel are full, so that a pause means that
        # the client does not read. With 0, TLS transports would pause without this reason.
        connected.set_write_buffer_limits(high=1)
        self._set_deadline()

    def connection_lost(self, exc: Exception | None) -> None:
        """Cancel all timers, and stop counting the connection."""
        for deadline in (self._deadline, self._write_deadline):
            if deadline is not None:
                deadline.cancel()
        self._bounds.connections.release(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Handle *data*, and update the phase."""
        super().data_received(data)
        self._update()

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        super().on_response_complete()
        self._update()

    def pause_writing(self) -> None:
        """Wait until the client reads."""
        super().pause_writing()
        seconds = self._bounds.limits.write_seconds
        if self._write_deadline is None and seconds is not None:
            self._write_deadline = self.loop.call_later(seconds, self._end_write)
        self._note_waiting()

    def resume_writing(self) -> None:
        """Continue after the client has read."""
        super().resume_writing()
        if self._write_deadline is not None:
            self._write_deadline.cancel()
            self._write_deadline = None
        self._note_waiting()

    def evict(self, bound: Bound) -> None:
        """Close the connection for another one; *bound* is the limit that is reached."""
        if self.transport is None:
            if self.connecting is not None:
                self.connecting.cancel()
        elif self._phase is _Phase.IDLE and not self.flow.write_paused:
            self.transport.close()
        else:
            self._reject(bound)

    def _update(self) -> None:
        if self.transport.is_closing():
            return
        phase = self._current_phase()
        if phase is not self._phase:
            self._phase = phase
            self._set_deadline()
        self._note_waiting()

    def _current_phase(self) -> _Phase:
        if self.conn.their_state is h11.IDLE:
            unread, _ = self.conn.trailing_data
            return _Phase.HEAD if unread or self.cycle is None else _Phase.IDLE
        return _Phase.BODY if self.conn.their_state is h11.SEND_BODY else _Phase.RESPONSE

    def _note_waiting(self) -> None:
        limits = self._bounds.limits
        if self.flow.write_paused:
            may_close = limits.write_seconds is not None
        elif self._phase is _Phase.BODY:
            may_close = limits.body_seconds is not None or self.cycle.response_complete
        else:
            may_close = self._phase is not _Phase.RESPONSE
        if may_close:
            self._bounds.connections.wait(self)
        else:
            self._bounds.connections.proceed(self)

    def _set_deadline(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
        limits = self._bounds.limits
        seconds = {
            _Phase.HEAD: limits.head_seconds,
            _Phase.IDLE: self.timeout_keep_alive,
            _Phase.BODY: limits.body_seconds,
        }.get(self._phase)
        self._deadline = None if seconds is None else self.loop.call_later(seconds, self._end_phase)

    def _end_phase(self) -> None:
        if self._phase is _Phase.IDLE:
            self.transport.close()
        elif self._phase is _Phase.HEAD:
            self._reject(Bound.HEAD_SECONDS)
        else:
            self._reject(Bound.BODY_SECONDS)

    def _end_write(self) -> None:
        self._bounds.reject(Bound.WRITE_SECONDS)
        self.transport.abort()

    def _reject(self, bound: Bound) -> None:
        """Close the connection, with a response to an unanswered request."""
        if self.transport.is_closing():
            self.transport.abort()
            return
        response = self._bounds.reject(bound)
        is_answered = self._phase is _Phase.RESPONSE or (
            self._phase is _Phase.BODY and self.cycle.response_started
        )
        if is_answered or self.flow.write_paused:
            self.transport.abort()
            return
        if self._phase is _Phase.BODY or self.conn.trailing_data[0]:
            self.transport.write(response_bytes(response))
        self.transport.close()


def response_bytes(response: Response) -> bytes:
    """Return the bytes of *response*, with a header that ends the connection."""
    phrase = HTTPStatus(response.status_code).phrase
    headers = [*response.raw_headers, (b"connection", b"close")]
    lines = [f"HTTP/1.1 {response.status_code} {phrase}".encode(), *map(b": ".join, headers)]
    return b"\r\n".join([*lines, b"", bytes(response.body)])


_BACKLOG = 2048

_ACCEPTS_AT_ONCE = 16
"""Connections that are accepted in a row before other tasks run."""
_RETRY_SECONDS = 0.1
"""Pause after a failed attempt to accept a connection."""
_MAX_REJECTED = 128
_REJECTED_SECONDS = 1.0
"""Maximum number of rejected connections that stay open for their clients to read the response,
and maximum time for each. Closing a connection with an unread request resets it and may discard
the response."""

_KEEP_ALIVE = {"TCP_KEEPIDLE": 60, "TCP_KEEPINTVL": 15, "TCP_KEEPCNT": 4}
"""TCP options, in seconds and counts, that detect vanished clients: otherwise an event stream
without events could stay open forever."""


def open_listener(address: Address) -> socket.socket:
    """Return a socket that listens on *address*.

    Clients can connect from then on, even before the server accepts.

    Raises:
        OSError: the address cannot be used.
    """
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    # asyncio sets TCP_NODELAY only on sockets with an explicit protocol. Without the option, a
    # response of several writes waits 40 milliseconds for an acknowledgement.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listener.setsockopt(socket.SOL_SOCKET, LISTENER_OPTION, 1)
        listener.bind((address.host, address.port))
        listener.listen(_BACKLOG)
    except BaseException:
        listener.close()
        raise
    return listener


class HttpServer(uvicorn.Server):
    """An HTTP server for clients within *bounds*, which stops at *signals*.

    The process continues afterwards. Without *signals*, the surrounding code handles all
    signals. This class replaces the method by which uvicorn captures SIGINT and SIGTERM and
    raises them again after it has stopped.
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
        # uvicorn only calls `close` and `wait_closed` of its servers.
        self.servers = cast("list[asyncio.Server]", acceptors)
        self.started = True

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Stop gracefully at the first signal in the context, at once at a second one."""
        with handled_signals(self._signals, self._end):
            yield

    def _end(self, _number: int) -> None:
        self.force_exit = self.should_exit
        self.should_exit = True


class _Acceptor:
    """Accepts the connections of *listener* until it is closed.

    Unlike the server of asyncio, which accepts every connection and passes it on after the TLS
    handshake, it counts connections before the handshake.
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
        #: Tasks of connections before the end of the TLS handshake, and of rejected ones.
        self._tasks: set[asyncio.Task[None]] = set()
        self._rejected: set[asyncio.Task[None]] = set()
        listener.settimeout(0)
        self._accepting = asyncio.create_task(self._accept())

    def close(self) -> None:
        """Accept no more connections, and end those that are connecting or rejected."""
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
                # The client has disconnected, or the process has no free descriptor.
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
            # The callback also runs if the task is cancelled before it begins.
            connecting.add_done_callback(lambda _: self._end_connecting(connection, protocol))
            protocol.connecting = connecting
            return
        response = self._bounds.reject(exceeded)
        if self._config.is_ssl or len(self._rejected) >= _MAX_REJECTED:
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
            _enable_keep_alive(connection)
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
    """Send *response*, and close *connection* when the client has read it."""
    loop = asyncio.get_running_loop()
    with connection, suppress(OSError):
        async with asyncio.timeout(_REJECTED_SECONDS):
            await loop.sock_sendall(connection, response)
            connection.shutdown(socket.SHUT_WR)
            while await loop.sock_recv(connection, 1 << 16):
                pass


def _enable_keep_alive(connection: socket.socket) -> None:
    """Let the system close *connection* after its peer has vanished."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in _KEEP_ALIVE.items():
        # Not every system has all of these options.
        if hasattr(socket, name):
            connection.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)
