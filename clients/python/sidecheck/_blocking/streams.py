# Generated from sidecheck/_async by generate_blocking.py. Do not edit.
"""Streams, which send items and return their outcomes concurrently, in order."""

import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from copy import copy
from typing import Any, Generic, Self, TypeVar

from google.protobuf.message import Message

from sidecheck._transport.threads import Lock, Semaphore, Transport
from sidecheck.errors import SidecheckError
from sidecheck.streams import ENDED_EARLY, STREAM_LEFT, PendingItems, StreamCodec, StreamKind
from sidecheck.values.info import Limits
from sidecheck.wire.rpcs import find_rpc

__all__ = ["BlockingStream", "ClientStream"]

ItemT = TypeVar("ItemT")
OutcomeT = TypeVar("OutcomeT")


class BlockingStream(PendingItems[OutcomeT], ABC, Generic[ItemT, OutcomeT]):
    """One stream: `send` items, iterate over their outcomes, `finish`.

    Enter it once, with ``with``; leaving it cancels the call. While the outcomes of
    *outstanding* items have not been read, `send` waits, so send and read concurrently.
    `BlockingValidator.validate_stream` does both.

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

    def send(self, id_: str, item: ItemT) -> None:
        """Send one item. Its outcome comes with *id_*, which need not be unique.

        Raises:
            StreamClosed: The stream has ended; the iteration raises this too.
            ValueError: The stream is finished.
        """
        with self._send_lock:
            self._admit(id_)
            try:
                self._slots.acquire()
            except BaseException:
                self._pending.pop()
                raise
            if self._error is not None or self._call_ended:
                self._slots.release()
            self._raise_for_error()
            if self._call_ended:
                # The outcomes that have arrived can still be read, so no error is stored.
                failure = self._failure() or ENDED_EARLY
                with self._state_lock:
                    raise self._close_error(failure)
            self._write(id_, item)

    def finish(self) -> None:
        """End the items; the iteration ends after the last outcome."""
        with self._send_lock:
            if not (self._finished or self._error):
                self._finished = True
                self._half_close()

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> tuple[str, OutcomeT]:
        self._raise_for_error()
        try:
            outcome = self._match_response(self._read())
        except SidecheckError as error:
            closed = self._error or self._fail(error)
            # Wakes up a caller that waits to send.
            self._slots.release()
            raise copy(closed) from None
        if outcome is None:
            raise StopIteration
        self._slots.release()
        return outcome

    def __enter__(self) -> Self:
        self._open()
        self._entered = True
        return self

    def __exit__(self, *exc_info: Any) -> None:
        self._cancel()
        if self._error is None:
            self._fail(STREAM_LEFT)
        self._slots.release()

    @abstractmethod
    def _open(self) -> None: ...

    @abstractmethod
    def _write(self, id_: str, item: ItemT) -> None: ...

    @abstractmethod
    def _half_close(self) -> None: ...

    @abstractmethod
    def _read(self) -> tuple[str, OutcomeT] | None: ...

    @abstractmethod
    def _failure(self) -> SidecheckError | None: ...

    @abstractmethod
    def _cancel(self) -> None: ...

    def _end(self) -> None:
        """Wake up a caller that waits to send, because the call has ended."""
        self._call_ended = True
        self._slots.release()


class ClientStream(BlockingStream[ItemT, OutcomeT | SidecheckError]):
    """A stream to a server, which begins with the message *opening*."""

    def __init__(
        self,
        transport: Transport,
        fetch_limits: Callable[[], Limits],
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

    def _open(self) -> None:
        start_time = time.monotonic()
        # Fetched for each stream: this call is retried while no server responds, unlike
        # the stream itself.
        limits = self._fetch_limits()
        self._codec = StreamCodec(self._kind, self._opening, limits)
        opening = self._codec.opening()
        remaining = self._timeout
        if remaining is not None:
            remaining = max(0.0, start_time + remaining - time.monotonic())
        self._call = self._transport.stream(find_rpc(type(opening)), remaining)
        self._call.notify(self._end)
        try:
            self._call.write(opening)
        except BaseException:
            self._call.cancel()
            raise

    def _write(self, id_: str, item: ItemT) -> None:
        self._call.write(self._codec.encode(id_, item))

    def _half_close(self) -> None:
        self._call.finish()

    def _read(self) -> tuple[str, OutcomeT | SidecheckError] | None:
        while (response := self._call.read()) is not None:
            summary = self._kind.decode_summary(response)
            if summary is None:
                return self._codec.decode(response)
            self.summary = summary
        return None

    def _failure(self) -> SidecheckError | None:
        return self._call.failure()

    def _cancel(self) -> None:
        self._call.cancel()
