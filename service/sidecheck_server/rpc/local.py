"""Transport of the Python client to services in the same process, without gRPC."""

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

_MAX_STREAMS: Final = 40_000
"""Maximum open streams and sessions; high, since the only caller is this process."""

_END: Final = object()


class LocalTransport:
    """Transport of a `sidecheck.Client` to *services*, with all errors of the API.

    The limits that protect a server from its peers do not apply. Both sides share the message
    objects, so neither may change them. *metrics* count verdicts; *trace* returns methods whose
    handlers create spans. A transport belongs to one event loop.
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
        transport_limits = TransportLimits(streams=_MAX_STREAMS, sessions=_MAX_STREAMS)
        streams = OpenStreams(ShutdownGate(), transport_limits, Counter())
        self._streams = streams
        servicers = create_servicers(services, registry, limits, streams, "local")
        self._methods = {
            (method.service, method.name): (method.handler, _LocalCall(metrics.of(method)))
            for method in trace(methods_of(servicers.items()))
        }
        self._closed = False

    @property
    def open_streams(self) -> int:
        """Number of open streams."""
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
        if not rpc.many_requests:
            handler = _accept_stream(handler)
        return _LocalStream(handler, call, timeout)

    async def close(self) -> None:
        """Reject further calls."""
        self._closed = True

    def _method(self, rpc: Rpc) -> tuple[Any, "_LocalCall"]:
        if self._closed:
            raise client_closed()
        return self._methods[rpc.service, rpc.name]


class _LocalCall:
    """Calls of one method from the same process; the caller enforces their deadlines."""

    peer = "in-process"
    metadata: Mapping[str, str] = MappingProxyType({})

    def __init__(self, metrics: MethodMetrics) -> None:
        self.observe = metrics.observe
        self.observe_error = metrics.observe_error

    def time_remaining(self) -> None:
        """Return None, for no deadline."""


def _accept_stream(handler: Callable[[Any, Any], AsyncIterator[Any]]) -> Any:
    """Return *handler*, which takes one request, as a handler of a stream of requests."""

    async def respond(requests: AsyncIterator[Any], call: _LocalCall) -> AsyncIterator[Any]:
        async for request in requests:
            async for response in handler(request, call):
                yield response
            return

    return respond


class _LocalStream:
    """A call of a streaming method, whose handler runs only during `read`."""

    def __init__(self, handler: Any, call: "_LocalCall", timeout: float | None) -> None:
        self._requests: asyncio.Queue[Any] = asyncio.Queue()
        self._responses: AsyncGenerator[Any, None] = handler(self._read_requests(), call)
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
        """Return the next response, or None after the last.

        Raises:
            SidecheckError: The call failed or was cancelled.
        """
        if not self._ended and self._deadline is not None and self._loop.time() >= self._deadline:
            # The timeout below does not end a handler that never waits.
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
        """Call *callback* when the call ends, with or without an error."""
        self._callbacks.append(callback)

    async def failure(self) -> SidecheckError | None:
        """Return the error that ended the call, or None."""
        return self._error

    def cancel(self) -> None:
        """Cancel the call."""
        if not self._ended:
            self._end(SidecheckError("CANCELLED", "the stream was cancelled"))

    async def _read_requests(self) -> AsyncIterator[Any]:
        while (message := await self._requests.get()) is not _END:
            yield message

    def _end(self, error: SidecheckError | None) -> None:
        self._ended, self._error = True, error
        # The last reference: the event loop closes the generator.
        del self._responses
        for callback in self._callbacks:
            callback()
