"""Forwarding of tasks from serving processes to the workers of the first process."""

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
    """Return a function that runs tasks in the first process.

    The function never calls *on_begin*. If a call is cancelled after its compilation has begun,
    the first process still completes the compilation and caches the result.
    """

    async def run(
        task: Task[_Result],
        on_begin: Callable[[], None] = ignore_begin,  # noqa: ARG001
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

    All processes need the same compilations, so results are cached in *cache_bytes*.
    """

    def __init__(self, count: int, limits: Limits, cache_bytes: int) -> None:
        super().__init__(count, limits)
        self.artifacts: Cache[SchemaSource, Artifact] = Cache(cache_bytes, _weigh_artifact)

    async def run(
        self, task: Task[_Result], on_begin: Callable[[], None] = ignore_begin
    ) -> _Result:
        """Run *task*, or return its cached result.

        A compilation that is cancelled after it has begun continues.

        Raises:
            RequestError: as `Workers`.
        """
        if isinstance(task, CompileSchema):
            artifact = await self.artifacts.get(task.source, partial(super().run, task))
            return cast("_Result", artifact)
        return await super().run(task, on_begin)

    async def run_for(self, caller: str, task: Task[_Result]) -> _Result:
        """Run *task* for *caller*, a connection of one of the processes.

        Raises:
            RequestError: as `Workers`.
        """
        CALLER.set(caller)
        return await self.run(task)


def _weigh_artifact(source: SchemaSource, outcome: Artifact | RequestError) -> int:
    if isinstance(outcome, RequestError):
        return weigh_entry(source, outcome)
    return weigh_entry(source, None) + outcome.memory
