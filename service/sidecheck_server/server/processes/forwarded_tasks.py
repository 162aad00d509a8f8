"""Tasks of a serving process, which the workers of the first process run for all of them."""

from collections.abc import Callable
from functools import partial
from typing import TypeVar, cast

from sidecheck_server.core.compiler.compilation import Artifact
from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.schemas.dialects import SchemaSource
from sidecheck_server.server.processes.link import Link, LinkClosed
from sidecheck_server.services.cache import Cache, weigh_entry
from sidecheck_server.workers import CALLER, Workers
from sidecheck_server.workers.tasks import CompileSchema, RunTask, Task, ignore_begin

__all__ = ["SharedWorkers", "forward_tasks"]

_Result = TypeVar("_Result")


def forward_tasks(link: Link) -> RunTask:
    """Return a function that gives tasks to the first process.

    It does not know when they begin there. A compilation that has begun when it is cancelled
    here goes on there, and is kept.
    """

    async def run(
        task: Task[_Result],
        begun: Callable[[], None] = ignore_begin,  # noqa: ARG001
    ) -> _Result:
        try:
            result: _Result = await link.call("run", CALLER.get(), task)
        except LinkClosed:
            raise RequestError(
                ErrorReason.WORKER_CRASHED,
                "the process with the workers has ended; the call may be retried",
            ) from None
        return result

    return run


class SharedWorkers(Workers):
    """Workers that run the tasks of all processes.

    Each process needs what the others have compiled. So it is compiled once, and kept as far
    as *cache_bytes* go.
    """

    def __init__(self, count: int, limits: Limits, cache_bytes: int) -> None:
        super().__init__(count, limits)
        self.artifacts: Cache[SchemaSource, Artifact] = Cache(cache_bytes, _weight)

    async def run(self, task: Task[_Result], begun: Callable[[], None] = ignore_begin) -> _Result:
        """Run *task*, unless its result is kept. What is cancelled after it has begun goes on.

        Raises:
            RequestError: as `Workers`.
        """
        if isinstance(task, CompileSchema):
            artifact = await self.artifacts.get(task.source, partial(super().run, task))
            return cast("_Result", artifact)
        return await super().run(task, begun)

    async def run_for(self, caller: str, task: Task[_Result]) -> _Result:
        """Run *task* for *caller*, a connection of one of the processes.

        Raises:
            RequestError: as `Workers`.
        """
        CALLER.set(caller)
        return await self.run(task)


def _weight(source: SchemaSource, outcome: Artifact | RequestError) -> int:
    if isinstance(outcome, RequestError):
        return weigh_entry(source, outcome)
    return weigh_entry(source, None) + outcome.memory
