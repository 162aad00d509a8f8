"""Execution of tasks in worker processes, with a fair share for each caller."""

import asyncio
import time
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from contextvars import ContextVar
from importlib import import_module
from typing import TypeVar
from weakref import WeakValueDictionary

from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.limits import Limits, limit_exceeded_error
from sidecheck_server.core.schemas.dialects import SchemaSource
from sidecheck_server.workers.events import EndCause, WorkerEvent, WorkerStartError
from sidecheck_server.workers.operating_system import prepare_process, resident_bytes
from sidecheck_server.workers.pool import (
    NoWorkerError,
    Pool,
    WorkerCrashedError,
    WorkerStalledError,
    WorkerTimeoutError,
)
from sidecheck_server.workers.tasks import CompileSchema, Task, execute_task, ignore_begin

__all__ = ["CALLER", "Workers"]

_Result = TypeVar("_Result")

CALLER: ContextVar[str] = ContextVar("CALLER", default="")
"""The caller of the current task: a connection, or "" for the server itself."""

_TASKS_PER_WORKER = 2
"""Tasks in the pool for each worker, so that an idle worker finds the next task queued."""


class Workers:
    """Worker processes, which can be killed and have limited memory."""

    def __init__(self, count: int, limits: Limits, *, on_demand: bool = False) -> None:
        """Start the processes; with *on_demand*, when the first task needs one."""
        self._limits = limits
        self._slots = _TaskSlots(count * _TASKS_PER_WORKER, per_caller=count)
        self._observers: list[Callable[[WorkerEvent], None]] = []
        #: Number of finished tasks, and their total duration in seconds, by `Task.name`.
        self.tasks: Counter[str] = Counter()
        self.task_seconds: defaultdict[str, float] = defaultdict(float)
        #: Number of tasks with a slot, and of tasks that wait for a slot.
        self.busy = self.waiting = 0
        #: Intended number of processes.
        self.count = count
        self._pool = Pool(
            count,
            prepare_process if on_demand else _prepare_for_all_tasks,
            limits.worker_bytes,
            limits.worker_wait_seconds,
            self._report,
            on_demand=on_demand,
        )

    @property
    def alive(self) -> int:
        """The number of workers that can run tasks."""
        return self._pool.alive

    def resident_bytes(self) -> int:
        """Return the resident memory of all processes, in bytes; 0 if unknown."""
        return sum(map(resident_bytes, self._pool.process_ids()))

    def subscribe(self, observer: Callable[[WorkerEvent], None]) -> None:
        """Call *observer* with each event from now on, in the event loop."""
        self._observers.append(observer)

    async def start(self) -> None:
        """Wait until a worker has compiled a trivial schema within its memory.

        Raises:
            WorkerStartError: no worker can be started.
        """
        await self._pool.wait_until_ready()
        try:
            await self.run(CompileSchema(SchemaSource(b"true")))
        except RequestError as error:
            out_of_memory = error.metadata.get("bound") == "worker_bytes"
            cause = EndCause.MEMORY if out_of_memory else EndCause.CRASH
            raise WorkerStartError(cause, error.message) from None

    async def run(
        self, task: Task[_Result], on_begin: Callable[[], None] = ignore_begin
    ) -> _Result:
        """Return the result of *task*; call *on_begin* when the task gets a slot.

        Raises:
            RequestError: as `Task.execute`; LIMIT_EXCEEDED if the task exceeds its limit of
                processor time or memory; WORKER_CRASHED if its process died twice or made no
                progress, or if no worker was alive for the waiting time.
        """
        async with AsyncExitStack() as slot:
            self.waiting += 1
            try:
                await slot.enter_async_context(self._slots.acquire())
            finally:
                self.waiting -= 1
            on_begin()
            # A cancelled caller keeps its slot until the worker has finished: only a kill can
            # stop a worker, and a replacement takes a second to start.
            coroutine = self._run_in_slot(slot.pop_all(), task)
            running = asyncio.create_task(coroutine)
        result = await asyncio.shield(running)
        if isinstance(result, RequestError):
            raise result
        return result

    def _report(self, event: WorkerEvent) -> None:
        for observer in self._observers:
            observer(event)

    async def _run_in_slot(
        self, slot: AsyncExitStack, task: Task[_Result]
    ) -> _Result | RequestError:
        seconds: int = getattr(self._limits, task.bound)
        activity = task.activity
        started = time.monotonic()
        self.busy += 1
        async with slot:
            try:
                return await self._run_twice(seconds, task)
            except WorkerTimeoutError:
                return limit_exceeded_error(
                    task.bound, seconds, f"{activity} takes too many seconds of a processor"
                )
            except WorkerStalledError:
                return _crashed(f"the worker {activity} made no progress")
            except MemoryError:
                limit = self._limits.worker_bytes
                return limit_exceeded_error(
                    "worker_bytes", limit, f"{activity} takes too much memory"
                )
            except NoWorkerError:
                return _crashed(f"no worker was alive for {activity}")
            except WorkerCrashedError:
                return _crashed(f"the worker {activity} crashed")
            finally:
                self.busy -= 1
                self.tasks[task.name] += 1
                self.task_seconds[task.name] += time.monotonic() - started

    async def _run_twice(self, seconds: float, task: Task[_Result]) -> _Result | RequestError:
        """Run *task* in a process; if the process dies, retry once in another.

        The system may have killed the first process because others used too much memory.
        """
        try:
            return await self._pool.run(seconds, execute_task, task, self._limits)
        except NoWorkerError:
            raise
        except WorkerCrashedError:
            return await self._pool.run(seconds, execute_task, task, self._limits)

    def close(self) -> None:
        """Stop all workers at once."""
        self._pool.close()


def _prepare_for_all_tasks(memory: int) -> None:
    """Import the packages of frequent tasks, and prepare the process."""
    for package in ("convert.providers", "convert.tool_conversion", "infer.infer"):
        import_module(f"sidecheck_server.core.{package}")
    prepare_process(memory)


def _crashed(fault: str) -> RequestError:
    return RequestError(ErrorReason.WORKER_CRASHED, f"{fault}; the call may be retried")


class _TaskSlots:
    """Slots for tasks: a total number of *slots*, and a number *per_caller*.

    A task with a slot runs in a worker or is queued for the next one. Tasks get slots in the
    order of arrival, except for callers that have used up their own slots.
    """

    # Decision 0022: slots are shared by connection, so no caller can occupy all workers.

    def __init__(self, slots: int, per_caller: int) -> None:
        self._slots = asyncio.Semaphore(slots)
        self._per_caller = per_caller
        self._callers: WeakValueDictionary[str, asyncio.Semaphore] = WeakValueDictionary()

    @asynccontextmanager
    async def acquire(self) -> AsyncIterator[None]:
        """Hold a slot for the current `CALLER`."""
        name = CALLER.get()
        own_slots = self._callers.get(name)
        if own_slots is None:
            own_slots = self._callers[name] = asyncio.Semaphore(self._per_caller)
        async with own_slots, self._slots:
            yield
