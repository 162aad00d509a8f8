"""Handlers of streaming methods, and the end of streams when the server stops."""

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

__all__ = ["OpenStreams", "read_item", "rpc_server_stream_handler", "rpc_stream_handler"]

_Item = TypeVar("_Item")

_log = structlog.get_logger("sidecheck.rpc")


# Decision 0019: a stream ends with UNAVAILABLE after the item in progress.
class OpenStreams:
    """Open streams: admits them within *limits*, and ends them when the server stops.

    *shed* counts the rejected streams by limit.
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
        """Numbers of open streams, by the name of their limit."""
        return self._open

    @property
    def open(self) -> int:
        """Number of open streams, sessions included."""
        return self._open["streams"]

    @contextmanager
    def admit(self, kind: str = "streams") -> Iterator[None]:
        """Count a stream of *kind*, the name of a limit, in the block.

        Raises:
            RequestError: SHUTTING_DOWN; OVERLOADED if the limit is reached.
        """
        with self.gate.admit():
            self._open[kind] += 1
            try:
                if self._open[kind] > getattr(self.limits, kind):
                    self._shed[kind] += 1
                    raise RequestError(
                        ErrorReason.OVERLOADED,
                        f"the limit of open {kind} is reached ({kind}); retry later",
                        {"bound": kind},
                    )
                yield
            finally:
                self._open[kind] -= 1

    async def until_stopped(self, items: AsyncIterator[_Item]) -> AsyncIterator[_Item]:
        """Yield *items*, an iterator that may wait at any time, until the server stops.

        Raises:
            RequestError: SHUTTING_DOWN if the server stops before the end of *items*.
        """
        task = asyncio.current_task()
        assert task is not None
        while not self._ended:
            # `end` cancels only tasks that wait for an item. A task that sends a response is
            # inside gRPC, and returns here next.
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
            # Released at once, since the wait for the next item may be long.
            del item
        raise RequestError(
            ErrorReason.SHUTTING_DOWN,
            "the server is shutting down; requests without a response may be retried",
        )

    def end(self) -> None:
        """End all streams, since idle ones would keep the server from stopping."""
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
    """Decorate *method*, which responds to each request of a stream, as a handler.

    The log has one event for each stream, at its end. An exception ends the stream, so *method*
    returns errors of single items as their outcomes.
    """

    @wraps(method)
    async def handler(
        servicer: _Servicer, requests: AsyncIterator[_Request], call: Call
    ) -> AsyncIterator[_Response]:
        streams, counter = servicer.streams, OutcomeCounter()
        responses = method(servicer, streams.until_stopped(requests))
        async with aclosing(_stream(responses, streams, call, counter, method.__name__)) as stream:
            async for response in stream:
                # A response without an outcome does not belong to an item.
                if response.HasField("outcome"):  # type: ignore[attr-defined]
                    counter.add(response.outcome)  # type: ignore[attr-defined]
                yield response

    return handler


def rpc_server_stream_handler(method: _ServerStreamMethod[_Servicer, _Request, _Response]) -> Any:
    """Decorate *method*, which yields responses to one request, as a handler.

    The log has one event for each stream, at its end. The stream ends when the server stops.
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
    """Counts the responses of a stream without items."""

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
    """Yield *responses* to *call*, and log the values of *counter*."""
    started = time.perf_counter()
    try:
        with streams.admit():
            async for response in responses:
                yield response
    except asyncio.CancelledError:
        gate_error = streams.gate.cancelled_call_error()
        if gate_error is None:
            raise
        call.observe_error(gate_error.reason)
        raise CallFailed(status_from_error(gate_error)) from None
    except CallFailed:
        raise
    except Exception as error:  # noqa: BLE001  (nothing unexpected may reach the client)
        call.observe_error(error.reason if isinstance(error, RequestError) else None)
        raise CallFailed(status_of(error, name)) from None
    finally:
        level, fields = counter.log_fields()
        call.observe(fields, counter.codes, counter.reasons)
        ms = round((time.perf_counter() - started) * 1000, 3)
        _log.log(level, "rpc.streamed", method=name, ms=ms, **fields)


def read_item(request: Any) -> Any:
    """Return the item in *request*, a message of a stream.

    Raises:
        RequestError: INVALID_REQUEST if *request* is unreadable, or has no item.
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
