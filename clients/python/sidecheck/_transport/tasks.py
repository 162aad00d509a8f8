"""Transport for tasks of an event loop: sends, reads and waits in separate tasks.

`sidecheck._transport.threads` has the same interface without ``await``.
"""

# ruff: noqa: ASYNC109  (a timeout here is the deadline that the call carries to the server)

import asyncio
from asyncio import Lock, Queue, Semaphore, sleep
from collections.abc import AsyncIterable, Callable, Iterable
from typing import Any, Generic, Protocol, TypeAlias, TypeVar, runtime_checkable

from google.protobuf.message import Message

from sidecheck._transport.task_calls import Channel, StreamCall
from sidecheck._transport.task_coalescing import Coalescer
from sidecheck._transport.tokens import Token
from sidecheck.errors import SidecheckError, StreamClosed
from sidecheck.wire.rpcs import Rpc

__all__ = [
    "Channel",
    "Coalescer",
    "Feed",
    "IsolatedStream",
    "ItemSource",
    "Lock",
    "Queue",
    "Semaphore",
    "StreamCall",
    "Token",
    "Transport",
    "TransportStream",
    "sleep",
]

ItemT = TypeVar("ItemT")
SentT_contra = TypeVar("SentT_contra", contravariant=True)
ReadT_co = TypeVar("ReadT_co", covariant=True)
OutcomeT = TypeVar("OutcomeT")

#: Items of a stream with their ids.
ItemSource: TypeAlias = Iterable[tuple[str, ItemT]] | AsyncIterable[tuple[str, ItemT]]


class TransportStream(Protocol):
    """One call of a stream, as `StreamCall`."""

    async def write(self, message: Message) -> None: ...
    async def finish(self) -> None: ...
    async def read(self) -> Any: ...
    def notify(self, callback: Callable[[], None]) -> None: ...
    async def failure(self) -> SidecheckError | None: ...
    def cancel(self) -> None: ...


@runtime_checkable
class Transport(Protocol):
    """Carrier of the calls of a client, such as `Channel` for the network."""

    async def call(self, request: Message, timeout: float) -> Any: ...
    def stream(self, rpc: Rpc, timeout: float | None) -> TransportStream: ...
    async def close(self) -> None: ...


class Sender(Protocol[SentT_contra]):
    """The sending half of a stream."""

    @property
    def error(self) -> StreamClosed | None: ...
    async def send(self, id_: str, item: SentT_contra) -> None: ...
    async def finish(self) -> None: ...


class Duplex(Sender[SentT_contra], Protocol[SentT_contra, ReadT_co]):
    """A stream of items and outcomes."""

    async def __anext__(self) -> tuple[str, ReadT_co]: ...


class Feed:
    """A task that sends items to a stream and finishes it.

    If *items* raises, the stream is finished nevertheless, because the items sent so far still
    get their outcomes.
    """

    def __init__(self, stream: Sender[ItemT], items: ItemSource[ItemT]) -> None:
        self._task = asyncio.create_task(send_all(stream, items))

    async def result(self) -> None:
        """Wait for the end, and raise the exception of the items, if any."""
        await self._task

    async def cancel(self) -> None:
        """Stop taking items."""
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)


async def send_all(stream: Sender[ItemT], items: ItemSource[ItemT]) -> None:
    """Send all *items* to *stream* and finish it."""
    try:
        if isinstance(items, AsyncIterable):
            async for id_, item in items:
                await stream.send(id_, item)
        else:
            for id_, item in items:
                await stream.send(id_, item)
    except StreamClosed:
        # The reader of this stream gets its error. Any other error is of *items*, which may come
        # from another stream.
        if stream.error is None:
            raise
    finally:
        await stream.finish()


class IsolatedStream(Generic[ItemT, OutcomeT]):
    """Sends to and reads from a stream in separate tasks.

    Cancelling a task that writes to or reads from a stream of gRPC cancels the stream. Callers
    of this class only wait for its tasks, so that they may be cancelled.
    """

    def __init__(self, stream: Duplex[ItemT, OutcomeT]) -> None:
        self._stream = stream
        self._sending: set[asyncio.Task[None]] = set()
        self._reading: asyncio.Task[tuple[str, OutcomeT]] | None = None

    async def send(self, id_: str, item: ItemT) -> None:
        """Send one item, even if the caller is cancelled meanwhile."""
        sending = asyncio.create_task(self._stream.send(id_, item))
        self._sending.add(sending)
        sending.add_done_callback(self._remove_sending)
        await asyncio.shield(sending)

    async def read(self) -> tuple[str, OutcomeT]:
        """Return the next id and outcome. Only one caller may read at a time."""
        reading = self._reading or asyncio.create_task(self._stream.__anext__())
        self._reading = reading
        try:
            outcome = await asyncio.shield(reading)
        except SidecheckError:
            self._reading = None
            raise
        # Not reached if the caller is cancelled: the next caller then awaits the same task.
        self._reading = None
        return outcome

    async def cancel(self) -> None:
        """Cancel all tasks."""
        tasks = [*self._sending, *([self._reading] if self._reading else [])]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _remove_sending(self, sending: "asyncio.Task[None]") -> None:
        self._sending.discard(sending)
        # Marks the exception as retrieved: if nobody waits here, the reader gets the error.
        _ = sending.cancelled() or sending.exception()
