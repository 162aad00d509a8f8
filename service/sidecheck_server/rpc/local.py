"""Transport of the Python client to services in the same process: messages, without gRPC."""

# ruff: noqa: ASYNC109  (a timeout here is the deadline of the call)

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any, Final

from google.protobuf.message import Message
from sidecheck import SidecheckError
from sidecheck.wire.errors import client_closed, deadline_exceeded, decode_item_error
from sidecheck.wire.rpcs import Rpc, find_rpc

from sidecheck_server.config.transport_limits import TransportLimits
from sidecheck_server.core.limits import Limits
from sidecheck_server.registry import Registry
from sidecheck_server.rpc.call_metrics import CallMetrics, MethodMetrics
from sidecheck_server.rpc.calls import CallFailed
from sidecheck_server.rpc.method_table import Method, message_of, methods_of
from sidecheck_server.rpc.servicers import create_servicers
from sidecheck_server.rpc.shutdown_gate import ShutdownGate
from sidecheck_server.rpc.streams import OpenStreams
from sidecheck_server.services.container import Services

__all__ = ["LocalTransport"]

_MOST: Final = 40_000
"""Streams and sessions that may be open: the caller is the process itself."""

_END: Final = object()


class LocalTransport:
    """Carries the calls of a `sidecheck.Client` to *services*, with all errors of the API.

    The limits that protect a server from its peers do not apply. Messages are handed over as
    they are, so neither side may change them. Verdicts are counted in *metrics*; *trace* returns
    methods with handlers that make spans. Belongs to one event loop.
    """

    def __init__(
        self,
        services: Services,
        registry: Registry,
        limits: Limits,
        metrics: CallMetrics | None = None,
        trace: Callable[[Iterable[Method]], Iterable[Method]] = lambda methods: methods,
    ) -> None:
        metrics = metrics or CallMetrics()
        transport_limits = TransportLimits(streams=_MOST, sessions=_MOST)
        streams = OpenStreams(ShutdownGate(), transport_limits, Counter())
        self._streams = streams
        servicers = create_servicers(services, registry, limits, streams)
        self._methods = {
            (method.service, method.name): (method.handler, _LocalCall(metrics.of(method)))
            for method in trace(methods_of(servicers.items()))
        }
        self._closed = False

    @property
    def open_streams(self) -> int:
        """How many streams are open."""
        return self._streams.open

    async def call(self, request: Message, timeout: float) -> Any:
        """Return the response to *request*.

        Raises:
            SidecheckError: The call failed.
        """
        handler, call = self._method(find_rpc(type(request)))
        try:
            async with asyncio.timeout(timeout):
                return message_of(await handler(request, call))
        except CallFailed as failed:
            raise decode_item_error(failed.status) from None
        except TimeoutError:
            raise deadline_exceeded() from None

    def stream(self, rpc: Rpc, timeout: float | None) -> "_LocalStream":
        """Start a stream.

        Raises:
            SidecheckError: The transport is closed.
        """
        handler, call = self._method(rpc)
        return _LocalStream(handler if rpc.many_requests else _with_one(handler), call, timeout)

    async def close(self) -> None:
        """Accept no more calls."""
        self._closed = True

    def _method(self, rpc: Rpc) -> tuple[Any, "_LocalCall"]:
        if self._closed:
            raise client_closed()
        return self._methods[rpc.service, rpc.name]


class _LocalCall:
    """Calls of one method from the same process; their tasks end at their deadlines."""

    peer = "in-process"
    metadata: Mapping[str, str] = MappingProxyType({})

    def __init__(self, metrics: MethodMetrics) -> None:
        self.observe = metrics.observe
        self.observe_error = metrics.observe_error

    def time_remaining(self) -> None:
        """Return None."""


def _with_one(handler: Callable[[Any, Any], AsyncIterator[Any]]) -> Any:
    """Return *handler*, of a method with one request, as one of a stream of requests."""

    async def respond(requests: AsyncIterator[Any], call: _LocalCall) -> AsyncIterator[Any]:
        async for request in requests:
            async for response in handler(request, call):
                yield response
            return

    return respond


class _LocalStream:
    """The call of a stream. The handler runs while a response is read."""

    def __init__(self, handler: Any, call: "_LocalCall", timeout: float | None) -> None:
        self._requests: asyncio.Queue[Any] = asyncio.Queue()
        self._responses: AsyncGenerator[Any, None] = handler(self._sent(), call)
        self._loop = asyncio.get_running_loop()
        self._deadline = None if timeout is None else self._loop.time() + timeout
        self._ended = False
        self._error: SidecheckError | None = None
        self._callbacks: list[Callable[[], None]] = []

    async def write(self, message: Message) -> None:
        """Send *message*. If the call has ended, `read` raises the error."""
        self._requests.put_nowait(message)

    async def finish(self) -> None:
        """Half-close the call: no more messages follow."""
        self._requests.put_nowait(_END)

    async def read(self) -> Any:
        """Return the next response, None after the last.

        Raises:
            SidecheckError: The call failed or was cancelled.
        """
        if not self._ended and self._deadline is not None and self._loop.time() >= self._deadline:
            # A handler that never waits would not notice.
            self._end(deadline_exceeded())
        if not self._ended:
            try:
                async with asyncio.timeout_at(self._deadline):
                    return await anext(self._responses)
            except StopAsyncIteration:
                self._end(None)
            except CallFailed as failed:
                self._end(decode_item_error(failed.status))
            except TimeoutError:
                self._end(deadline_exceeded())
        if self._error is not None:
            raise self._error
        return None

    def notify(self, callback: Callable[[], None]) -> None:
        """Call *callback* when the call ends, however it ends."""
        self._callbacks.append(callback)

    async def failure(self) -> SidecheckError | None:
        """Return why the call ended, None if it ended without an error."""
        return self._error

    def cancel(self) -> None:
        """Cancel the call."""
        if not self._ended:
            self._end(SidecheckError("CANCELLED", "the stream was cancelled"))

    async def _sent(self) -> AsyncIterator[Any]:
        while (message := await self._requests.get()) is not _END:
            yield message

    def _end(self, error: SidecheckError | None) -> None:
        self._ended, self._error = True, error
        # The event loop closes the generator, which nothing else refers to.
        del self._responses
        for callback in self._callbacks:
            callback()
