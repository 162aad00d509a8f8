"""A call as ASGI gives it."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, MutableMapping, Sequence
from typing import Any, Final, NoReturn, TypeAlias

import grpc
from google.rpc.status_pb2 import Status

from sidecheck_server.rpc.asgi.framing import (
    PREFIX_BYTES,
    Headers,
    InvalidFrameError,
    decode_metadata,
    decompress,
    read_prefix,
    timeout_seconds,
)
from sidecheck_server.rpc.calls import CallFailed

__all__ = ["AsgiContext", "CallAborted", "Receive", "Scope", "Send"]

Scope: TypeAlias = Mapping[str, Any]
Event: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Event]]
Send: TypeAlias = Callable[[Event], Awaitable[None]]

_WATCH_AFTER_SECONDS: Final = 0.02
"""Age of a call from which its peer is watched; a timer costs less than a watch."""

_POLL_SECONDS: Final = 0.05
_MAX_POLL_SECONDS: Final = 0.5
"""Shortest and longest pause between two checks whether the peer is gone."""


class CallAborted(Exception):
    """Ends a call with a status, and with *metadata* in its trailers."""

    def __init__(
        self, code: int, message: str, metadata: Sequence[tuple[str, str | bytes]] = ()
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.metadata = metadata


class AsgiContext:
    """A `Context` for the current task.

    The task is cancelled when the deadline passes, and when the peer cancels the call or closes
    the connection. Messages have at most *max_bytes*. If *is_single*, only the first message of
    the request is read. *deserialize* is applied to each message.
    """

    __slots__ = (
        "_buffer",
        "_callbacks",
        "_deadline",
        "_deserialize",
        "_encoding",
        "_has_ended",
        "_has_message",
        "_headers",
        "_is_single",
        "_is_slow",
        "_loop",
        "_max_bytes",
        "_peer",
        "_receive",
        "_task",
        "_timer",
        "_watch",
        "has_passed_deadline",
        "is_disconnected",
    )

    def __init__(
        self,
        scope: Scope,
        receive: Receive,
        max_bytes: int,
        *,
        is_single: bool,
        deserialize: Callable[[bytes], Any] = bytes,
    ) -> None:
        """Begin the call.

        Raises:
            InvalidFrameError: the header grpc-timeout is malformed.
        """
        self._receive = receive
        self._max_bytes = max_bytes
        self._is_single = is_single
        self._deserialize = deserialize
        self._headers: Headers = scope["headers"]
        self._peer: tuple[str, int] | None = scope["client"]
        self._encoding = b"identity"
        self._deadline: float | None = None
        for name, value in self._headers:
            if name == b"grpc-timeout":
                self._deadline = time.monotonic() + timeout_seconds(value)
            elif name == b"grpc-encoding":
                self._encoding = value
        self._buffer: bytes | bytearray = b""
        #: Whether the peer has sent its last message.
        self._has_ended = False
        self._has_message = False
        self._callbacks: list[Callable[[Any], None]] = []
        self._is_slow = False
        self._watch: asyncio.Task[None] | None = None
        #: Why the task was cancelled.
        self.has_passed_deadline = self.is_disconnected = False
        task = asyncio.current_task()
        assert task is not None
        self._task = task
        self._loop = asyncio.get_running_loop()
        self._timer = self._start_timer()

    def peer(self) -> str:
        """Return the address of the connection."""
        if self._peer is None:
            return "unix:"
        host, port = self._peer
        return f"ipv6:[{host}]:{port}" if ":" in host else f"ipv4:{host}:{port}"

    def invocation_metadata(self) -> Sequence[tuple[str, str | bytes]]:
        """Return names and values."""
        return decode_metadata(self._headers)

    def time_remaining(self) -> float | None:
        """Return the seconds until the deadline."""
        return None if self._deadline is None else self._deadline - time.monotonic()

    def add_done_callback(self, callback: Callable[[Any], None]) -> None:
        """Call *callback* when the call has ended and its response is sent."""
        self._callbacks.append(callback)

    async def read(self) -> Any:
        """Return the next message, or `grpc.aio.EOF`.

        Raises:
            CallFailed: the message is damaged, incomplete or too large.
            CancelledError: the peer has cancelled the call.
        """
        try:
            message = await self._read()
        except InvalidFrameError as error:
            raise CallFailed(Status(code=error.code.value[0], message=str(error))) from None
        if message is None:
            return grpc.aio.EOF
        return self._deserialize(message)

    async def abort(
        self, code: grpc.StatusCode, details: str, trailing_metadata: Sequence[tuple[str, Any]]
    ) -> NoReturn:
        """End the call with a status.

        Raises:
            CallAborted: always.
        """
        raise CallAborted(code.value[0], details, trailing_metadata)

    def uncancel(self) -> None:
        """Revert the cancellation of the task, so that it can send a response."""
        self._task.uncancel()

    def close(self) -> None:
        """End the call, whose response is sent."""
        self._timer.cancel()
        if self._watch is not None:
            self._watch.cancel()
        for callback in self._callbacks:
            callback(self)

    async def _read(self) -> bytes | None:
        while True:
            buffer = self._buffer
            if len(buffer) >= PREFIX_BYTES:
                is_compressed, size = read_prefix(buffer, self._max_bytes)
                end = PREFIX_BYTES + size
                if len(buffer) >= end:
                    message = bytes(buffer[PREFIX_BYTES:end])
                    self._buffer = buffer[end:]
                    self._has_message = True
                    self._watch_if_slow()
                    if not is_compressed:
                        return message
                    return decompress(message, self._encoding, self._max_bytes)
            if self._has_ended:
                if buffer:
                    raise InvalidFrameError(
                        grpc.StatusCode.INTERNAL, "the last message of the request is incomplete"
                    )
                return None
            event = await self._receive()
            if event["type"] == "http.disconnect":
                self.is_disconnected = True
                raise asyncio.CancelledError
            self._append(event["body"])
            self._has_ended = not event["more_body"]

    def _append(self, body: bytes) -> None:
        if not self._buffer:
            # Most requests are one piece, which needs no copy.
            self._buffer = body
            return
        if not isinstance(self._buffer, bytearray):
            self._buffer = bytearray(self._buffer)
        self._buffer += body

    def _start_timer(self) -> asyncio.TimerHandle:
        remaining = self.time_remaining()
        seconds = _WATCH_AFTER_SECONDS
        if remaining is not None and (self._is_slow or remaining < seconds):
            seconds = remaining
        return self._loop.call_later(max(seconds, 0), self._on_timer)

    def _on_timer(self) -> None:
        remaining = self.time_remaining()
        if remaining is not None and remaining <= 0:
            self.has_passed_deadline = True
            self._task.cancel()
            return
        self._is_slow = True
        self._watch_if_slow()
        if remaining is not None:
            self._timer = self._start_timer()

    def _watch_if_slow(self) -> None:
        """Watch a slow call unless its next read notices the end of the call."""
        is_read = self._has_ended or (self._is_single and self._has_message)
        if self._is_slow and is_read and self._watch is None:
            self._watch = self._loop.create_task(self._watch_peer())

    async def _watch_peer(self) -> None:
        """Cancel the task when the peer is gone; the rest of the request is dropped."""
        pause = _POLL_SECONDS
        # Servers may answer a read after the end of a request at once, with an empty body.
        while (await self._receive())["type"] != "http.disconnect":
            await asyncio.sleep(pause)
            pause = min(2 * pause, _MAX_POLL_SECONDS)
        self.is_disconnected = True
        self._task.cancel()
