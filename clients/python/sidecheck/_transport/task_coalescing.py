"""Coalescing of concurrent validations into batches, for tasks of an event loop."""

# ruff: noqa: ASYNC109  (a timeout here is the deadline that the call carries to the server)

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Final, TypeAlias

from sidecheck.errors import SidecheckError
from sidecheck.v1.validation_service_pb2 import ValidateItem, ValidateRequest
from sidecheck.validation import ValidateOutcome
from sidecheck.values.verdict import Verdict
from sidecheck.wire.errors import client_closed, deadline_exceeded
from sidecheck.wire.validation import depends_on_batch, encode_batch_item

__all__ = ["Coalescer"]

#: Sends a single validation with a deadline in seconds.
Validate: TypeAlias = Callable[[ValidateRequest, float], Awaitable[Verdict]]

#: Sends a batch with a deadline in seconds.
ValidateBatch: TypeAlias = Callable[
    [Sequence[ValidateItem], float], Awaitable[Sequence[ValidateOutcome]]
]

#: Maximum size of a request in a batch, in bytes; larger requests are sent alone.
MAX_REQUEST_BYTES: Final = 64 << 10

#: Maximum requests in a batch, and their total size in bytes.
MAX_BATCH_ITEMS: Final = 256
MAX_BATCH_BYTES: Final = 256 << 10

#: Maximum seconds in the queue while another call is outstanding.
MAX_WAIT: Final = 0.002

#: Rounds of the event loop for the callers of a completed batch to make their next calls. A
#: caller that awaits a call directly needs one round; with `asyncio.wait_for` or
#: `asyncio.gather` around each call it needs up to four.
RETURN_ROUNDS: Final = 4


class QueuedCall:
    """A validation in the queue or in a batch."""

    __slots__ = ("batch", "batch_calls", "deadline", "future", "request")

    def __init__(
        self,
        request: ValidateRequest,
        deadline: float,
        future: "asyncio.Future[ValidateOutcome | None]",
    ) -> None:
        self.request = request
        #: Deadline on the clock of the event loop.
        self.deadline = deadline
        #: The outcome, or None if the caller has to make a single call.
        self.future = future
        #: The task that sends the batch; None while the call is in the queue.
        self.batch: asyncio.Task[None] | None = None
        #: All calls of the batch.
        self.batch_calls: Sequence[QueuedCall] = ()


# Decision 0058: a call is never delayed unless another call is outstanding.
class Coalescer:
    """Sends the validations of concurrent callers together.

    A call is sent at once if no other call is outstanding. Calls that are made while others are
    outstanding wait in a queue, which becomes a batch when a call returns, when it is full, or
    when its first call has waited for `MAX_WAIT`.

    Callers never get an outcome that depends on their batch, or an error of the batch as a
    whole: they make single calls instead.
    """

    def __init__(self, validate: Validate, validate_batch: ValidateBatch) -> None:
        self._validate = validate
        self._validate_batch = validate_batch
        self._loop: asyncio.AbstractEventLoop | None = None
        #: Number of calls and batches without a response.
        self._outstanding = 0
        self._queue: list[QueuedCall] = []
        self._queue_bytes = 0
        #: Sends the queue after `MAX_WAIT`.
        self._timer: asyncio.TimerHandle | None = None
        #: Sends the queue after the `RETURN_ROUNDS` for the callers of a batch.
        self._return_handle: asyncio.Handle | None = None
        #: During these rounds, the length at which the queue is sent; otherwise 0.
        self._expected = 0
        self._batches: set[asyncio.Task[None]] = set()

    async def validate(self, request: ValidateRequest, timeout: float) -> Verdict:
        """Return the verdict on *request*.

        Raises:
            SidecheckError: No verdict was possible.
        """
        loop = asyncio.get_running_loop()
        if self._loop is None:
            self._loop = loop
        elif self._loop is not loop:
            # The channel raises the error about the wrong event loop.
            return await self._validate(request, timeout)
        size = request.ByteSize()
        if not (self._outstanding or self._expected) or size > MAX_REQUEST_BYTES:
            return await self._validate_alone(request, timeout)
        call = QueuedCall(request, loop.time() + timeout, loop.create_future())
        timer = loop.call_at(call.deadline, self._expire, call)
        self._enqueue(call, size)
        try:
            outcome = await call.future
        except asyncio.CancelledError:
            self._leave(call)
            raise
        finally:
            timer.cancel()
        if outcome is None:
            return await self._validate_alone(request, call.deadline - loop.time())
        if isinstance(outcome, SidecheckError):
            raise outcome
        return outcome

    def close(self) -> None:
        """End the calls in the queue. Closing the channel ends the calls that were sent."""
        for call in self._take_queue():
            call.future.set_result(client_closed())

    async def _validate_alone(self, request: ValidateRequest, timeout: float) -> Verdict:
        self._outstanding += 1
        try:
            return await self._validate(request, timeout)
        finally:
            self._return(1)

    def _enqueue(self, call: QueuedCall, size: int) -> None:
        assert self._loop is not None
        self._queue.append(call)
        self._queue_bytes += size
        if len(self._queue) >= (self._expected or MAX_BATCH_ITEMS) or (
            self._queue_bytes >= MAX_BATCH_BYTES
        ):
            self._flush()
        elif self._timer is None:
            self._timer = self._loop.call_later(MAX_WAIT, self._flush)

    def _return(self, callers: int) -> None:
        """Record the end of a request of *callers* callers."""
        assert self._loop is not None
        self._outstanding -= 1
        if self._expected:
            self._expected = min(self._expected + callers, MAX_BATCH_ITEMS)
        elif self._queue or callers > 1:
            self._expected = min(len(self._queue) + callers, MAX_BATCH_ITEMS)
            self._return_handle = self._loop.call_soon(self._await_callers, RETURN_ROUNDS)

    def _await_callers(self, rounds: int) -> None:
        """Send the queue after *rounds* more rounds of the event loop."""
        assert self._loop is not None
        if rounds:
            self._return_handle = self._loop.call_soon(self._await_callers, rounds - 1)
        else:
            self._flush()

    def _flush(self) -> None:
        """Send the calls in the queue."""
        assert self._loop is not None
        calls = self._take_queue()
        if len(calls) == 1:
            calls[0].future.set_result(None)
        elif calls:
            self._outstanding += 1
            batch = self._loop.create_task(self._send(calls))
            self._batches.add(batch)
            batch.add_done_callback(self._batches.discard)
            for call in calls:
                call.batch = batch
                call.batch_calls = calls

    def _take_queue(self) -> list[QueuedCall]:
        calls, self._queue = self._queue, []
        self._queue_bytes = self._expected = 0
        for handle in (self._timer, self._return_handle):
            if handle is not None:
                handle.cancel()
        self._timer = self._return_handle = None
        return calls

    async def _send(self, calls: list[QueuedCall]) -> None:
        assert self._loop is not None
        outcomes: Sequence[ValidateOutcome | None] = [None] * len(calls)
        try:
            seconds = max(call.deadline for call in calls) - self._loop.time()
            items = [encode_batch_item(call.request) for call in calls]
            outcomes = await self._validate_batch(items, seconds)
        except Exception:  # noqa: BLE001, S110  (the callers make single calls instead)
            pass
        finally:
            for call, outcome in zip(calls, outcomes, strict=True):
                if not call.future.done():
                    is_unusable = outcome is None or depends_on_batch(outcome, call.request)
                    call.future.set_result(None if is_unusable else outcome)
            self._return(len(calls))

    def _expire(self, call: QueuedCall) -> None:
        if not call.future.done():
            call.future.set_result(deadline_exceeded())
            self._leave(call)

    def _leave(self, call: QueuedCall) -> None:
        """Remove an ended call from the queue, or cancel its batch if it was the last."""
        if call in self._queue:
            self._queue.remove(call)
            self._queue_bytes -= call.request.ByteSize()
        elif call.batch and all(member.future.done() for member in call.batch_calls):
            call.batch.cancel()
