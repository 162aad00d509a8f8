"""Admission of calls: as many as the server can hold, receive and answer in time.

A call is admitted before its message is read, so that one that is shed costs little. Its
message must arrive within a time, and large messages and responses are counted in bytes
until they are gone.
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
from sidecheck_server.rpc.shutdown_gate import ShutdownGate
from sidecheck_server.workers import CALLER

__all__ = [
    "Admission",
    "Context",
    "HeldRequests",
    "LoopLag",
]

_PERIOD_SECONDS = 0.05
_PERIODS = 4


class LoopLag:
    """Measures how late the event loop wakes a task.

    The lag is the least of the last few measurements, the standing queue as in CoDel
    (RFC 8289, section 3): a single long turn is no overload. Nor is it one that the process
    was stopped, so a measurement is at most the time that the loop itself worked.
    """

    def __init__(self) -> None:
        #: In seconds.
        self.seconds = 0.0
        self._measured = deque([0.0], maxlen=_PERIODS)
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Measure until `stop`."""
        self._task = asyncio.create_task(self._measure())

    def stop(self) -> None:
        """Stop measuring."""
        if self._task is not None:
            self._task.cancel()

    async def _measure(self) -> None:
        # Not the clock of the loop, which may be read once a turn.
        now = time.monotonic
        while True:
            due, worked = now() + _PERIOD_SECONDS, time.thread_time()
            await asyncio.sleep(_PERIOD_SECONDS)
            self.record(now() - due, time.thread_time() - worked)

    def record(self, late: float, worked: float) -> None:
        """Record how late a task woke, and how long the loop worked since it slept, in seconds."""
        self._measured.append(max(0.0, min(late, worked)))
        self.seconds = min(self._measured)


Context = grpc.aio.ServicerContext[Any, Any]

_log = structlog.get_logger("sidecheck.rpc")

_CHECK_SECONDS = 1.0

_FEW_ARRIVING = 32
_MOST_ARRIVING = 128
_ARRIVAL_SECONDS = 0.25
"""How many messages may be awaited, each of which may become as large as any: few for longer
than this time, which small ones do not take under load either, and more for less."""


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
        # Apart, so that responses that nobody reads do not reject requests.
        self._requests = BytesInFlight(limits.bytes_in_flight)
        self._responses = BytesInFlight(limits.bytes_in_flight)
        #: When each task that awaits a message began to, the oldest first.
        self._receiving: dict[asyncio.Task[Any], float] = {}
        #: Why tasks were cancelled whose messages are given up.
        self._given_up: dict[asyncio.Task[Any], RequestError] = {}

    @property
    def active(self) -> int:
        """How many calls are worked on."""
        return self._calls

    @property
    def receiving(self) -> int:
        """How many unary calls await their messages."""
        return len(self._receiving)

    @property
    def bytes_held(self) -> Mapping[str, int]:
        """The bytes of large messages that are held, by their direction."""
        return {"requests": self._requests.held, "responses": self._responses.held}

    def begin(self, context: Context) -> None:
        """Begin the work on a call, which must `end`.

        Raises:
            RequestError: OVERLOADED if there are too many calls, or if the event loop lags
                too far behind for the call's deadline.
        """
        lag = self.lag.seconds
        if self._calls >= self._max_calls:
            self._shed("calls", "the server works on as many calls as it may (calls)")
        if lag > self._max_lag:
            self._shed("loop_lag_milliseconds", "the server lags behind its calls")
        left = context.time_remaining()
        if left is not None and left <= lag:
            self._shed("deadline", "the server cannot meet the call's deadline")
        self._calls += 1

    def end(self) -> None:
        """End the work on a call, whose response may still wait for room."""
        self._calls -= 1

    async def receive(self, context: Context, task: asyncio.Task[Any] | None = None) -> bytes:
        """Return the message of a unary call; *context* must not deserialize it.

        *task* is the current one, for callers that know it.

        Raises:
            RequestError: it does not arrive in time, or has no message; OVERLOADED if too many
                large messages are held, or too many have not arrived.
        """
        task = task or asyncio.current_task()
        assert task is not None
        receiving, now = self._receiving, time.monotonic()
        if len(receiving) >= _FEW_ARRIVING:
            oldest, begun = next(iter(receiving.items()))
            if len(receiving) >= _MOST_ARRIVING or now - begun > _ARRIVAL_SECONDS:
                self._stop_receiving(oldest, too_many=True)
        receiving[task] = now
        try:
            message = await context.read()
        except asyncio.CancelledError:
            error = self._given_up.pop(task, None)
            if error is None:
                raise
            task.uncancel()
            raise error from None
        except grpc.aio.InternalError:
            self._given_up.pop(task, None)
            # The call has ended, and nobody awaits a response.
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
        """Return what the current call, a stream, holds of its requests: nothing yet."""
        return HeldRequests(self._requests, CALLER.get(), self.shed)

    async def make_room(self, context: Context, size: int) -> None:
        """Wait until a large response of *size* bytes may be held until the call ends.

        Raises:
            RequestError: OVERLOADED if there is no room in time.
        """
        context.add_done_callback(_release_with(await self._wait_for_room(size)))

    @asynccontextmanager
    async def room(self, size: int) -> AsyncIterator[None]:
        """Hold a response of *size* bytes in the block, once there is room for a large one.

        Raises:
            RequestError: OVERLOADED if there is no room in time.
        """
        if size <= SMALL:
            yield
            return
        release = await self._wait_for_room(size)
        try:
            yield
        finally:
            release()

    async def _wait_for_room(self, size: int) -> Callable[[], None]:
        try:
            async with asyncio.timeout(self._message_seconds):
                return await self._responses.wait(CALLER.get(), size)
        except TimeoutError:
            self._shed("bytes_in_flight", "other responses are not read (bytes_in_flight)")
        except RequestError:
            self.shed["bytes_in_flight"] += 1
            raise

    def start(self) -> None:
        """Measure the lag of the event loop, and give up messages that do not arrive in time."""
        self.lag.start()
        self._watch = asyncio.create_task(self._check_each_second())

    def stop(self) -> None:
        """End what `start` began."""
        self.lag.stop()
        if self._watch is not None:
            self._watch.cancel()

    async def _check_each_second(self) -> None:
        logged: Counter[str] = Counter()
        while True:
            await asyncio.sleep(_CHECK_SECONDS)
            begun_before = time.monotonic() - self._message_seconds
            for task, begun in list(self._receiving.items()):
                if begun < begun_before:
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
                "too many messages have begun and not arrived; retry later",
                {"bound": "bytes_in_flight"},
            )
        else:
            error = limit_exceeded_error(
                "message_seconds", self._message_seconds, "seconds for the message to arrive"
            )
        del self._receiving[task]
        self._given_up[task] = error
        task.cancel()

    def _shed(self, bound: str, message: str) -> NoReturn:
        self.shed[bound] += 1
        raise RequestError(ErrorReason.OVERLOADED, f"{message}; retry later", {"bound": bound})


class HeldRequests:
    """Requests, or parts of them, that one stream of *peer* holds, counted in *budget*.

    Small ones are not counted. Those without room are, in *shed*.
    """

    __slots__ = ("_budget", "_counted", "_peer", "_shed")

    def __init__(self, budget: BytesInFlight, peer: str, shed: Counter[str]) -> None:
        self._budget = budget
        self._peer = peer
        self._shed = shed
        self._counted = 0

    def resize(self, *sizes: int) -> None:
        """Hold requests of *sizes*, in bytes, in place of those before.

        Raises:
            RequestError: OVERLOADED if there is no room for more; nothing changes.
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
    """Return *release* as a callback of the end of a call."""
    return lambda _context: release()
