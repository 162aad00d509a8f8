"""Streams to a server, asynchronous and blocking."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from queue import SimpleQueue
from typing import Any, Final, TypeVar

import grpc.aio

from sidecheck.errors import SidecheckError
from sidecheck.exchanges import Exchange
from sidecheck.streams import Answered, BlockingStream, Stream
from sidecheck.wire.responses import call_refusal

__all__ = ["BlockingClientStream", "ClientStream"]

ItemT = TypeVar("ItemT")
OutcomeT = TypeVar("OutcomeT")

#: The details of the status that gRPC puts in place of a server's own where a write
#: fails because the call has ended (grpc/grpc#36066).
WRITE_FAILED: Final = "Internal error from Core"


async def ending(call: "grpc.aio.StreamStreamCall[Any, Any]") -> grpc.aio.AioRpcError:
    """Return what ended *call*; once it has ended, without waiting."""
    return grpc.aio.AioRpcError(
        await call.code(),
        await call.initial_metadata(),
        await call.trailing_metadata(),
        await call.details(),
    )


class ClientStream(Stream[ItemT, OutcomeT | SidecheckError]):
    """A stream to a server.

    An abandoned call is never collected (grpc/grpc#43462), so leaving cancels it. To
    cancel a task that waits for an answer or sends cancels the stream, as in all of
    `grpc.aio`.
    """

    def __init__(
        self,
        learn: Callable[[], Awaitable[Exchange[ItemT, OutcomeT]]],
        start: Callable[[], "grpc.aio.StreamStreamCall[Any, Any]"],
        outstanding: int,
    ) -> None:
        super().__init__(outstanding)
        self._learn = learn
        self._start = start
        self._noted: grpc.aio.AioRpcError | None = None

    async def _open(self) -> None:
        self._exchange = await self._learn()
        opening = self._exchange.opening()
        self._call = self._start()
        self._call.add_done_callback(self._note)
        self._answers = aiter(self._call)
        try:
            await self._put(opening)
        except BaseException:
            self._call.cancel()
            raise

    async def _write(self, id_: str, item: ItemT) -> None:
        await self._put(self._exchange.question(id_, item))

    async def _put(self, message: object) -> None:
        # What ended the stream is told to whoever takes the answers.
        with suppress(grpc.RpcError, asyncio.InvalidStateError):
            await self._call.write(message)

    async def _half_close(self) -> None:
        with suppress(grpc.RpcError, asyncio.InvalidStateError):
            await self._call.done_writing()

    async def _read(self) -> Answered[OutcomeT | SidecheckError] | None:
        try:
            response = await anext(self._answers)
        except StopAsyncIteration:
            return None
        except grpc.aio.AioRpcError as error:
            raise call_refusal(await self._true_ending(error)) from None
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is None or task.cancelling():
                raise
            # Not this task: another one was cancelled while it sent.
            raise SidecheckError("CANCELLED", "the stream was cancelled") from None
        return self._exchange.answer(response)

    def _cancel(self) -> None:
        self._call.cancel()

    def _note(self, call: "grpc.aio.StreamStreamCall[Any, Any]") -> None:
        # Taken at once, before a write that fails can replace it.
        try:
            ending(call).send(None)
        except StopIteration as end:
            self._noted = end.value

    async def _true_ending(self, error: grpc.aio.AioRpcError) -> grpc.aio.AioRpcError:
        if error.details() != WRITE_FAILED:
            return error
        if self._noted is not None and self._noted.details() != WRITE_FAILED:
            return self._noted
        # The server's status comes after the failure of the write, if it comes at all.
        for _ in range(20):
            await asyncio.sleep(0.01)
            error = await ending(self._call)
            if error.details() != WRITE_FAILED:
                break
        return error


class BlockingClientStream(BlockingStream[ItemT, OutcomeT | SidecheckError]):
    """A stream to a server; leaving cancels the call."""

    def __init__(
        self,
        learn: Callable[[], Exchange[ItemT, OutcomeT]],
        start: Callable[[Iterator[Any]], Any],
        outstanding: int,
    ) -> None:
        super().__init__(outstanding)
        self._learn = learn
        self._start = start
        #: What gRPC's own thread is to send; None is the end.
        self._messages: SimpleQueue[object] = SimpleQueue()

    def _open(self) -> None:
        self._exchange = self._learn()
        self._messages.put(self._exchange.opening())
        self._call = self._start(iter(self._messages.get, None))

    def _write(self, id_: str, item: ItemT) -> None:
        self._messages.put(self._exchange.question(id_, item))

    def _half_close(self) -> None:
        self._messages.put(None)

    def _read(self) -> Answered[OutcomeT | SidecheckError] | None:
        try:
            response = next(self._call)
        except StopIteration:
            return None
        except grpc.RpcError as error:
            raise call_refusal(error) from None
        return self._exchange.answer(response)

    def _cancel(self) -> None:
        self._call.cancel()
        self._messages.put(None)
