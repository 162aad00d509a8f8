"""Streams: what every method of one does around its own work, and how they end."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from functools import wraps
from typing import Any, Protocol, TypeVar

import grpc
import structlog

from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.rpc.access_log import OutcomeCounter
from sidecheck_server.rpc.handler import status_of
from sidecheck_server.rpc.methods import refuse_unreadable
from sidecheck_server.rpc.shutdown_gate import ShutdownGate
from sidecheck_server.rpc.status import abort
from sidecheck_server.workers import CALLER

__all__ = ["Streams", "item_of", "rpc_stream_handler"]

_Request = TypeVar("_Request")

_log = structlog.get_logger("sidecheck.rpc")


class Streams:
    """The streams that are open."""

    def __init__(self) -> None:
        self._waiting: set[asyncio.Task[Any]] = set()
        self._ended = False

    async def requests(self, sent: AsyncIterator[_Request]) -> AsyncIterator[_Request]:
        """Yield what is *sent* in a stream, as long as streams are not ended.

        Raises:
            Refusal: SHUTTING_DOWN if they are.
        """
        task = asyncio.current_task()
        assert task is not None
        while not self._ended:
            # Only who waits for a request is cancelled. Whoever sends an answer is in the
            # hands of gRPC, and comes here next.
            self._waiting.add(task)
            try:
                request = await anext(sent)
            except StopAsyncIteration:
                return
            except asyncio.CancelledError:
                if not self._ended:
                    raise
                task.uncancel()
                break
            finally:
                self._waiting.discard(task)
            yield request
        said = "the server is stopping; what has no answer yet may be sent again"
        raise RequestError(ErrorReason.SHUTTING_DOWN, said)

    def end(self) -> None:
        """End all of them: idle ones would keep a server that stops from stopping."""
        self._ended = True
        for task in self._waiting:
            task.cancel()


class _HasStreams(Protocol):
    door: ShutdownGate
    streams: Streams


_Servicer = TypeVar("_Servicer", bound=_HasStreams)
_Response = TypeVar("_Response")
_Method = Callable[[_Servicer, AsyncIterator[_Request]], AsyncIterator[_Response]]


def rpc_stream_handler(method: _Method[_Servicer, _Request, _Response]) -> Any:
    """Make a handler for `add_service` out of *method*, which answers requests as they come.

    The stream is one event in the log, when it ends. A refusal ends it; those of single
    items *method* answers itself.
    """
    name = method.__name__

    @wraps(method)
    async def handler(
        servicer: _Servicer,
        requests: AsyncIterator[_Request],
        context: grpc.aio.ServicerContext[Any, Any],
    ) -> AsyncIterator[_Response]:
        CALLER.set(context.peer)
        started = time.perf_counter()
        tally = OutcomeCounter()
        try:
            servicer.door.enter()
            async for response in method(servicer, servicer.streams.requests(requests)):
                tally.add(response.outcome)  # type: ignore[attr-defined]
                yield response
        except Exception as error:  # noqa: BLE001  (the border: nothing of ours may pass it)
            await abort(context, status_of(error, name))
        finally:
            level, facts = tally.told()
            ms = round((time.perf_counter() - started) * 1000, 3)
            _log.log(level, "rpc.streamed", method=name, ms=ms, **facts)

    return handler


def item_of(request: Any) -> Any:
    """Return the item in *request*, a message of a stream that has items after its defaults.

    Raises:
        Refusal: INVALID_REQUEST if it is no message, or holds none.
    """
    refuse_unreadable(request)
    match request.WhichOneof("message"):
        case "item":
            return request.item
        case "defaults":
            said = "only the first message of a stream may give its defaults"
        case _:
            said = "the message holds neither an item nor defaults"
    raise RequestError(ErrorReason.INVALID_REQUEST, said, {"field": "message"})
