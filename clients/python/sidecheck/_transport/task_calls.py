"""Channels, calls and streams of `grpc.aio`.

`sidecheck._transport.thread_calls` has the same interface without ``await``.
"""

# ruff: noqa: ASYNC109  (a timeout here is the deadline that the call carries to the server)

import asyncio
from collections.abc import Callable
from contextlib import suppress
from time import monotonic
from typing import Any, Final

import grpc.aio
from google.protobuf.message import Message

from sidecheck._transport.channels import (
    channel_credentials,
    channel_options,
    channel_target,
    is_refused,
)
from sidecheck._transport.tokens import Token, call_metadata, check_token_address
from sidecheck.errors import SidecheckError
from sidecheck.tls import Tls
from sidecheck.wire.connection_failures import Peer
from sidecheck.wire.errors import client_closed, decode_call_error, decode_message
from sidecheck.wire.rpcs import Rpc, find_rpc

__all__ = ["Channel", "StreamCall"]

#: Details of the status that gRPC reports instead of the server's own if a write fails
#: because the call has ended (grpc/grpc#36066).
WRITE_FAILED: Final = "Internal error from Core"


class Channel:
    """A channel for one event loop: the one that runs at the first call.

    Raises:
        OSError: A file of *tls* cannot be read.
        TypeError: *tls* or *token* is of another type.
        ValueError: *address* or *token* is invalid, or a certificate or key of *tls*; or the
            token would cross a network in plain text, without *token_without_tls*.
    """

    def __init__(
        self,
        address: str,
        tls: Tls | None = None,
        token: Token | None = None,
        *,
        token_without_tls: bool = False,
    ) -> None:
        self._target = channel_target(address)
        self._credentials = channel_credentials(tls)
        self._options = channel_options(self._target, tls)
        self._metadata = call_metadata(token)
        self.peer = Peer(address, tls is not None, tls.server_name if tls is not None else "")
        if token is not None and not token_without_tls:
            check_token_address(self._target, tls)
        self._channel: grpc.aio.Channel | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._closed = False

    async def call(self, request: Message, timeout: float) -> Any:
        """Return the response to *request*.

        Raises:
            SidecheckError: The call failed.
            RuntimeError: The channel belongs to another event loop.
        """
        rpc = find_rpc(type(request))
        # Without a deserializer, since gRPC converts its errors to the response None.
        send: grpc.aio.UnaryUnaryMultiCallable[Any, bytes | None] = self._open().unary_unary(
            rpc.path, rpc.request.SerializeToString
        )
        metadata = self._metadata()
        deadline = monotonic() + timeout
        remaining = timeout
        while True:
            pending = send(request, timeout=remaining, metadata=metadata)
            try:
                return decode_message(await pending, rpc.response)
            except grpc.RpcError as error:
                remaining = deadline - monotonic()
                if self._closed or remaining <= 0 or not is_refused(error):
                    raise self.decode_error(error) from None
            except asyncio.CancelledError:
                if is_cancelling() or not self._closed:
                    raise
                raise client_closed() from None
            finally:
                # Without this, an abandoned call would run until its deadline. A finished call
                # ignores it.
                pending.cancel()

    def stream(self, rpc: Rpc, timeout: float | None) -> "StreamCall":
        """Start a stream.

        Raises:
            SidecheckError: The channel is closed.
            RuntimeError: The channel belongs to another event loop.
        """
        start: grpc.aio.StreamStreamMultiCallable[Any, bytes] = self._open().stream_stream(
            rpc.path, rpc.request.SerializeToString
        )
        return StreamCall(self, rpc, start(timeout=timeout, metadata=self._metadata()))

    async def close(self) -> None:
        """Close the channel; pending calls fail.

        Raises:
            RuntimeError: The channel belongs to another event loop that is still in use.
        """
        if self._loop is not None and self._loop.is_closed():
            # All calls ended with their loop, and a closed loop cannot await the channel.
            self._channel = None
        if self._channel is not None:
            self._check_loop()
        self._closed = True
        if self._channel is not None:
            await self._channel.close()

    def decode_error(self, error: grpc.RpcError) -> SidecheckError:
        """Return the error of a failed call."""
        if self._closed and error.code() is grpc.StatusCode.CANCELLED:
            return client_closed()
        return decode_call_error(error, self.peer)

    @property
    def closed(self) -> bool:
        """Whether the channel was closed."""
        return self._closed

    def _open(self) -> grpc.aio.Channel:
        if self._closed:
            raise client_closed()
        if self._channel is None:
            # Opened on first use, because a channel belongs to the running event loop.
            self._loop = asyncio.get_running_loop()
            if self._credentials is None:
                self._channel = grpc.aio.insecure_channel(self._target, options=self._options)
            else:
                self._channel = grpc.aio.secure_channel(
                    self._target, self._credentials, options=self._options
                )
        self._check_loop()
        return self._channel

    def _check_loop(self) -> None:
        if self._loop is not asyncio.get_running_loop():
            raise RuntimeError(
                "this client belongs to another event loop, that of its first call;"
                " create a client in each event loop, inside of asyncio.run, for example"
            )


def is_cancelling() -> bool:
    """Return whether the current task was cancelled, not only the awaited call."""
    task = asyncio.current_task()
    return task is None or task.cancelling() > 0


class StreamCall:
    """The call of a stream.

    An abandoned call is never garbage-collected (grpc/grpc#43462), so it must be cancelled.
    As always in `grpc.aio`, cancelling a task that writes or reads cancels the call.
    """

    def __init__(
        self, channel: Channel, rpc: Rpc, call: "grpc.aio.StreamStreamCall[Any, Any]"
    ) -> None:
        self._channel = channel
        self._rpc = rpc
        self._call = call
        self._responses = aiter(call)
        self._status: grpc.aio.AioRpcError | None = None
        call.add_done_callback(self._save_status)

    async def write(self, message: Message) -> None:
        """Send *message*. If the call has ended, `read` raises the error."""
        with suppress(grpc.RpcError, asyncio.InvalidStateError):
            await self._call.write(message)

    async def finish(self) -> None:
        """Half-close the call: no more messages follow."""
        with suppress(grpc.RpcError, asyncio.InvalidStateError):
            await self._call.done_writing()

    async def read(self) -> Any:
        """Return the next response, or None after the last.

        Raises:
            SidecheckError: The call failed or was cancelled.
        """
        try:
            response = await anext(self._responses)
        except StopAsyncIteration:
            return None
        except grpc.aio.AioRpcError as error:
            status = await self._server_status(error)
            if status.code() is grpc.StatusCode.OK:
                # The server ended the call while a message was being written.
                return None
            raise self._channel.decode_error(status) from None
        except asyncio.CancelledError:
            if is_cancelling():
                raise
            raise self._cancellation() from None
        return decode_message(response, self._rpc.response)

    def notify(self, callback: Callable[[], None]) -> None:
        """Call *callback* when the call ends, with or without an error."""
        self._call.add_done_callback(lambda _: callback())

    async def failure(self) -> SidecheckError | None:
        """Return the error that ended the call, or None if the server ended it regularly."""
        if self._call.cancelled():
            return self._cancellation()
        status = await self._server_status(await read_status(self._call))
        is_ok = status.code() is grpc.StatusCode.OK
        return None if is_ok else self._channel.decode_error(status)

    def cancel(self) -> None:
        """Cancel the call."""
        self._call.cancel()

    def _cancellation(self) -> SidecheckError:
        if self._channel.closed:
            return client_closed()
        # The stream was left, or a task was cancelled while it wrote or read.
        return SidecheckError("CANCELLED", "the stream was cancelled")

    def _save_status(self, call: "grpc.aio.StreamStreamCall[Any, Any]") -> None:
        # Saved at once, before a failing write replaces it. The call is done, so the
        # coroutine returns without waiting.
        try:
            read_status(call).send(None)
        except StopIteration as end:
            self._status = end.value

    async def _server_status(self, error: grpc.aio.AioRpcError) -> grpc.aio.AioRpcError:
        if error.details() != WRITE_FAILED:
            return error
        if self._status is not None and self._status.details() != WRITE_FAILED:
            return self._status
        # The status of the server arrives after the failure of the write, if at all.
        for _ in range(20):
            await asyncio.sleep(0.01)
            error = await read_status(self._call)
            if error.details() != WRITE_FAILED:
                return error
        # The call has ended, and neither the server nor the message is known to be at fault.
        return grpc.aio.AioRpcError(
            grpc.StatusCode.UNAVAILABLE,
            error.initial_metadata(),
            error.trailing_metadata(),
            details="the call ended while a message was sent, and its status is not known",
        )


async def read_status(call: "grpc.aio.StreamStreamCall[Any, Any]") -> grpc.aio.AioRpcError:
    """Wait until *call* is done, and return its status."""
    return grpc.aio.AioRpcError(
        await call.code(),
        await call.initial_metadata(),
        await call.trailing_metadata(),
        await call.details(),
    )
