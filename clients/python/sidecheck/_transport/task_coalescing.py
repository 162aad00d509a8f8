"""Concurrent validations that share batches, for tasks of an event loop."""

# ruff: noqa: ASYNC109  (a timeout here is the deadline that the call carries to the server)

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Final, TypeAlias

from sidecheck.errors import SidecheckError
from sidecheck.v1.validation_service_pb2 import ValidateItem, ValidateRequest
from sidecheck.validation import ValidateOutcome
from sidecheck.verdicts import Verdict
from sidecheck.wire.errors import client_closed, deadline_exceeded
from sidecheck.wire.validation import depends_on_batch, encode_batch_item

__all__ = ["Coalescer"]

#: Makes a single call, within the seconds given.
Validate: TypeAlias = Callable[[ValidateRequest, float], Awaitable[Verdict]]

#: Makes a batch.
ValidateBatch: TypeAlias = Callable[
    [Sequence[ValidateItem], float], Awaitable[Sequence[ValidateOutcome]]
]

#: A request over this size goes alone, in bytes.
MAX_REQUEST_BYTES: Final = 64 << 10

#: What fills a batch: requests, and their size in bytes.
MAX_BATCH_ITEMS: Final = 256
MAX_BATCH_BYTES: Final = 256 << 10

#: Longest wait in the queue while another call is outstanding, in seconds.
MAX_WAIT: Final = 0.002

#: Rounds of the event loop in which the callers of a batch that returned may call again. A
#: caller that awaits a call directly takes one; `asyncio.wait_for` or `asyncio.gather` around
#: each call take up to four.
RETURN_ROUNDS: Final = 4


class Waiting:
    """A validation that waits for its turn or for its batch."""

    __slots__ = ("batch", "companions", "deadline", "future", "request")

    def __init__(
        self,
        request: ValidateRequest,
        deadline: float,
        future: "asyncio.Future[ValidateOutcome | None]",
    ) -> None:
        self.request = request
        #: In the time of the event loop.
        self.deadline = deadline
        #: The outcome, or None if the caller has to make a call of its own.
        self.future = future
        #: None while it is in the queue.
        self.batch: asyncio.Task[None] | None = None
        #: All calls of the batch.
        self.companions: Sequence[Waiting] = ()


class Coalescer:
    """Sends the validations of concurrent callers together.

    A call that finds none outstanding is made at once, as it is without this class. Those
    that come while calls are outstanding wait in a queue, which becomes a batch when a call
    returns, when it is full, or when its first call has waited long enough.

    What a batch tells otherwise than a single call, and errors of the batch as a whole, are
    not passed on: the callers that they concern make single calls.
    """

    def __init__(self, validate: Validate, validate_batch: ValidateBatch) -> None:
        self._validate = validate
        self._validate_batch = validate_batch
        self._loop: asyncio.AbstractEventLoop | None = None
        #: Calls and batches without a response.
        self._outstanding = 0
        self._queue: list[Waiting] = []
        self._queue_bytes = 0
        #: Sends the queue in time.
        self._timer: asyncio.TimerHandle | None = None
        #: Sends it when the callers of a batch have had their time to call again.
        self._returning: asyncio.Handle | None = None
        #: Length at which the queue is sent while the callers of a batch return, else 0.
        self._expected = 0
        self._batches: set[asyncio.Task[None]] = set()

    async def validate(self, request: ValidateRequest, timeout: float) -> Verdict:
        """Return the verdict on *request*.

        Raises:
            SidecheckError: There is none.
        """
        loop = asyncio.get_running_loop()
        if self._loop is None:
            self._loop = loop
        elif self._loop is not loop:
            # The channel raises the error that says so.
            return await self._validate(request, timeout)
        size = request.ByteSize()
        if not (self._outstanding or self._expected) or size > MAX_REQUEST_BYTES:
            return await self._validate_alone(request, timeout)
        waiting = Waiting(request, loop.time() + timeout, loop.create_future())
        timer = loop.call_at(waiting.deadline, self._expire, waiting)
        self._enqueue(waiting, size)
        try:
            outcome = await waiting.future
        except asyncio.CancelledError:
            self._leave(waiting)
            raise
        finally:
            timer.cancel()
        if outcome is None:
            return await self._validate_alone(request, waiting.deadline - loop.time())
        if isinstance(outcome, SidecheckError):
            raise outcome
        return outcome

    def close(self) -> None:
        """End the calls in the queue. Closing the channel ends those that were sent."""
        for waiting in self._take_queue():
            waiting.future.set_result(client_closed())

    async def _validate_alone(self, request: ValidateRequest, timeout: float) -> Verdict:
        self._outstanding += 1
        try:
            return await self._validate(request, timeout)
        finally:
            self._return(1)

    def _enqueue(self, waiting: Waiting, size: int) -> None:
        assert self._loop is not None
        self._queue.append(waiting)
        self._queue_bytes += size
        if len(self._queue) >= (self._expected or MAX_BATCH_ITEMS) or (
            self._queue_bytes >= MAX_BATCH_BYTES
        ):
            self._flush()
        elif self._timer is None:
            self._timer = self._loop.call_later(MAX_WAIT, self._flush)

    def _return(self, callers: int) -> None:
        """Note that a request of so many *callers* has ended."""
        assert self._loop is not None
        self._outstanding -= 1
        if self._expected:
            self._expected = min(self._expected + callers, MAX_BATCH_ITEMS)
        elif self._queue or callers > 1:
            self._expected = min(len(self._queue) + callers, MAX_BATCH_ITEMS)
            self._returning = self._loop.call_soon(self._await_callers, RETURN_ROUNDS)

    def _await_callers(self, rounds: int) -> None:
        """Send the queue after so many further *rounds* of the event loop."""
        assert self._loop is not None
        if rounds:
            self._returning = self._loop.call_soon(self._await_callers, rounds - 1)
        else:
            self._flush()

    def _flush(self) -> None:
        """Send what is in the queue."""
        assert self._loop is not None
        calls = self._take_queue()
        if len(calls) == 1:
            calls[0].future.set_result(None)
        elif calls:
            self._outstanding += 1
            batch = self._loop.create_task(self._send(calls))
            self._batches.add(batch)
            batch.add_done_callback(self._batches.discard)
            for waiting in calls:
                waiting.batch = batch
                waiting.companions = calls

    def _take_queue(self) -> list[Waiting]:
        calls, self._queue = self._queue, []
        self._queue_bytes = self._expected = 0
        for handle in (self._timer, self._returning):
            if handle is not None:
                handle.cancel()
        self._timer = self._returning = None
        return calls

    async def _send(self, calls: list[Waiting]) -> None:
        assert self._loop is not None
        outcomes: Sequence[ValidateOutcome | None] = [None] * len(calls)
        try:
            seconds = max(waiting.deadline for waiting in calls) - self._loop.time()
            items = [encode_batch_item(waiting.request) for waiting in calls]
            outcomes = await self._validate_batch(items, seconds)
        except Exception:  # noqa: BLE001, S110  (single calls meet it again, or they do not)
            pass
        finally:
            for waiting, outcome in zip(calls, outcomes, strict=True):
                if not waiting.future.done():
                    again = outcome is None or depends_on_batch(outcome, waiting.request)
                    waiting.future.set_result(None if again else outcome)
            self._return(len(calls))

    def _expire(self, waiting: Waiting) -> None:
        if not waiting.future.done():
            waiting.future.set_result(deadline_exceeded())
            self._leave(waiting)

    def _leave(self, waiting: Waiting) -> None:
        """Take a call that has ended out of the queue; the last of a batch cancels it."""
        if waiting in self._queue:
            self._queue.remove(waiting)
            self._queue_bytes -= waiting.request.ByteSize()
        elif waiting.batch and all(other.future.done() for other in waiting.companions):
            waiting.batch.cancel()
