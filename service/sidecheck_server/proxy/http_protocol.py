"""HTTP/1.1 of one connection, which closes it when its client takes too long."""

import asyncio
from enum import Enum, auto
from http import HTTPStatus
from typing import cast

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

from sidecheck_server.proxy.http_bounds import HttpBounds
from sidecheck_server.proxy.http_rejections import rejection_bytes

__all__ = ["BoundedProtocol"]


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

    def __init__(self, config: uvicorn.Config, state: ServerState, bounds: HttpBounds) -> None:
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
        if self._write_deadline is None:
            seconds = self._bounds.limits.write_seconds
            self._write_deadline = self.loop.call_later(seconds, self._end_write)
        self._note_waiting()

    def resume_writing(self) -> None:
        """Go on after the client has read."""
        super().resume_writing()
        if self._write_deadline is not None:
            self._write_deadline.cancel()
            self._write_deadline = None
        self._note_waiting()

    def evict(self, note: str) -> None:
        """Close the connection for another one; *note* is the limit that is reached."""
        if self.transport is None:
            if self.connecting is not None:
                self.connecting.cancel()
        elif self._phase is _Phase.IDLE and not self.flow.write_paused:
            self.transport.close()
        else:
            self._reject(HTTPStatus.SERVICE_UNAVAILABLE, "TOO_MANY_CONNECTIONS", note)

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
        if self._phase is _Phase.RESPONSE and not self.flow.write_paused:
            self._bounds.connections.proceed(self)
        else:
            self._bounds.connections.wait(self)

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
        else:
            part = "head" if self._phase is _Phase.HEAD else "body"
            note = f"the {part} of a request did not arrive in time (--{part}-seconds)"
            self._reject(HTTPStatus.REQUEST_TIMEOUT, "REQUEST_TIMEOUT", note)

    def _end_write(self) -> None:
        note = "a client did not read what it was sent (--write-seconds)"
        self._bounds.rejections.add("RESPONSE_NOT_READ", note)
        self.transport.abort()

    def _reject(self, status: HTTPStatus, code: str, note: str) -> None:
        """Close the connection, with a response to its request if that has none yet."""
        if self.transport.is_closing():
            self.transport.abort()
            return
        self._bounds.rejections.add(code, note)
        is_answered = self._phase is _Phase.RESPONSE or (
            self._phase is _Phase.BODY and self.cycle.response_started
        )
        if is_answered or self.flow.write_paused:
            self.transport.abort()
            return
        if self._phase is _Phase.BODY or self.conn.trailing_data[0]:
            self.transport.write(rejection_bytes(status, code, note))
        self.transport.close()
