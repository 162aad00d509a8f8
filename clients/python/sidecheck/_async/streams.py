"""Streams, which send items and return their outcomes concurrently, in order."""

import time
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable
from copy import copy
from typing import Any, Generic, Self, TypeVar

from google.protobuf.message import Message

from sidecheck._transport.tasks import Lock, Semaphore, Transport
from sidecheck.errors import SidecheckError
from sidecheck.streams import ENDED_EARLY, STREAM_LEFT, PendingItems, StreamCodec, StreamKind
from sidecheck.values.info import Limits
from sidecheck.wire.rpcs import find_rpc

__all__ = ["ClientStream", "Stream"]

ItemT = TypeVar("ItemT")
OutcomeT = TypeVar("OutcomeT")


class Stream(PendingItems[OutcomeT], ABC, Generic[ItemT, OutcomeT]):
    """One stream: `send` items, iterate over their outcomes, `finish`.

    Enter it once, with ``async with``; leaving it cancels the call. While the outcomes of
    *outstanding* items have not been read, `send` waits, so send and read concurrently.
    `Validator.validate_stream` does both.

    The outcome of an item is the verdict on it, or its error. If the stream ends early, the
    iteration and `send`, even if it waits already, raise `StreamClosed`.
    """

    def __init__(self, outstanding: int) -> None:
        super().__init__(outstanding)
        self._slots = Semaphore(outstanding)
        self._send_lock = Lock()
        #: Whether the call has ended, though its last outcomes may not have been read.
        self._call_ended = False
        #: The summary of the stream in its last response, or None.
        self.summary: object = None

    async def send(self, id_: str, item: ItemT) -> None:
        """Send one item. Its outcome comes with *id_*, which need not be unique.

        Raises:
            StreamClosed: The stream has ended; the iteration raises this too.
            ValueError: The stream is finished.
        """
        async with self._send_lock:
            self._admit(id_)
            try:
                await self._slots.acquire()
            except BaseException:
                self._pending.pop()
                raise
            if self._error is not None or self._call_ended:
                self._slots.release()
            self._raise_for_error()
            if self._call_ended:
                # The outcomes that have arrived can still be read, so no error is stored.
                failure = await self._failure() or ENDED_EARLY
                with self._state_lock:
                    raise self._close_error(failure)
            await self._write(id_, item)

    async def finish(self) -> None:
        """End the items; the iteration ends after the last outcome."""
        async with self._send_lock:
            if not (self._finished or self._error):
                self._finished = True
                await self._half_close()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> tuple[str, OutcomeT]:
        self._raise_for_error()
        try:
            outcome = self._match_response(await self._read())
        except SidecheckError as error:
            closed = self._error or self._fail(error)
            # Wakes up a caller that waits to send.
            self._slots.release()
            raise copy(closed) from None
        if outcome is None:
            raise StopAsyncIteration
        self._slots.release()
        return outcome

    async def __aenter__(self) -> Self:
        await self._open()
        self._entered = True
        return self

    async def __aexit__(self, *exc_info: Any) -> None:
        self._cancel()
        if self._error is None:
            self._fail(STREAM_LEFT)
        self._slots.release()

    @abstractmethod
    async def _open(self) -> None: ...

    @abstractmethod
    async def _write(self, id_: str, item: ItemT) -> None: ...

    @abstractmethod
    async def _half_close(self) -> None: ...

    @abstractmethod
    async def _read(self) -> tuple[str, OutcomeT] | None: ...

    @abstractmethod
    async def _failure(self) -> SidecheckError | None: ...

    @abstractmethod
    def _cancel(self) -> None: ...

    def _end(self) -> None:
        """Wake up a caller that waits to send, because the call has ended."""
        self._call_ended = True
        self._slots.release()


class ClientStream(Stream[ItemT, OutcomeT | SidecheckError]):
    """A stream to a server, which begins with the message *opening*."""

    def __init__(
        self,
        transport: Transport,
        fetch_limits: Callable[[], Awaitable[Limits]],
        kind: StreamKind[ItemT, OutcomeT],
        opening: Message,
        outstanding: int,
        timeout: float | None,
    ) -> None:
        super().__init__(outstanding)
        self._transport = transport
        self._fetch_limits = fetch_limits
        self._kind = kind
        self._opening = opening
        self._timeout = timeout

    async def _open(self) -> None:
        start_time = time.monotonic()
        # Fetched for each stream: this call is retried while no server responds, unlike
        # the stream itself.
        limits = await self._fetch_limits()
        self._codec = StreamCodec(self._kind, self._opening, limits)
        opening = self._codec.opening()
        remaining = self._timeout
        if remaining is not None:
            remaining = max(0.0, start_time + remaining - time.monotonic())
        self._call = self._transport.stream(find_rpc(type(opening)), remaining)
        self._call.notify(self._end)
        try:
            await self._call.write(opening)
        except BaseException:
            self._call.cancel()
            raise

    async def _write(self, id_: str, item: ItemT) -> None:
        await self._call.write(self._codec.encode(id_, item))

    async def _half_close(self) -> None:
        await self._call.finish()

    async def _read(self) -> tuple[str, OutcomeT | SidecheckError] | None:
        while (response := await self._call.read()) is not None:
            summary = self._kind.decode_summary(response)
            if summary is None:
                return self._codec.decode(response)
            self.summary = summary
        return None

    async def _failure(self) -> SidecheckError | None:
        return await self._call.failure()

    def _cancel(self) -> None:
        self._call.cancel()
