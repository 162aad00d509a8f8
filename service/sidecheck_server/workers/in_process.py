"""Worker tasks in the calling process, for commands that serve a single user."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from sidecheck_server.core.limits import Limits
from sidecheck_server.workers.tasks import Task, ignore_begin
from sidecheck_server.workers.workers import Workers

__all__ = ["InProcessWorker"]

_Result = TypeVar("_Result")

_WAIT_SECONDS = 60
"""How long tasks wait for another process after a crash; no caller has a deadline."""


class InProcessWorker:
    """Runs each task at once, but for those that need a process, which the first one starts.

    Limits in steps and bytes apply; those in seconds and memory need a process to kill.
    """

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._workers: Workers | None = None
        self._starting: asyncio.Task[None] | None = None

    async def run(self, task: Task[_Result], begun: Callable[[], None] = ignore_begin) -> _Result:
        """Return the result of *task*; *begun* is called when it starts.

        Raises:
            RequestError: as `Task.execute`; of a task that needs a process, as `Workers.run`.
            WorkerStartError: no process can be started.
        """
        if not task.needs_process:
            begun()
            return task.execute(self._limits)
        if self._workers is None or self._starting is None:
            limits = replace(self._limits, worker_wait_seconds=_WAIT_SECONDS)
            self._workers = Workers(1, limits)
            self._starting = asyncio.create_task(self._workers.start())
        # A task that is cancelled leaves the start to the others.
        await asyncio.shield(self._starting)
        return await self._workers.run(task, begun)

    def close(self) -> None:
        """Stop the process, if there is one."""
        if self._workers is not None:
            self._workers.close()
