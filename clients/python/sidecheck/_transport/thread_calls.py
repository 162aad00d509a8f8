"""Channels, calls and streams of `grpc`.

`sidecheck._transport.task_calls` has the same interface with ``await``.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from queue import SimpleQueue as Queue
from time import monotonic
from typing import Any

import grpc
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


class Channel:
    """A channel for any number of threads. It must not be opened before a fork.

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
        target = channel_target(address)
        self._metadata = call_metadata(token)
        if token is not None and not token_without_tls:
            check_token_address(target, tls)
        credentials = channel_credentials(tls)
        self.peer = Peer(address, tls is not None, tls.server_name if tls is not None else "")
        options = channel_options(target, tls)
        if credentials is None:
            self._channel = grpc.insecure_channel(target, options=options)
        else:
            self._channel = grpc.secure_channel(target, credentials, options=options)
        self._closed = False

    def call(self, request: Message, timeout: float) -> Any:
        """Return the response to *request*.

        Raises:
            SidecheckError: The call failed.
        """
        rpc = find_rpc(type(request))
        # Without a deserializer, since `decode_message` describes the fault of a response.
        send: grpc.UnaryUnaryMultiCallable[Any, bytes | None] = self._channel.unary_unary(
            rpc.path, rpc.request.SerializeToString
        )
        metadata = self._metadata()
        deadline = monotonic() + timeout
        remaining = timeout
        while True:
            try:
                with self._convert_closed():
                    response = send(request, timeout=remaining, metadata=metadata)
                return decode_message(response, rpc.response)
            except grpc.RpcError as error:
                remaining = deadline - monotonic()
                if self._closed or remaining <= 0 or not is_refused(error):
                    raise self.decode_error(error) from None

    def stream(self, rpc: Rpc, timeout: float | None) -> "StreamCall":
        """Start a stream.

        Raises:
            SidecheckError: The channel is closed.
        """
        start: grpc.StreamStreamMultiCallable[Any, bytes] = self._channel.stream_stream(
            rpc.path, rpc.request.SerializeToString
        )
        metadata = self._metadata()
        with self._convert_closed():
            return StreamCall(self, rpc, partial(start, timeout=timeout, metadata=metadata))

    def close(self) -> None:
        """Close the channel; pending calls fail."""
        self._closed = True
        self._channel.close()

    def decode_error(self, error: grpc.RpcError) -> SidecheckError:
        """Return the error of a failed call."""
        if self._closed and error.code() is grpc.StatusCode.CANCELLED:
            return client_closed()
        return decode_call_error(error, self.peer)

    @contextmanager
    def _convert_closed(self) -> Iterator[None]:
        """Convert the `ValueError` that gRPC raises for a closed channel."""
        try:
            yield
        except ValueError:
            # Payloads were encoded before, so that their errors do not occur here.
            if self._closed:
                raise client_closed() from None
            raise


class StreamCall:
    """The call of a stream. A thread of gRPC sends the messages."""

    def __init__(self, channel: Channel, rpc: Rpc, start: Callable[[Iterator[Any]], Any]) -> None:
        self._channel = channel
        self._rpc = rpc
        #: Messages to send; None ends them.
        self._messages: Queue[Message | None] = Queue()
        self._cancelled = False
        self._call = start(iter(self._messages.get, None))

    def write(self, message: Message) -> None:
        """Send *message*. If the call has ended, `read` raises the error."""
        self._messages.put(message)

    def finish(self) -> None:
        """Half-close the call: no more messages follow."""
        self._messages.put(None)

    def read(self) -> Any:
        """Return the next response, or None after the last.

        Raises:
            SidecheckError: The call failed or was cancelled.
        """
        try:
            response = next(self._call)
        except StopIteration:
            return None
        except grpc.RpcError as error:
            raise self._decode_error(error) from None
        return decode_message(response, self._rpc.response)

    def notify(self, callback: Callable[[], None]) -> None:
        """Call *callback* when the call ends, in a thread of gRPC."""
        self._call.add_done_callback(lambda _: callback())

    def failure(self) -> SidecheckError | None:
        """Return the error that ended the call, or None if the server ended it regularly."""
        is_ok = self._call.code() is grpc.StatusCode.OK
        return None if is_ok else self._decode_error(self._call)

    def _decode_error(self, error: grpc.RpcError) -> SidecheckError:
        if self._cancelled and error.code() is grpc.StatusCode.CANCELLED:
            return SidecheckError("CANCELLED", "the stream was cancelled")
        return self._channel.decode_error(error)

    def cancel(self) -> None:
        """Cancel the call."""
        self._cancelled = True
        self._call.cancel()
        self._messages.put(None)
