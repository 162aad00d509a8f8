"""Streams: items are sent and answered as they come, in their order.

The bookkeeping of a stream is here, and so is how its two sides wait for one
another; how messages travel is the business of the classes that derive from these.
"""

import asyncio
import threading
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import AsyncIterable, Iterable
from concurrent.futures import Future
from copy import copy
from typing import Any, Final, Generic, Self, TypeAlias, TypeVar

from sidecheck.errors import SidecheckError, StreamEnded, StreamUnavailable, Unavailable
from sidecheck.wire.responses import Judgement

__all__ = [
    "OUTSTANDING",
    "Answer",
    "Answered",
    "BlockingStream",
    "Stream",
    "feed",
    "feed_blocking",
]

ItemT = TypeVar("ItemT")
OutcomeT = TypeVar("OutcomeT")

#: The id of an item, and what became of it.
Answered: TypeAlias = tuple[str, OutcomeT]

#: The id of a payload, and the verdict on it or its refusal.
Answer: TypeAlias = Answered[Judgement]

#: How many items may be on their way where the caller says nothing.
OUTSTANDING: Final = 64

CUT_SHORT: Final = SidecheckError("UNKNOWN", "the server ended the stream early")
OUT_OF_TURN: Final = SidecheckError("UNKNOWN", "the server answered an item out of turn")
LEFT: Final = SidecheckError("CANCELLED", "the stream was left")


class Roll(Generic[OutcomeT]):
    """The ids of the items of a stream that wait for their answers, in order.

    Raises:
        ValueError: *outstanding* is not positive.
    """

    def __init__(self, outstanding: int) -> None:
        if outstanding < 1:
            raise ValueError(f"outstanding must be positive, and {outstanding} is not")
        self._waiting: deque[str] = deque()
        # An id is either told in what ended the stream or not admitted any more.
        self._settling = threading.Lock()
        self._entered = self._finished = False
        self._ended: StreamEnded | None = None

    @property
    def ended(self) -> StreamEnded | None:
        """What ended the stream early, if anything did."""
        return self._ended

    def _admit(self, id_: str) -> None:
        if not isinstance(id_, str):
            raise TypeError(f"the id of an item is a str, not a {type(id_).__name__}")
        with self._settling:
            self._raise_for_end()
            if self._finished:
                raise ValueError("the stream is finished and takes no more items")
            self._waiting.append(id_)

    def _raise_for_end(self) -> None:
        if not self._entered:
            raise RuntimeError("a stream is entered, using with, before it is used")
        if self._ended is not None:
            # Raising adds to a traceback; the one that is kept is never raised itself.
            raise copy(self._ended)

    def _settle(self, answer: Answered[OutcomeT] | None) -> Answered[OutcomeT] | None:
        """Return *answer* under the id that it is for, or None at the end of the stream."""
        if answer is None:
            if self._finished and not self._waiting:
                return None
            raise self._end(CUT_SHORT)
        id_, outcome = answer
        # The order tells which item is meant; the id is "" where it could not be read.
        if not self._waiting or id_ not in {"", self._waiting[0]}:
            raise self._end(OUT_OF_TURN)
        return self._waiting.popleft(), outcome

    def _end(self, refusal: SidecheckError) -> StreamEnded:
        kind = StreamUnavailable if isinstance(refusal, Unavailable) else StreamEnded
        with self._settling:
            self._ended = kind(
                refusal.reason, refusal.message, refusal.metadata, refusal.status, self._waiting
            )
        return copy(self._ended)


class Stream(Roll[OutcomeT], ABC, Generic[ItemT, OutcomeT]):
    """One stream: `send` items, iterate over the answers, `finish`.

    It is entered once, with ``async with``, and cancelled when that is left. No more
    than *outstanding* items may be sent whose answers were not taken: `send` waits,
    so one task sends and another one takes. `Validator.validate_stream` does both.

    A verdict or a refusal of one item is its answer. What ends the stream as a whole
    early is raised as `StreamEnded`, also to those who send.
    """

    def __init__(self, outstanding: int) -> None:
        super().__init__(outstanding)
        self._slots = asyncio.Semaphore(outstanding)
        self._turn = asyncio.Lock()

    async def send(self, id_: str, item: ItemT) -> None:
        """Send one item. Its answer comes under *id_*, which need not be unique.

        Raises:
            StreamEnded: The stream has ended, and whoever takes answers was told.
            ValueError: The stream is finished.
        """
        async with self._turn:
            self._admit(id_)
            try:
                await self._slots.acquire()
            except BaseException:
                self._waiting.pop()
                raise
            if self._ended is not None:
                self._slots.release()
            self._raise_for_end()
            await self._write(id_, item)

    async def finish(self) -> None:
        """Say that no more items come; after the last answer the iteration ends."""
        async with self._turn:
            if not (self._finished or self._ended):
                self._finished = True
                await self._half_close()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Answered[OutcomeT]:
        self._raise_for_end()
        try:
            answer = self._settle(await self._read())
        except SidecheckError as refusal:
            ended = self._ended or self._end(refusal)
            # Whoever waits to send learns of the end.
            self._slots.release()
            raise copy(ended) from None
        if answer is None:
            raise StopAsyncIteration
        self._slots.release()
        return answer

    async def __aenter__(self) -> Self:
        await self._open()
        self._entered = True
        return self

    async def __aexit__(self, *exc_info: Any) -> None:
        self._cancel()
        if self._ended is None:
            self._end(LEFT)
        self._slots.release()

    @abstractmethod
    async def _open(self) -> None: ...

    @abstractmethod
    async def _write(self, id_: str, item: ItemT) -> None: ...

    @abstractmethod
    async def _half_close(self) -> None: ...

    @abstractmethod
    async def _read(self) -> Answered[OutcomeT] | None: ...

    @abstractmethod
    def _cancel(self) -> None: ...


class BlockingStream(Roll[OutcomeT], ABC, Generic[ItemT, OutcomeT]):
    """One stream, with ``with``; in all else a `Stream`. One thread sends, another one takes."""

    def __init__(self, outstanding: int) -> None:
        super().__init__(outstanding)
        self._slots = threading.Semaphore(outstanding)
        self._turn = threading.Lock()

    def send(self, id_: str, item: ItemT) -> None:
        """Send one item; see `Stream.send`."""
        with self._turn:
            self._admit(id_)
            try:
                self._slots.acquire()
            except BaseException:
                self._waiting.pop()
                raise
            if self._ended is not None:
                self._slots.release()
            self._raise_for_end()
            self._write(id_, item)

    def finish(self) -> None:
        """Say that no more items come; see `Stream.finish`."""
        with self._turn:
            if not (self._finished or self._ended):
                self._finished = True
                self._half_close()

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Answered[OutcomeT]:
        self._raise_for_end()
        try:
            answer = self._settle(self._read())
        except SidecheckError as refusal:
            ended = self._ended or self._end(refusal)
            # Whoever waits to send learns of the end.
            self._slots.release()
            raise copy(ended) from None
        if answer is None:
            raise StopIteration
        self._slots.release()
        return answer

    def __enter__(self) -> Self:
        self._open()
        self._entered = True
        return self

    def __exit__(self, *exc_info: Any) -> None:
        self._cancel()
        if self._ended is None:
            self._end(LEFT)
        self._slots.release()

    @abstractmethod
    def _open(self) -> None: ...

    @abstractmethod
    def _write(self, id_: str, item: ItemT) -> None: ...

    @abstractmethod
    def _half_close(self) -> None: ...

    @abstractmethod
    def _read(self) -> Answered[OutcomeT] | None: ...

    @abstractmethod
    def _cancel(self) -> None: ...


async def feed(
    stream: Stream[ItemT, Any],
    items: Iterable[tuple[str, ItemT]] | AsyncIterable[tuple[str, ItemT]],
) -> None:
    """Send all *items* and finish, also if they fail: what was sent is worth its answer."""
    try:
        if isinstance(items, AsyncIterable):
            async for id_, item in items:
                await stream.send(id_, item)
        else:
            for id_, item in items:
                await stream.send(id_, item)
    except StreamEnded:
        # Whoever takes the answers is told; but the items may be a stream themselves.
        if stream.ended is None:
            raise
    finally:
        await stream.finish()


def feed_blocking(
    stream: BlockingStream[ItemT, Any], items: Iterable[tuple[str, ItemT]], fed: "Future[None]"
) -> None:
    """Send all *items* and finish; *fed* learns how that went. Else like `feed`."""
    try:
        try:
            for id_, item in items:
                stream.send(id_, item)
        finally:
            stream.finish()
    except BaseException as error:  # noqa: BLE001  (it is raised where the answers are taken)
        if isinstance(error, StreamEnded) and stream.ended is not None:
            fed.set_result(None)
        else:
            fed.set_exception(error)
    else:
        fed.set_result(None)
