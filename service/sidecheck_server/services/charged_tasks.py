"""Tasks of workers, charged to the request that they are done for.

What a cache has is not computed, and so is not charged.
"""

from collections.abc import Callable
from typing import TypeVar

from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.limits import STEPS_PER_SECOND, Limits
from sidecheck_server.services.request_work import charge_work
from sidecheck_server.workers.tasks import RunTask, Task, ignore_begin

__all__ = ["charge_tasks"]

_Result = TypeVar("_Result")

_ENDED_BY_LIMIT = 4_000_000
"""Steps of a task that a limit other than that of steps ended, at worst."""

_LEAST_ENDED = 10
"""How many tasks that took too many seconds a request may have: fewer would leave nothing to the
tools or items beside them."""


def charge_tasks(run: RunTask, limits: Limits) -> RunTask:
    """Return *run* with each task charged to the budget of the current request.

    A task that succeeds is charged what it took, in steps, as far as its result says; one
    that a limit ended, that limit, if it leaves most of the budget to others.
    """

    async def run_charged(task: Task[_Result], begun: Callable[[], None] = ignore_begin) -> _Result:
        charge_work(task.input_steps())
        try:
            result = await run(task, begun)
        except RequestError as error:
            charge_work(_steps_until(error, task.bound, limits))
            raise
        charge_work(task.result_steps(result, limits))
        return result

    return run_charged


def _steps_until(error: RequestError, seconds_bound: str, limits: Limits) -> int:
    """Return the steps of a task that *error* ended, whose seconds have *seconds_bound*."""
    if error.reason is ErrorReason.WORKER_CRASHED:
        return STEPS_PER_SECOND  # Another process takes about a second to start.
    bound = error.metadata.get("bound")
    if bound is None:
        return 0
    if bound == "steps":
        return limits.steps
    if bound != seconds_bound:
        return _ENDED_BY_LIMIT
    seconds: int = getattr(limits, bound)
    return min(seconds * STEPS_PER_SECOND, limits.request_steps // _LEAST_ENDED)
