"""Pool of processes that are spawned, never forked, and can be killed.

A process that dies or exceeds its time is replaced, and only its own task fails.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from threading import Barrier
from typing import Any, ParamSpec, TypeVar

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
from sidecheck_server.workers.process import ProcessDiedError, WorkerProcess

__all__ = ["Pool", "WorkerCrashedError", "WorkerTimeoutError"]

_Result = TypeVar("_Result")
_Arguments = ParamSpec("_Arguments")

_START_SECONDS = 30.0
"""How long a process may take to start; it takes about a second of a processor."""

_FIRST_PAUSE = 0.1
_LONGEST_PAUSE = 5.0
"""Seconds between two attempts to start a process; they double after each."""


class WorkerCrashedError(Exception):
    """The process died during the task, or none can be started."""


class WorkerTimeoutError(Exception):
    """The process was killed because the task exceeded its time."""


@dataclass(eq=False, slots=True)
class _Task:
    seconds: float
    function: Callable[..., Any]
    arguments: tuple[object, ...]
    outcome: asyncio.Future[Any]
    #: Whether a process died before it had received the task.
    is_second_attempt: bool = False

    def fail(self, error: BaseException) -> None:
        if not self.outcome.done():
            self.outcome.set_exception(error)


@dataclass(slots=True)
class _Timer:
    """Whether the time is over, and the process was killed for that."""

    expired: bool = False


class Pool:
    """*count* processes, each prepared by calling *prepare* with *argument*.

    *report* is called with each event. A pool is created in a running event loop. A thread
    for each process waits for it, so that neither large tasks nor stopped processes hold up
    the loop.

    Raises:
        WorkerStartError: there is no room for the threads.
    """

    def __init__(
        self,
        count: int,
        prepare: Callable[[int], None],
        argument: int,
        report: Callable[[WorkerEvent], None],
    ) -> None:
        self.alive = 0
        self._prepare = prepare
        self._argument = argument
        self._report = report
        self._closed = False
        self._loop = asyncio.get_running_loop()
        self._threads = _start_threads(count)
        self._processes: set[WorkerProcess] = set()
        #: All tasks without an outcome, and those of them that wait for a process.
        self._open: set[_Task] = set()
        self._waiting: deque[_Task] = deque()
        #: What each idle process receives its next task by; None says that it died.
        self._idle: deque[asyncio.Future[_Task | None]] = deque()
        #: The numbers of the keepers whose latest attempt to start a process failed.
        self._failed_starts: set[int] = set()
        self._ready: asyncio.Future[None] = self._loop.create_future()
        self._keepers = [self._loop.create_task(self._keep(number)) for number in range(count)]

    async def wait_until_ready(self) -> None:
        """Return when the first process is ready.

        Raises:
            WorkerStartError: none can be started.
        """
        await asyncio.shield(self._ready)

    async def run(
        self, seconds: float, function: Callable[..., _Result], *arguments: object
    ) -> _Result:
        """Return the result of calling *function* in a process.

        Raises:
            WorkerCrashedError: the process died, or none can be started.
            WorkerTimeoutError: the call took more than *seconds*.
            MemoryError: the call needed more memory than the process may use.
        """
        if self._closed or self._cannot_start():
            raise WorkerCrashedError
        task = _Task(seconds, function, arguments, self._loop.create_future())
        self._open.add(task)
        self._waiting.append(task)
        self._assign()
        try:
            result: _Result = await task.outcome
        finally:
            self._open.remove(task)
        return result

    def close(self) -> None:
        """Kill all processes at once; open tasks fail with WorkerCrashedError."""
        self._closed = True
        for keeper in self._keepers:
            keeper.cancel()
        for process in tuple(self._processes):
            self._loop.remove_reader(process.fileno())
            process.kill()
        self._threads.shutdown(cancel_futures=True)
        for process in self._processes:  # and those whose start was under way
            process.end()
        self._fail_open_tasks()
        self._ready.cancel()

    def _cannot_start(self) -> bool:
        """Return whether the latest attempt to start a process has failed for each."""
        return len(self._failed_starts) == len(self._keepers)

    def _fail_open_tasks(self) -> None:
        self._waiting.clear()
        for task in self._open:
            task.fail(WorkerCrashedError())

    def _assign(self) -> None:
        """Give tasks to idle processes, both in the order in which they came."""
        while self._waiting and self._idle:
            turn = self._idle.popleft()
            if not turn.done():
                turn.set_result(self._waiting.popleft())

    async def _keep(self, number: int) -> None:
        """Run tasks in a process, and start another whenever it dies."""
        process = await self._start(number)
        if not self._ready.done():
            self._ready.set_result(None)
        while True:
            cause, exit_code, was_idle = await self._serve(process)
            self._processes.remove(process)
            self.alive -= 1
            self._report(WorkerDied(cause, exit_text(exit_code), was_idle, self.alive))
            process = await self._start(number)
            self._report(WorkerRestarted(self.alive))

    async def _start(self, number: int) -> WorkerProcess:
        """Return a process that is ready, after as many attempts as it takes."""
        pause = _FIRST_PAUSE
        while True:
            try:
                process = await self._try_start()
            except WorkerStartError as error:
                self._failed_starts.add(number)
                if self._cannot_start():
                    self._fail_open_tasks()
                    if not self._ready.done():
                        self._ready.set_exception(error)
                self._report(WorkerStartFailed(error.cause, error.detail, pause, self.alive))
            else:
                self._failed_starts.discard(number)
                self.alive += 1
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
                cause = EndCause.TIME if timer.expired else crash_cause(death.exit_code)
                raise WorkerStartError(cause, exit_text(death.exit_code)) from None
        return process

    def _spawn(self) -> WorkerProcess:
        process = WorkerProcess(self._prepare, self._argument)
        self._processes.add(process)
        return process

    async def _serve(self, process: WorkerProcess) -> tuple[EndCause, int, bool]:
        """Run tasks in *process* until it dies; return why, its exit code, and if it was idle."""
        expired = False
        while (task := await self._next_task(process)) is not None:
            with self._kill_after(task.seconds, process) as timer:
                try:
                    result = await self._in_thread(
                        process.call, task.seconds, task.function, task.arguments
                    )
                except ProcessDiedError as death:
                    cause = crash_cause(death.exit_code)
                    if timer.expired:
                        cause = EndCause.TIME if death.received else EndCause.UNRESPONSIVE
                    self._settle(task, cause, received=death.received)
                    return cause, death.exit_code, False
                except Exception as error:  # noqa: BLE001 - the caller raises it
                    task.fail(error)
                else:
                    if not task.outcome.done():
                        task.outcome.set_result(result)
            expired = timer.expired  # as the result came
        exit_code = await self._in_thread(process.end)
        return EndCause.TIME if expired else crash_cause(exit_code), exit_code, True

    async def _next_task(self, process: WorkerProcess) -> _Task | None:
        """Return the next task for *process*, or None if it dies before."""
        turn: asyncio.Future[_Task | None] = self._loop.create_future()
        self._idle.append(turn)
        self._assign()
        self._loop.add_reader(process.fileno(), _resolve, turn)
        try:
            return await turn
        finally:
            if not self._closed:
                self._loop.remove_reader(process.fileno())
            with suppress(ValueError):
                self._idle.remove(turn)

    def _settle(self, task: _Task, cause: EndCause, *, received: bool) -> None:
        """Fail *task*, whose process died, or give it to another if it cannot be the cause."""
        if cause is EndCause.MEMORY:
            task.fail(MemoryError())
        elif received:
            task.fail(WorkerTimeoutError() if cause is EndCause.TIME else WorkerCrashedError())
        elif task.is_second_attempt or self._closed or self._cannot_start():
            task.fail(WorkerCrashedError())
        else:
            task.is_second_attempt = True
            self._waiting.appendleft(task)
            self._assign()

    @contextmanager
    def _kill_after(self, seconds: float, process: WorkerProcess) -> Iterator[_Timer]:
        """Kill *process* if the block takes more than *seconds*."""
        timer = _Timer()

        def expire() -> None:
            timer.expired = True
            process.kill()

        handle = self._loop.call_later(seconds, expire)
        try:
            yield timer
        finally:
            handle.cancel()

    def _in_thread(
        self,
        function: Callable[_Arguments, _Result],
        *arguments: _Arguments.args,
        **_: _Arguments.kwargs,
    ) -> asyncio.Future[_Result]:
        return self._loop.run_in_executor(self._threads, function, *arguments)


def _start_threads(count: int) -> ThreadPoolExecutor:
    """Return an executor whose threads all run, so that no later call needs to start one.

    Raises:
        WorkerStartError: the system has no room for them.
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


def _resolve(turn: asyncio.Future[_Task | None]) -> None:
    """Tell whoever awaits *turn* that its process died."""
    if not turn.done():
        turn.set_result(None)
