"""Workers: run tasks in processes, a fair number for each caller."""

import asyncio
import resource
import time
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import TypeVar
from weakref import WeakValueDictionary

from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.limits import Limits, limit_exceeded_error
from sidecheck_server.core.schemas.dialects import SchemaSource
from sidecheck_server.workers.events import EndCause, WorkerEvent, WorkerStartError
from sidecheck_server.workers.pool import (
    NoWorkerError,
    Pool,
    WorkerCrashedError,
    WorkerStalledError,
    WorkerTimeoutError,
)
from sidecheck_server.workers.process import prepare_process
from sidecheck_server.workers.tasks import CompileSchema, Task, execute_task, ignore_begin

__all__ = ["CALLER", "Workers"]

_Result = TypeVar("_Result")

CALLER: ContextVar[str] = ContextVar("CALLER", default="")
"""The caller that the current task works for: a connection, or "" for the server."""

_TASKS_PER_WORKER = 2
"""How many tasks the pool has for each worker, so that none waits for the next."""


class Workers:
    """Processes that can be killed and whose memory is limited."""

    def __init__(self, count: int, limits: Limits) -> None:
        self._limits = limits
        self._slots = _TaskSlots(count * _TASKS_PER_WORKER, per_caller=count)
        self._observers: list[Callable[[WorkerEvent], None]] = []
        #: How many tasks ended, and how many seconds they took, by the name of their work.
        self.tasks: Counter[str] = Counter()
        self.task_seconds: defaultdict[str, float] = defaultdict(float)
        #: How many tasks have a slot or run, and how many wait for a slot.
        self.busy = self.waiting = 0
        #: How many processes there should be.
        self.count = count
        self._pool = Pool(
            count, prepare_process, limits.worker_bytes, limits.worker_wait_seconds, self._report
        )

    @property
    def alive(self) -> int:
        """The number of workers that can run tasks."""
        return self._pool.alive

    def resident_bytes(self) -> int:
        """Return the memory that all processes have in use; 0 if the system does not tell."""
        return sum(map(_resident_bytes, self._pool.process_ids()))

    def subscribe(self, observer: Callable[[WorkerEvent], None]) -> None:
        """Call *observer* with each event from now on, in the event loop."""
        self._observers.append(observer)

    async def start(self) -> None:
        """Return when a worker is ready, and has memory enough to compile a schema.

        Raises:
            WorkerStartError: none can be started.
        """
        await self._pool.wait_until_ready()
        try:
            await self.run(CompileSchema(SchemaSource(b"true")))
        except RequestError as error:
            out_of_memory = error.metadata.get("bound") == "worker_bytes"
            cause = EndCause.MEMORY if out_of_memory else EndCause.CRASH
            raise WorkerStartError(cause, error.message) from None

    async def run(self, task: Task[_Result], begun: Callable[[], None] = ignore_begin) -> _Result:
        """Return the result of *task*; *begun* is called when it has a slot.

        Raises:
            RequestError: as `Task.execute`; LIMIT_EXCEEDED if it takes too much of a processor or
                memory; WORKER_CRASHED if its process died twice, if it stood still, or if no
                worker lived for a while.
        """
        async with AsyncExitStack() as slot:
            self.waiting += 1
            try:
                await slot.enter_async_context(self._slots.acquire())
            finally:
                self.waiting -= 1
            begun()
            # A cancelled caller keeps its slot until the worker is done: stopping the worker
            # means killing it, and a new one takes a second to start.
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
        begun = time.monotonic()
        self.busy += 1
        async with slot:
            try:
                return await self._run_twice(seconds, task)
            except WorkerTimeoutError:
                return limit_exceeded_error(
                    task.bound, seconds, f"{activity} takes too many seconds of a processor"
                )
            except WorkerStalledError:
                return _crashed(f"the worker {activity} stood still")
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
                self.task_seconds[task.name] += time.monotonic() - begun

    async def _run_twice(self, seconds: float, task: Task[_Result]) -> _Result | RequestError:
        """Run *task* in a process, and in another one if the first died.

        The system may have killed it, for the memory of others.
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


def _crashed(fault: str) -> RequestError:
    return RequestError(ErrorReason.WORKER_CRASHED, f"{fault}; the call may be retried")


def _resident_bytes(process_id: int) -> int:
    try:
        pages = int(Path(f"/proc/{process_id}/statm").read_text(encoding="ascii").split()[1])
    except (OSError, ValueError, IndexError):
        return 0
    return pages * resource.getpagesize()


class _TaskSlots:
    """A number of *slots* for tasks in total, and one *per_caller*.

    A task with a slot is in a worker, or the next in line for one. Tasks get slots in the
    order in which they arrive, apart from callers that have all of theirs.
    """

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
