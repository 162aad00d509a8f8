"""HTTP/1.1 of one connection, which closes it when its client takes too long."""

import asyncio
from enum import Enum, auto
from http import HTTPStatus
from typing import cast

import h11
import uvicorn
from starlette.responses import Response
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

from sidecheck_server.http_servers.connections import Bound, ClientBounds

__all__ = ["BoundedProtocol", "response_bytes"]


class _Phase(Enum):
    """What a connection waits for."""

    HEAD = auto()
    """The first request, or the rest of a head."""
    IDLE = auto()
    """The next request."""
    BODY = auto()
    RESPONSE = auto()
    """A response of the application: nothing that the client owes."""


class BoundedProtocol(H11Protocol):
    """A connection within *bounds*, which count it until it is closed."""

    def __init__(self, config: uvicorn.Config, state: ServerState, bounds: ClientBounds) -> None:
        super().__init__(config, state, {})
        self._bounds = bounds
        self._phase = _Phase.HEAD
        #: Ends the phase.
        self._deadline: asyncio.TimerHandle | None = None
        #: Ends a write that the client does not read.
        self._write_deadline: asyncio.TimerHandle | None = None
        #: The handshake of TLS and what leads to `connection_made`.
        self.connecting: asyncio.Task[None] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin to wait for the first request."""
        connected = cast("asyncio.Transport", transport)
        super().connection_made(connected)
        # Writing pauses as soon as the kernel takes no more, so that the pause is the time for
        # which the client does not read. With 0, transports of TLS would pause without a reason.
        connected.set_write_buffer_limits(high=1)
        self._set_deadline()

    def connection_lost(self, exc: Exception | None) -> None:
        """End all that waits for the client."""
        for deadline in (self._deadline, self._write_deadline):
            if deadline is not None:
                deadline.cancel()
        self._bounds.connections.release(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Handle *data*, and wait for what the client owes then."""
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
        """Go on after the client has read."""
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
        """Close the connection, with a response to its request if that has none yet."""
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
    """Return *response* as the last one of a connection."""
    phrase = HTTPStatus(response.status_code).phrase
    headers = [*response.raw_headers, (b"connection", b"close")]
    lines = [f"HTTP/1.1 {response.status_code} {phrase}".encode(), *map(b": ".join, headers)]
    return b"\r\n".join([*lines, b"", bytes(response.body)])
