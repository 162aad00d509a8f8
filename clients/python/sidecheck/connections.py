"""Connections to a server: how calls are made, conversations held and streams opened."""

from collections.abc import Iterator
from functools import partial
from typing import Any, TypeVar

import grpc.aio

from sidecheck.channels import channel_options, channel_target
from sidecheck.client_streams import BlockingClientStream, ClientStream
from sidecheck.conversations import Call, Conversation, Value
from sidecheck.errors import SidecheckError
from sidecheck.exchanges import Exchange, Kind
from sidecheck.streams import BlockingStream, Stream
from sidecheck.wire import rpcs
from sidecheck.wire.responses import call_refusal

__all__ = ["BlockingConnection", "Connection"]

ItemT = TypeVar("ItemT")
OutcomeT = TypeVar("OutcomeT")


class Connection:
    """A connection for the tasks of one event loop: the one that runs at the first call.

    Raises:
        ValueError: *address* is none.
    """

    def __init__(self, address: str) -> None:
        self._target = channel_target(address)
        self._channel: grpc.aio.Channel | None = None

    async def hold(self, conversation: Conversation[Value]) -> Value:
        """Make the calls of *conversation* and return its value."""
        try:
            call = next(conversation)
            while True:
                try:
                    response = await self._send(call)
                except grpc.RpcError as error:
                    call = conversation.throw(call_refusal(error))
                else:
                    call = conversation.send(response)
        except StopIteration as end:
            value: Value = end.value
            return value

    def stream(
        self,
        kind: Kind[ItemT, OutcomeT],
        opening: Conversation[Exchange[ItemT, OutcomeT]],
        outstanding: int,
        timeout: float | None,
    ) -> Stream[ItemT, OutcomeT | SidecheckError]:
        """Return a stream that begins with the conversation *opening* when it is entered."""
        return ClientStream(
            partial(self.hold, opening), partial(self._start, kind.rpc, timeout), outstanding
        )

    async def close(self) -> None:
        """Close the connection; calls under way are cancelled."""
        if self._channel is not None:
            await self._channel.close()

    async def _send(self, call: Call) -> object:
        rpc = call.rpc
        send = self._open_channel().unary_unary(
            rpc.path, rpc.request.SerializeToString, rpc.response.FromString
        )
        pending = send(call.request, timeout=call.timeout)
        try:
            return await pending
        finally:
            # An abandoned call would run on to its deadline; a finished one minds nothing.
            pending.cancel()

    def _start(
        self, rpc: rpcs.Rpc[Any, Any], timeout: float | None
    ) -> "grpc.aio.StreamStreamCall[Any, Any]":
        start = self._open_channel().stream_stream(
            rpc.path, rpc.request.SerializeToString, rpc.response.FromString
        )
        return start(timeout=timeout)

    def _open_channel(self) -> grpc.aio.Channel:
        if self._channel is None:
            # Made here because a channel belongs to the loop that runs when it is made.
            self._channel = grpc.aio.insecure_channel(
                self._target, options=channel_options(self._target)
            )
        return self._channel


class BlockingConnection:
    """A connection for threads that wait; in all else a `Connection`."""

    def __init__(self, address: str) -> None:
        target = channel_target(address)
        self._channel = grpc.insecure_channel(target, options=channel_options(target))

    def hold(self, conversation: Conversation[Value]) -> Value:
        """Make the calls of *conversation* and return its value."""
        try:
            call = next(conversation)
            while True:
                try:
                    response = self._send(call)
                except grpc.RpcError as error:
                    call = conversation.throw(call_refusal(error))
                else:
                    call = conversation.send(response)
        except StopIteration as end:
            value: Value = end.value
            return value

    def stream(
        self,
        kind: Kind[ItemT, OutcomeT],
        opening: Conversation[Exchange[ItemT, OutcomeT]],
        outstanding: int,
        timeout: float | None,
    ) -> BlockingStream[ItemT, OutcomeT | SidecheckError]:
        """Return a stream that begins with the conversation *opening* when it is entered."""
        return BlockingClientStream(
            partial(self.hold, opening), partial(self._start, kind.rpc, timeout), outstanding
        )

    def close(self) -> None:
        """Close the connection; calls under way are cancelled."""
        self._channel.close()

    def _send(self, call: Call) -> object:
        rpc = call.rpc
        send = self._channel.unary_unary(
            rpc.path, rpc.request.SerializeToString, rpc.response.FromString
        )
        return send(call.request, timeout=call.timeout)

    def _start(
        self, rpc: rpcs.Rpc[Any, Any], timeout: float | None, messages: Iterator[Any]
    ) -> Any:
        start = self._channel.stream_stream(
            rpc.path, rpc.request.SerializeToString, rpc.response.FromString
        )
        return start(messages, timeout=timeout)
