"""Handlers of streaming methods, and how streams end when the server stops."""

import asyncio
import logging
import time
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator, Mapping
from contextlib import aclosing, contextmanager
from functools import wraps
from types import MappingProxyType
from typing import Any, Protocol, TypeVar

import structlog

from sidecheck_server.config.transport_limits import TransportLimits
from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.rpc.access_log import OutcomeCounter
from sidecheck_server.rpc.calls import Call, CallFailed
from sidecheck_server.rpc.handler import status_of
from sidecheck_server.rpc.method_table import raise_if_unreadable
from sidecheck_server.rpc.shutdown_gate import ShutdownGate
from sidecheck_server.rpc.status import status_from_error

__all__ = ["OpenStreams", "item_of", "rpc_server_stream_handler", "rpc_stream_handler"]

_Item = TypeVar("_Item")

_log = structlog.get_logger("sidecheck.rpc")


class OpenStreams:
    """The streams that are open: as many as *limits* admit, and ended when the server stops.

    Those beyond the limits are counted in *shed*, by the limit.
    """

    def __init__(self, gate: ShutdownGate, limits: TransportLimits, shed: Counter[str]) -> None:
        self.gate = gate
        self.limits = limits
        self._shed = shed
        self._open: Counter[str] = Counter()
        self._waiting: set[asyncio.Task[Any]] = set()
        self._ended = False

    @property
    def open_by_kind(self) -> Mapping[str, int]:
        """How many are open, by the name of the limit."""
        return self._open

    @property
    def open(self) -> int:
        """How many streams are open, those of sessions included."""
        return self._open["streams"]

    @contextmanager
    def admit(self, kind: str = "streams") -> Iterator[None]:
        """Count a stream of *kind*, the name of a limit, in the block.

        Raises:
            RequestError: SHUTTING_DOWN; OVERLOADED if as many are open as the limit says.
        """
        with self.gate.admit():
            self._open[kind] += 1
            try:
                if self._open[kind] > getattr(self.limits, kind):
                    self._shed[kind] += 1
                    raise RequestError(
                        ErrorReason.OVERLOADED,
                        f"as many {kind} are open as the server admits ({kind}); retry later",
                        {"bound": kind},
                    )
                yield
            finally:
                self._open[kind] -= 1

    async def until_stopped(self, items: AsyncIterator[_Item]) -> AsyncIterator[_Item]:
        """Yield *items*, of which there may be another at any time, until the server stops.

        Raises:
            RequestError: SHUTTING_DOWN if the server ends first.
        """
        task = asyncio.current_task()
        assert task is not None
        while not self._ended:
            # Only tasks that wait for an item are cancelled. A task that sends a response
            # is in the hands of gRPC, and returns here next.
            self._waiting.add(task)
            try:
                item = await anext(items)
            except StopAsyncIteration:
                return
            except asyncio.CancelledError:
                if not self._ended:
                    raise
                task.uncancel()
                break
            finally:
                self._waiting.discard(task)
            yield item
            # The next may take long to come.
            del item
        raise RequestError(
            ErrorReason.SHUTTING_DOWN,
            "the server is shutting down; requests without a response may be retried",
        )

    def end(self) -> None:
        """End all streams: idle ones would keep the server from stopping."""
        self._ended = True
        for task in self._waiting:
            task.cancel()


class _HasStreams(Protocol):
    streams: OpenStreams


_Servicer = TypeVar("_Servicer", bound=_HasStreams)
_Request = TypeVar("_Request")
_Response = TypeVar("_Response")
_BidiMethod = Callable[[_Servicer, AsyncIterator[_Request]], AsyncIterator[_Response]]
_ServerStreamMethod = Callable[[_Servicer, _Request], AsyncIterator[_Response]]


def rpc_stream_handler(method: _BidiMethod[_Servicer, _Request, _Response]) -> Any:
    """Decorate *method*, which responds to each request of a stream, for a `Method`.

    A stream is one event in the log, when it ends. An exception ends it; *method* turns
    the errors of single items into outcomes.
    """

    @wraps(method)
    async def handler(
        servicer: _Servicer, requests: AsyncIterator[_Request], call: Call
    ) -> AsyncIterator[_Response]:
        streams, counter = servicer.streams, OutcomeCounter()
        responses = method(servicer, streams.until_stopped(requests))
        async with aclosing(_stream(responses, streams, call, counter, method.__name__)) as stream:
            async for response in stream:
                # A response without an outcome is to no item.
                if response.HasField("outcome"):  # type: ignore[attr-defined]
                    counter.add(response.outcome)  # type: ignore[attr-defined]
                yield response

    return handler


def rpc_server_stream_handler(method: _ServerStreamMethod[_Servicer, _Request, _Response]) -> Any:
    """Decorate *method*, which yields responses to a request as they come, for a `Method`.

    A stream is one event in the log, when it ends, as it does when the server stops.
    """

    @wraps(method)
    async def handler(
        servicer: _Servicer, request: _Request, call: Call
    ) -> AsyncIterator[_Response]:
        streams = servicer.streams

        async def respond() -> AsyncIterator[_Response]:
            raise_if_unreadable(request)
            async for response in streams.until_stopped(method(servicer, request)):
                yield response

        counter = _ResponseCounter()
        async with aclosing(_stream(respond(), streams, call, counter, method.__name__)) as stream:
            async for response in stream:
                counter.responses += 1
                yield response

    return handler


class _ResponseCounter:
    """Counts the responses of a stream, none of which is to an item."""

    codes: Mapping[str, int] = MappingProxyType({})
    reasons: Mapping[str, int] = MappingProxyType({})

    def __init__(self) -> None:
        self.responses = 0

    def log_fields(self) -> tuple[int, dict[str, Any]]:
        """Return the level at which the stream is logged, and the count."""
        return logging.DEBUG, {"responses": self.responses}


async def _stream(
    responses: AsyncIterator[_Response],
    streams: OpenStreams,
    call: Call,
    counter: OutcomeCounter | _ResponseCounter,
    name: str,
) -> AsyncGenerator[_Response, None]:
    """Yield *responses* to *call* of the method *name*; *counter* has what is logged of them."""
    started = time.perf_counter()
    try:
        with streams.admit():
            async for response in responses:
                yield response
    except asyncio.CancelledError:
        ended = streams.gate.cancelled_call_error()
        if ended is None:
            raise
        call.observe_error(ended.reason)
        raise CallFailed(status_from_error(ended)) from None
    except Exception as error:  # noqa: BLE001  (nothing unexpected may reach the client)
        call.observe_error(error.reason if isinstance(error, RequestError) else None)
        raise CallFailed(status_of(error, name)) from None
    finally:
        level, fields = counter.log_fields()
        call.observe(fields, counter.codes, counter.reasons)
        ms = round((time.perf_counter() - started) * 1000, 3)
        _log.log(level, "rpc.streamed", method=name, ms=ms, **fields)


def item_of(request: Any) -> Any:
    """Return the item in *request*, a message of a stream that has defaults and then items.

    Raises:
        RequestError: INVALID_REQUEST if it is not a message, or has no item.
    """
    raise_if_unreadable(request)
    match request.WhichOneof("message"):
        case "item":
            return request.item
        case "defaults":
            message = "defaults may only be sent in the first message of a stream"
        case _:
            message = "the message has neither an item nor defaults"
    raise RequestError(ErrorReason.INVALID_REQUEST, message, {"field": "message"})
