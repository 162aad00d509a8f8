"""Admission of calls, which sheds calls that the server cannot answer in time.

A call is admitted before its message is read, so that shedding costs little. The message must
arrive within a time limit. Large messages and responses are counted in bytes as long as the
server holds them.
"""

import asyncio
import time
from collections import Counter, deque
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any, NoReturn

import grpc
import structlog

from sidecheck_server.config.transport_limits import TransportLimits
from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.limits import limit_exceeded_error
from sidecheck_server.rpc.bytes_in_flight import SMALL, BytesInFlight
from sidecheck_server.rpc.context import Context
from sidecheck_server.rpc.shutdown_gate import ShutdownGate
from sidecheck_server.workers import CALLER

__all__ = [
    "Admission",
    "HeldRequests",
    "LoopLag",
]

_PERIOD_SECONDS = 0.05
_PERIODS = 4


class LoopLag:
    """Measures how late the event loop wakes a task.

    The lag is the minimum of the last few measurements, the standing queue as in CoDel
    (RFC 8289, section 3), since a single long turn is not overload. A measurement is at most
    the processor time of the loop, since a stopped process is not overload either.
    """

    def __init__(self) -> None:
        #: In seconds.
        self.seconds = 0.0
        self._measurements = deque([0.0], maxlen=_PERIODS)
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Measure until `stop`."""
        self._task = asyncio.create_task(self._measure())

    def stop(self) -> None:
        """Stop measuring."""
        if self._task is not None:
            self._task.cancel()

    async def _measure(self) -> None:
        # Not the clock of the loop, which some loops read only once for each turn.
        now = time.monotonic
        while True:
            due, used_before = now() + _PERIOD_SECONDS, time.thread_time()
            await asyncio.sleep(_PERIOD_SECONDS)
            self.record(now() - due, time.thread_time() - used_before)

    def record(self, late_seconds: float, busy_seconds: float) -> None:
        """Record the delay of a task, and the processor time of the loop while it slept."""
        self._measurements.append(max(0.0, min(late_seconds, busy_seconds)))
        self.seconds = min(self._measurements)


_log = structlog.get_logger("sidecheck.rpc")

_CHECK_SECONDS = 1.0

_FEW_ARRIVING = 32
_MAX_ARRIVING = 128
_ARRIVAL_SECONDS = 0.25
"""Bounds of incomplete messages, each of which may be of the maximum size.

While 32 or more are incomplete, the oldest is ended after this time, within which small messages
arrive even under load. There are never more than 128.
"""


# Decision 0053: the limit for each connection keeps the queue in the clients; this sheds the rest.
class Admission:
    """Admits calls within *limits*, and sheds others with OVERLOADED."""

    def __init__(self, limits: TransportLimits) -> None:
        self.gate = ShutdownGate()
        self.lag = LoopLag()
        #: Calls and streams shed since the start, by the bound that they would exceed.
        self.shed: Counter[str] = Counter()
        self._calls = 0
        self._watch: asyncio.Task[None] | None = None
        self._max_calls = limits.calls
        self._max_lag = limits.loop_lag_milliseconds / 1000
        self._message_seconds = limits.message_seconds
        # Separate budgets, so that unread responses do not lead to rejected requests.
        self._requests = BytesInFlight(limits.bytes_in_flight)
        self._responses = BytesInFlight(limits.bytes_in_flight)
        #: Start times of the tasks that wait for a message, the oldest first.
        self._receiving: dict[asyncio.Task[Any], float] = {}
        #: Errors for the tasks that `_stop_receiving` cancelled.
        self._receive_errors: dict[asyncio.Task[Any], RequestError] = {}

    @property
    def active(self) -> int:
        """Number of calls in progress."""
        return self._calls

    @property
    def receiving(self) -> int:
        """Number of unary calls whose messages have not arrived completely."""
        return len(self._receiving)

    @property
    def bytes_held(self) -> Mapping[str, int]:
        """Bytes of large messages in memory, by direction."""
        return {
            "requests": self._requests.counted_bytes,
            "responses": self._responses.counted_bytes,
        }

    def begin(self, context: Context) -> None:
        """Admit a call; every admitted call needs a call of `end`.

        Raises:
            RequestError: OVERLOADED if there are too many calls, or if the event loop lags
                too far behind for the call's deadline.
        """
        lag = self.lag.seconds
        if self._calls >= self._max_calls:
            self._shed("calls", "the limit of concurrent calls is reached (calls)")
        if lag > self._max_lag:
            self._shed("loop_lag_milliseconds", "the event loop of the server is overloaded")
        remaining = context.time_remaining()
        if remaining is not None and remaining <= lag:
            self._shed("deadline", "the server cannot meet the deadline of the call")
        self._calls += 1

    def end(self) -> None:
        """Record the end of a call, whose response may still wait for its turn."""
        self._calls -= 1

    async def receive(self, context: Context, task: asyncio.Task[Any] | None = None) -> bytes:
        """Return the message of a unary call; *context* must not deserialize it.

        *task* is the current task; callers that know it pass it to save time.

        Raises:
            RequestError: the message is missing or does not arrive in time; OVERLOADED if the
                bytes of large messages, or the number of incomplete ones, exceed their limits.
        """
        task = task or asyncio.current_task()
        assert task is not None
        receiving, now = self._receiving, time.monotonic()
        if len(receiving) >= _FEW_ARRIVING:
            oldest, started_at = next(iter(receiving.items()))
            if len(receiving) >= _MAX_ARRIVING or now - started_at > _ARRIVAL_SECONDS:
                self._stop_receiving(oldest, too_many=True)
        receiving[task] = now
        try:
            message = await context.read()
        except asyncio.CancelledError:
            error = self._receive_errors.pop(task, None)
            if error is None:
                raise
            task.uncancel()
            raise error from None
        except grpc.aio.InternalError:
            self._receive_errors.pop(task, None)
            # The call has ended, so that no response is needed.
            raise asyncio.CancelledError from None
        finally:
            receiving.pop(task, None)
        if message is grpc.aio.EOF:
            raise RequestError(
                ErrorReason.INVALID_REQUEST, "the call has no message", {"field": "message"}
            )
        if len(message) > SMALL:
            try:
                release = self._requests.take(CALLER.get(), len(message))
            except RequestError:
                self.shed["bytes_in_flight"] += 1
                raise
            context.add_done_callback(_release_with(release))
        return bytes(message)

    def hold_requests(self) -> "HeldRequests":
        """Return an empty count of the request bytes that the current stream holds."""
        return HeldRequests(self._requests, CALLER.get(), self.shed)

    async def wait_for_room(self, context: Context, size: int) -> None:
        """Wait until a large response fits, and count it until the call ends.

        Raises:
            RequestError: OVERLOADED if it does not fit in time.
        """
        context.add_done_callback(_release_with(await self._reserve(size)))

    @asynccontextmanager
    async def room(self, size: int) -> AsyncIterator[None]:
        """Wait until a response of *size* bytes fits, and count it in the block.

        Raises:
            RequestError: OVERLOADED if it does not fit in time.
        """
        if size <= SMALL:
            yield
            return
        release = await self._reserve(size)
        try:
            yield
        finally:
            release()

    async def _reserve(self, size: int) -> Callable[[], None]:
        try:
            async with asyncio.timeout(self._message_seconds):
                return await self._responses.wait(CALLER.get(), size)
        except TimeoutError:
            self._shed("bytes_in_flight", "peers do not read their responses (bytes_in_flight)")
        except RequestError:
            self.shed["bytes_in_flight"] += 1
            raise

    def start(self) -> None:
        """Start to measure the lag, and to end calls whose messages do not arrive in time."""
        self.lag.start()
        self._watch = asyncio.create_task(self._check_each_second())

    def stop(self) -> None:
        """Stop the tasks of `start`."""
        self.lag.stop()
        if self._watch is not None:
            self._watch.cancel()

    async def _check_each_second(self) -> None:
        logged: Counter[str] = Counter()
        while True:
            await asyncio.sleep(_CHECK_SECONDS)
            earliest_start = time.monotonic() - self._message_seconds
            for task, started_at in list(self._receiving.items()):
                if started_at < earliest_start:
                    self._stop_receiving(task, too_many=False)
            if shed := self.shed - logged:
                lag = round(self.lag.seconds * 1000, 1)
                _log.warning("overload.shed", calls=dict(shed), lag_ms=lag)
                logged = self.shed.copy()

    def _stop_receiving(self, task: asyncio.Task[Any], *, too_many: bool) -> None:
        if too_many:
            self.shed["arriving"] += 1
            error = RequestError(
                ErrorReason.OVERLOADED,
                "too many incomplete messages; retry later",
                {"bound": "bytes_in_flight"},
            )
        else:
            error = limit_exceeded_error(
                "message_seconds", self._message_seconds, "seconds for the message to arrive"
            )
        del self._receiving[task]
        self._receive_errors[task] = error
        task.cancel()

    def _shed(self, bound: str, message: str) -> NoReturn:
        self.shed[bound] += 1
        raise RequestError(ErrorReason.OVERLOADED, f"{message}; retry later", {"bound": bound})


class HeldRequests:
    """Count, in *budget*, of the bytes of requests that one stream of *peer* holds.

    Small requests are not counted. *shed* counts the requests that do not fit.
    """

    __slots__ = ("_budget", "_counted", "_peer", "_shed")

    def __init__(self, budget: BytesInFlight, peer: str, shed: Counter[str]) -> None:
        self._budget = budget
        self._peer = peer
        self._shed = shed
        self._counted = 0

    def resize(self, *sizes: int) -> None:
        """Replace the counted requests by requests of *sizes*, in bytes.

        Raises:
            RequestError: OVERLOADED if they do not fit; the count stays unchanged.
        """
        counted = sum(size for size in sizes if size > SMALL)
        if counted == self._counted:
            return
        try:
            self._budget.resize(self._peer, self._counted, counted)
        except RequestError:
            self._shed["bytes_in_flight"] += 1
            raise
        self._counted = counted


def _release_with(release: Callable[[], None]) -> Any:
    """Return a callback for the end of a call that calls *release*."""
    return lambda _context: release()
