"""A pool of processes under test, and the events that it reports."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from sidecheck_server.workers.events import WorkerEvent
from sidecheck_server.workers.operating_system import prepare_process
from sidecheck_server.workers.pool import Pool
from support.worker_processes import worker_processes

__all__ = ["MEMORY", "PATIENCE", "RunningPool", "running_pool"]

MEMORY = 200 << 20
"""Bytes that a process of the pool may use."""

PATIENCE = 300.0
"""Timeout in seconds that only a very busy machine reaches."""


class RunningPool:
    """A pool and its events."""

    def __init__(
        self,
        count: int,
        *,
        prepare: Callable[[int], Any] = prepare_process,
        argument: int = MEMORY,
        wait_seconds: float = PATIENCE,
        on_demand: bool = False,
    ) -> None:
        self.events: list[WorkerEvent] = []
        self._changed = asyncio.Event()
        self.pool = Pool(count, prepare, argument, wait_seconds, self._report, on_demand=on_demand)

    def _report(self, event: WorkerEvent) -> None:
        self.events.append(event)
        self._changed.set()

    async def next_events(self, count: int) -> list[WorkerEvent]:
        """Remove and return the first *count* events."""
        async with asyncio.timeout(PATIENCE):
            while len(self.events) < count:
                self._changed.clear()
                await self._changed.wait()
        first, self.events = self.events[:count], self.events[count:]
        return first

    async def outcome(self, seconds: float, function: Callable[..., Any], *arguments: Any) -> Any:
        """Return the result of a task, or the class of its exception."""
        try:
            async with asyncio.timeout(PATIENCE):
                return await self.pool.run(seconds, function, *arguments)
        except Exception as error:  # noqa: BLE001 - the outcome, whatever it is
            return type(error)


@asynccontextmanager
async def running_pool(count: int, **options: Any) -> AsyncIterator[RunningPool]:
    """Run a pool of *count* ready processes."""
    pool = RunningPool(count, **options)
    try:
        async with asyncio.timeout(PATIENCE):
            while pool.pool.alive < count:  # noqa: ASYNC110  (starts are not reported)
                await asyncio.sleep(0.01)
        yield pool
    finally:
        pool.pool.close()
    assert [] == worker_processes()
