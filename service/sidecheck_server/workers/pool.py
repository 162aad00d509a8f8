"""Pool of processes that are spawned, never forked, and can be killed.

The pool replaces a process that dies or exceeds its time limit; only the task in it fails.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from threading import Barrier
from types import MappingProxyType
from typing import Any, ParamSpec, TypeAlias, TypeVar

from sidecheck_server.workers.events import (
    EndCause,
    WorkerDied,
    WorkerEvent,
    WorkerRestarted,
    WorkerStartError,
    WorkerStartFailed,
    crash_cause,
    exit_text,
)
from sidecheck_server.workers.operating_system import watch_end
from sidecheck_server.workers.process import WALL_FACTOR, ProcessDiedError, WorkerProcess

__all__ = [
    "NoWorkerError",
    "Pool",
    "WorkerCrashedError",
    "WorkerStalledError",
    "WorkerTimeoutError",
]

_Result = TypeVar("_Result")
_Arguments = ParamSpec("_Arguments")

_START_SECONDS = 30.0
"""Longest time for the start of a process, which takes about a second of processor time."""

_FIRST_PAUSE = 0.1
_LONGEST_PAUSE = 5.0
"""Seconds between two attempts to start a process, doubled after each failure."""


class WorkerCrashedError(Exception):
    """The process died during the task."""


class NoWorkerError(WorkerCrashedError):
    """The process died before receiving the task, or no process was alive."""


class WorkerTimeoutError(Exception):
    """The task exceeded its limit of processor time."""


class WorkerStalledError(Exception):
    """The process was killed because it made no progress for too long."""


_ERRORS: Mapping[EndCause, type[Exception]] = MappingProxyType(
    {EndCause.TIME: WorkerTimeoutError, EndCause.STALLED: WorkerStalledError}
)


@dataclass(slots=True)
class _Timer:
    """Timer that kills a process, and whether it has expired."""

    handle: asyncio.TimerHandle
    #: Processor time of the process at the last check, in seconds.
    used: float
    expired: bool = False


@dataclass(eq=False, slots=True)
class _Call:
    """A call of a function, with the future of its outcome."""

    seconds: float
    function: Callable[..., Any]
    arguments: tuple[object, ...]
    outcome: asyncio.Future[Any]
    #: Number of processes that died before receiving it.
    lost_attempts: int = 0

    def succeed(self, result: Any) -> None:
        """Set *result*, unless the waiting task was cancelled."""
        if not self.outcome.done():
            self.outcome.set_result(result)

    def fail(self, error: Exception) -> None:
        """Set *error*, unless the waiting task was cancelled."""
        if not self.outcome.done():
            self.outcome.set_exception(error)


#: Future of an idle process: its next call, or None when the process has died.
_Turn: TypeAlias = asyncio.Future[_Call | None]


class _CallQueue:
    """Assigns calls to idle processes, both in order of arrival."""

    def __init__(self) -> None:
        #: All calls without an outcome, and the calls that wait for a process.
        self._open: set[_Call] = set()
        self._waiting: deque[_Call] = deque()
        self._idle: deque[_Turn] = deque()

    async def run(self, call: _Call) -> Any:
        """Return the result of *call*, or raise its error."""
        self._open.add(call)
        self._waiting.append(call)
        self._assign()
        try:
            return await call.outcome
        finally:
            self._open.remove(call)

    def put_back(self, call: _Call) -> None:
        """Put *call* at the front of the queue."""
        self._waiting.appendleft(call)
        self._assign()

    def add_idle(self, turn: _Turn) -> None:
        """Queue *turn*, the future of an idle process, for the next call."""
        self._idle.append(turn)
        self._assign()

    def withdraw(self, turn: _Turn) -> None:
        """Remove *turn* from the queue for calls."""
        with suppress(ValueError):
            self._idle.remove(turn)

    def fail_all(self, error: Callable[[], Exception]) -> None:
        """Fail all calls without an outcome, each with a new *error*."""
        self._waiting.clear()
        for call in self._open:
            call.fail(error())

    def _assign(self) -> None:
        while self._waiting and self._idle:
            turn = self._idle.popleft()
            if not turn.done():
                turn.set_result(self._waiting.popleft())


class Pool:
    """Pool of *count* processes, each prepared by calling *prepare* with *argument*.

    While no process is alive, tasks wait for at most *wait_seconds*. With *on_demand*, the first
    task starts the processes, and tasks wait as long as their start makes progress. *report* is
    called with each event. A pool must be created in a running event loop. One thread for each
    process waits for it, so that neither large tasks nor stopped processes block the loop.

    Raises:
        WorkerStartError: the system cannot start the threads.
    """

    def __init__(
        self,
        count: int,
        prepare: Callable[[int], object],
        argument: int,
        wait_seconds: float,
        report: Callable[[WorkerEvent], None],
        *,
        on_demand: bool = False,
    ) -> None:
        self.alive = 0
        self._size = count
        self._on_demand = on_demand
        self._prepare = prepare
        self._argument = argument
        self._wait_seconds = wait_seconds
        self._report = report
        self._closed = False
        #: Whether no process was alive for *wait_seconds*, so that tasks fail at once.
        self._has_given_up = False
        self._give_up_timer: asyncio.TimerHandle | None = None
        self._loop = asyncio.get_running_loop()
        self._threads = _start_threads(count)
        self._processes: set[WorkerProcess] = set()
        #: Functions that stop the watches of idle processes.
        self._watches: set[Callable[[], None]] = set()
        self._queue = _CallQueue()
        #: The numbers of the keepers (see `_keep`) that could not start a process.
        self._failed_starts: set[int] = set()
        #: Processor time of each starting process at the last check, by its id.
        self._start_seconds: dict[int, float] = {}
        self._ready: asyncio.Future[None] = self._loop.create_future()
        self._keepers: list[asyncio.Task[None]] = []
        if not on_demand:
            self._start_keepers()

    async def wait_until_ready(self) -> None:
        """Wait until the first process is ready.

        Raises:
            WorkerStartError: no process can be started.
        """
        await asyncio.shield(self._ready)

    async def run(
        self, seconds: float, function: Callable[..., _Result], *arguments: object
    ) -> _Result:
        """Return the result of calling *function* in a process.

        Raises:
            WorkerCrashedError: the process died.
            NoWorkerError: no process was alive for *wait_seconds*.
            WorkerTimeoutError: the call took more than *seconds* of processor time.
            WorkerStalledError: it made no progress for `WALL_FACTOR` times as long.
            MemoryError: the call exceeded the memory limit of the process.
        """
        if self._closed or self._has_given_up:
            raise NoWorkerError
        if not self._keepers:
            self._start_keepers()
            self._count(0)
        call = _Call(seconds, function, arguments, self._loop.create_future())
        result: _Result = await self._queue.run(call)
        return result

    def process_ids(self) -> list[int]:
        """Return the ids of all processes."""
        return [process.id for process in self._processes]

    def close(self) -> None:
        """Kill all processes at once; open tasks fail with WorkerCrashedError."""
        self._closed = True
        for keeper in self._keepers:
            keeper.cancel()
        while self._watches:
            self._watches.pop()()
        for process in tuple(self._processes):
            process.kill()
        self._threads.shutdown(cancel_futures=True)
        for process in self._processes:  # including those that were starting
            process.end()
        self._queue.fail_all(WorkerCrashedError)
        self._ready.cancel()
        if self._give_up_timer is not None:
            self._give_up_timer.cancel()

    def _start_keepers(self) -> None:
        for number in range(self._size):
            keeper = self._loop.create_task(self._keep(number))
            keeper.add_done_callback(_raise_failure)
            self._keepers.append(keeper)

    def _count(self, change: int) -> None:
        """Add *change* to the number of live processes."""
        self.alive += change
        if self._give_up_timer is not None:
            self._give_up_timer.cancel()
        self._has_given_up = False
        if not self.alive:
            self._give_up_timer = self._loop.call_later(self._wait_seconds, self._give_up)

    def _give_up(self) -> None:
        if self._on_demand and self._is_starting():
            self._give_up_timer = self._loop.call_later(self._wait_seconds, self._give_up)
            return
        self._has_given_up = True
        self._queue.fail_all(NoWorkerError)

    def _is_starting(self) -> bool:
        """Return whether the start of the processes has made progress since the last call.

        Progress is processor time, since a busy machine may take any time for a start. A start
        that failed is none, although the next attempt uses processor time as well.
        """
        before = self._start_seconds
        self._start_seconds = {
            process.id: process.processor_seconds() for process in self._processes
        }
        return not self._failed_starts and (
            not self._start_seconds
            or any(used > before.get(id_, 0) for id_, used in self._start_seconds.items())
        )

    async def _keep(self, number: int) -> None:
        """Keep one process running: run tasks in it, and replace it whenever it dies."""
        process = await self._start(number)
        if not self._ready.done():
            self._ready.set_result(None)
        while True:
            cause, exit_code, was_idle = await self._serve(process)
            self._processes.remove(process)
            self._count(-1)
            self._report(WorkerDied(cause, exit_text(exit_code), was_idle, self.alive))
            process = await self._start(number)
            self._report(WorkerRestarted(self.alive))

    async def _start(self, number: int) -> WorkerProcess:
        """Start a process, repeating failed attempts, and return it when it is ready."""
        pause = _FIRST_PAUSE
        while True:
            try:
                process = await self._try_start()
            except WorkerStartError as error:
                self._failed_starts.add(number)
                if len(self._failed_starts) == len(self._keepers) and not self._ready.done():
                    self._ready.set_exception(error)
                self._report(WorkerStartFailed(error.cause, error.detail, pause, self.alive))
            else:
                self._failed_starts.discard(number)
                self._count(1)
                return process
            await asyncio.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)

    async def _try_start(self) -> WorkerProcess:
        try:
            process = await self._in_thread(self._spawn)
        except OSError as error:
            raise WorkerStartError(EndCause.SYSTEM, error.strerror or "") from None
        with self._kill_after(_START_SECONDS, process) as timer:
            try:
                await self._in_thread(process.wait_until_ready)
            except ProcessDiedError as death:
                self._processes.remove(process)
                cause = EndCause.STALLED if timer.expired else crash_cause(death.exit_code)
                raise WorkerStartError(cause, exit_text(death.exit_code)) from None
        return process

    def _spawn(self) -> WorkerProcess:
        process = WorkerProcess(self._prepare, self._argument)
        self._processes.add(process)
        return process

    async def _serve(self, process: WorkerProcess) -> tuple[EndCause, int, bool]:
        """Run tasks in *process* until it dies; return cause, exit code and idleness."""
        expired = False
        while (call := await self._next_call(process)) is not None:
            with self._kill_after(call.seconds, process, WALL_FACTOR) as timer:
                try:
                    result = await self._in_thread(
                        process.call, call.seconds, call.function, call.arguments
                    )
                except ProcessDiedError as death:
                    cause = crash_cause(death.exit_code)
                    if timer.expired:
                        cause = EndCause.STALLED if death.received else EndCause.UNRESPONSIVE
                    self._settle(call, cause, received=death.received)
                    return cause, death.exit_code, False
                except Exception as error:  # noqa: BLE001 - the caller raises it
                    call.fail(error)
                else:
                    call.succeed(result)
            expired = timer.expired  # true if the timer expired while the result arrived
        exit_code = await self._in_thread(process.end)
        return EndCause.STALLED if expired else crash_cause(exit_code), exit_code, True

    async def _next_call(self, process: WorkerProcess) -> _Call | None:
        """Return the next call for *process*, or None if the process dies while waiting."""
        turn: _Turn = self._loop.create_future()
        self._queue.add_idle(turn)
        stop_watch = watch_end(self._loop, process.fileno(), partial(_resolve_as_dead, turn))
        self._watches.add(stop_watch)
        try:
            return await turn
        finally:
            if stop_watch in self._watches:
                self._watches.remove(stop_watch)
                stop_watch()
            self._queue.withdraw(turn)

    def _settle(self, call: _Call, cause: EndCause, *, received: bool) -> None:
        """Fail *call*, whose process died, or requeue it if it cannot be the cause."""
        if cause is EndCause.MEMORY:
            call.fail(MemoryError())
        elif received:
            call.fail(_ERRORS.get(cause, WorkerCrashedError)())
        elif call.lost_attempts == len(self._keepers) or self._closed:
            # All processes may have been killed at once; each death may cost one attempt.
            call.fail(NoWorkerError())
        else:
            call.lost_attempts += 1
            self._queue.put_back(call)

    @contextmanager
    def _kill_after(
        self, seconds: float, process: WorkerProcess, factor: float = 1
    ) -> Iterator[_Timer]:
        """Kill *process* if it makes no progress for *seconds* within the context.

        Once it has received its task, it has *factor* times as long. Progress is processor
        time: a busy machine slows a process down, and the system limits its total.
        """

        def expire() -> None:
            used = process.processor_seconds()
            if used > timer.used:
                timer.used = used
                timer.handle = self._loop.call_later(seconds * factor, expire)
                return
            timer.expired = True
            process.kill()

        def extend_or_expire() -> None:
            if factor > 1 and process.has_received:
                timer.handle = self._loop.call_later(seconds * (factor - 1), expire)
            else:
                expire()

        timer = _Timer(
            self._loop.call_later(seconds, extend_or_expire), process.processor_seconds()
        )
        try:
            yield timer
        finally:
            timer.handle.cancel()

    def _in_thread(
        self,
        function: Callable[_Arguments, _Result],
        *arguments: _Arguments.args,
        **_keywords: _Arguments.kwargs,
    ) -> asyncio.Future[_Result]:
        return self._loop.run_in_executor(self._threads, function, *arguments)


def _start_threads(count: int) -> ThreadPoolExecutor:
    """Return an executor with all threads started, so that later calls need none.

    Raises:
        WorkerStartError: the system cannot start them.
    """
    threads = ThreadPoolExecutor(count, "worker")
    barrier = Barrier(count)
    try:
        for _ in range(count):
            threads.submit(barrier.wait)
    except RuntimeError as error:
        barrier.abort()
        raise WorkerStartError(EndCause.SYSTEM, str(error)) from None
    return threads


def _resolve_as_dead(turn: _Turn) -> None:
    """Resolve *turn* with None, because its process died."""
    if not turn.done():
        turn.set_result(None)


def _raise_failure(keeper: asyncio.Task[None]) -> None:
    """Let the loop log the exception of *keeper*, which must run until cancelled."""
    if not keeper.cancelled():
        keeper.result()
