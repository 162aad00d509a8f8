"""The blocking client."""

from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

import grpc

from sidecheck.channels import channel_options, channel_target
from sidecheck.client_streams import BlockingClientStream
from sidecheck.conversations import Call, Conversation, Conversations, OnUnavailable, Value
from sidecheck.info import ServerInfo
from sidecheck.items import Item
from sidecheck.options import Options
from sidecheck.streams import OUTSTANDING, BlockingStream
from sidecheck.targets import Target, ToolDefinition, ToolJson
from sidecheck.tools import Deletion, OnChange, Registration, Tool
from sidecheck.validators import BlockingValidator
from sidecheck.verdicts import Verdict
from sidecheck.wire import rpcs
from sidecheck.wire.responses import Judgement, call_refusal

__all__ = ["BlockingClient"]


class BlockingClient(BlockingValidator):
    """Asks a server while the caller waits; in all else a `Client`.

    One client serves any number of threads. It must not be made before a fork.

    Raises:
        ValueError: An argument is none that `Client` takes.
    """

    def __init__(
        self, address: str, *, timeout: float = 2.0, on_unavailable: OnUnavailable = "raise"
    ) -> None:
        target = channel_target(address)
        self._conversations = Conversations(timeout, on_unavailable)
        self._channel = grpc.insecure_channel(target, options=channel_options(target))

    def validate_batch(
        self,
        items: Iterable[Item],
        *,
        target: Target | None = None,
        options: Options | None = None,
        timeout: float | None = None,
    ) -> list[Judgement]:
        """Judge many payloads and answer in their order; see `Validator.validate_batch`."""
        return self._hold(self._conversations.validate_batch(items, target, options, timeout))

    def stream(
        self,
        *,
        target: Target | None = None,
        options: Options | None = None,
        outstanding: int = OUTSTANDING,
        timeout: float | None = None,
    ) -> BlockingStream:
        """Return a stream, to be entered with ``with``; see `Client.stream`."""
        exchange = partial(self._hold, self._conversations.stream(target, options, None))
        return BlockingClientStream(exchange, partial(self._start, timeout), outstanding)

    def register(
        self,
        server: str,
        tools: Iterable[ToolDefinition | ToolJson],
        *,
        replace: bool = False,
        on_change: OnChange = "accept",
        validate_only: bool = False,
        timeout: float = 30.0,
    ) -> Registration:
        """Register the tools of *server*; see `Client.register`."""
        return self._hold(
            self._conversations.register(
                server,
                tools,
                replace=replace,
                on_change=on_change,
                validate_only=validate_only,
                timeout=timeout,
            )
        )

    def get(self, server: str, name: str, *, timeout: float | None = None) -> Tool:
        """Return a registered tool; see `Client.get`."""
        return self._hold(self._conversations.get(server, name, timeout))

    def delete(
        self, server: str, names: Iterable[str], *, timeout: float | None = None
    ) -> Deletion:
        """Remove the tools of *server* that are called *names*; see `Client.delete`."""
        return self._hold(self._conversations.delete(server, names, timeout))

    def delete_all(self, server: str, *, timeout: float | None = None) -> Deletion:
        """Remove every tool of *server*; see `Client.delete_all`."""
        return self._hold(self._conversations.delete(server, None, timeout))

    def info(self, *, timeout: float | None = None) -> ServerInfo:
        """Return what the server is and what it accepts; see `Client.info`."""
        return self._hold(self._conversations.info(timeout))

    def list(self, server: str | None = None, *, timeout: float | None = None) -> Iterator[Tool]:
        """Yield the registered tools, of one server or of all; see `Client.list`."""
        for page in self._conversations.pages(server, timeout):
            yield from self._hold(page)

    def close(self) -> None:
        """Close the connection; calls under way are cancelled."""
        self._channel.close()

    def _judge(self, item: Item, timeout: float | None) -> Verdict:
        return self._hold(self._conversations.validate(item, timeout))

    def _hold(self, conversation: Conversation[Value]) -> Value:
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

    def _send(self, call: Call) -> object:
        rpc = call.rpc
        send = self._channel.unary_unary(
            rpc.path, rpc.request.SerializeToString, rpc.response.FromString
        )
        return send(call.request, timeout=call.timeout)

    def _start(self, timeout: float | None, messages: Iterator[Any]) -> Any:
        rpc = rpcs.VALIDATE_STREAM
        start = self._channel.stream_stream(
            rpc.path, rpc.request.SerializeToString, rpc.response.FromString
        )
        return start(messages, timeout=timeout)
