"""Budget of a request: the total of the work that it may cause, in steps.

The method that serves a request opens a budget. Work for the request in the event loop, in
threads and in workers is charged to it.
"""

import math
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import replace
from typing import TypeVar

from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.evaluate import EvaluationOptions
from sidecheck_server.core.limits import (
    STEPS_PER_SECOND,
    Limits,
    limit_exceeded_error,
    not_reached_error,
)
from sidecheck_server.core.mcp.subjects import ReportLimits
from sidecheck_server.core.types import SEVERITY_RANK, Verdict, Violation
from sidecheck_server.workers.tasks import RunTask, Task, ignore_begin

__all__ = [
    "BatchBudget",
    "RequestWork",
    "charge_tasks",
    "charge_work",
    "current_work",
    "open_request",
]

_Result = TypeVar("_Result")

_LIMITED_TASK_STEPS = 4_000_000
"""Maximum steps of a task that a limit ended, other than those of steps and seconds."""

_MIN_TIMEOUTS = 10
"""Number of tasks that may time out before the budget of a request is spent; with fewer, one
slow tool would use up the budget of all others."""


def charge_tasks(run: RunTask, limits: Limits) -> RunTask:
    """Return *run* with each task charged to the budget of the current request.

    The charge for a task that succeeds is the steps that its result states. The charge for a
    task that a limit ended is that limit, or a tenth of the budget if that is less.
    """

    async def run_charged(
        task: Task[_Result], on_begin: Callable[[], None] = ignore_begin
    ) -> _Result:
        charge_work(task.input_steps())
        try:
            result = await run(task, on_begin)
        except RequestError as error:
            charge_work(_steps_until(error, task.bound, limits))
            raise
        charge_work(task.result_steps(result, limits))
        return result

    return run_charged


def _steps_until(error: RequestError, seconds_bound: str, limits: Limits) -> int:
    """Return the steps of a task that *error* ended, with limit *seconds_bound*."""
    if error.reason is ErrorReason.WORKER_CRASHED:
        return STEPS_PER_SECOND  # Another process takes about a second to start.
    bound = error.metadata.get("bound")
    if bound is None:
        return 0
    if bound == "steps":
        return limits.steps
    if bound != seconds_bound:
        return _LIMITED_TASK_STEPS
    seconds: int = getattr(limits, bound)
    return min(seconds * STEPS_PER_SECOND, limits.request_steps // _MIN_TIMEOUTS)


# Decision 0017: items within their own limits may still take gigabytes together.
class BatchBudget:
    """Budget of the remaining items of a batch.

    Bounds offloaded items, violations and their text, and the text of the request that the
    response repeats. Each invalid verdict lists at least one violation.
    """

    __slots__ = (
        "_characters",
        "_message_bytes",
        "_offloaded",
        "_offloaded_limit",
        "_text",
        "_violations",
    )

    def __init__(self, limits: Limits) -> None:
        self._offloaded = self._offloaded_limit = limits.offloaded_items
        self._violations = limits.batch_violations
        self._characters = limits.verdict_characters
        self._text = self._message_bytes = limits.message_bytes

    def count_offloaded(self) -> None:
        """Count an item that a worker validates.

        Raises:
            RequestError: LIMIT_EXCEEDED if there are too many.
        """
        if not self._offloaded:
            raise limit_exceeded_error(
                "offloaded_items", self._offloaded_limit, "items of the batch that need a worker"
            )
        self._offloaded -= 1

    def limit_evaluation(self, options: EvaluationOptions) -> EvaluationOptions:
        """Return *options*, bounded by the violations that the batch may still report."""
        if options.max_violations <= self._violations and options.max_length <= self._characters:
            return options
        return replace(
            options,
            max_violations=max(1, min(options.max_violations, self._violations)),
            max_length=self._characters,
            explains=options.explains and self._characters > 0,
        )

    def limit_report(self, limits: ReportLimits) -> ReportLimits:
        """Return *limits*, bounded by the violations that the batch may still report."""
        if limits.max_violations <= self._violations and limits.max_characters <= self._characters:
            return limits
        max_violations = max(1, min(limits.max_violations, self._violations))
        return replace(limits, max_violations=max_violations, max_characters=self._characters)

    def charge(self, verdict: Verdict) -> None:
        """Deduct the violations of *verdict* and the text of its repair.

        Raises:
            RequestError: LIMIT_EXCEEDED if the repairs of the batch are too large in total.
        """
        self._violations = max(0, self._violations - len(verdict.violations))
        self.charge_characters(sum(violation.length for violation in verdict.violations))
        if verdict.repair is not None:
            self.charge_text(verdict.repair.length, "the repaired payloads of the batch")

    @property
    def has_characters(self) -> bool:
        """Whether more than the first violation of each verdict may be reported."""
        return self._characters > 0

    def charge_characters(self, length: int) -> None:
        """Deduct *length* characters of violations, or of replies."""
        self._characters = max(0, self._characters - length)

    def truncate(self, verdict: Verdict) -> Verdict:
        """Charge *verdict* and return it with the most severe violations that still fit."""
        violations = verdict.violations
        length = sum(violation.length for violation in violations)
        if len(violations) > self._violations or length > self._characters:
            verdict = self._truncated(violations)
        self.charge(verdict)
        return verdict

    def _truncated(self, violations: tuple[Violation, ...]) -> Verdict:
        reported: list[Violation] = []
        remaining = self._characters
        for violation in sorted(
            violations, key=lambda violation: SEVERITY_RANK[violation.severity]
        ):
            remaining -= violation.length
            if reported and (remaining < 0 or len(reported) >= self._violations):
                break
            reported.append(violation)
        return Verdict.listing(reported, truncated=len(reported) < len(violations))

    def charge_text(self, length: int, subject: str) -> None:
        """Deduct *length* characters of the request that the response repeats.

        Raises:
            RequestError: LIMIT_EXCEEDED, about *subject*, if there are too many in total.
        """
        self._text -= length
        if self._text < 0:
            raise limit_exceeded_error("message_bytes", self._message_bytes, subject)


# Decision 0050: a budget of steps, since time depends on the machine.
class RequestWork:
    """Remaining steps of a request.

    Work is charged when it is done. So an item that has begun is also finished, and a request
    exceeds its budget by at most one item, or one group of items.
    """

    __slots__ = ("_at_item", "_limit", "_remaining")

    def __init__(self, limit: float) -> None:
        self._limit = limit
        self._remaining = limit
        #: Steps that remained when the current item began.
        self._at_item = limit

    def charge(self, steps: int) -> None:
        """Deduct *steps*."""
        self._remaining -= steps

    @property
    def spent(self) -> float:
        """Steps taken so far."""
        return self._limit - self._remaining

    @property
    def is_spent(self) -> bool:
        """Whether no step is left."""
        return self._remaining <= 0

    def begin_item(self) -> None:
        """Begin the next item of the request.

        Raises:
            RequestError: LIMIT_EXCEEDED if no step is left for it.
        """
        if self.is_spent:
            raise self.not_reached()
        self._at_item = self._remaining

    def require(self) -> None:
        """Check in the middle of an item that a step is left.

        Raises:
            RequestError: LIMIT_EXCEEDED if no step is left.
        """
        if not self.is_spent:
            return
        if self._at_item < self._limit:
            # Earlier items used steps, so this one may succeed in a separate request.
            raise self.not_reached()
        raise limit_exceeded_error("request_steps", int(self._limit), "the request takes too long")

    def not_reached(self) -> RequestError:
        """Return the error of an item for which no step is left."""
        return not_reached_error(int(self._limit))


_WORK: ContextVar[RequestWork] = ContextVar("_WORK")
"""The budget of the request for which the current task works."""

_UNBOUNDED = RequestWork(math.inf)


def open_request(limits: Limits) -> RequestWork:
    """Open a budget for the current task and the tasks that it starts, and return it."""
    work = RequestWork(limits.request_steps)
    _WORK.set(work)
    return work


def current_work() -> RequestWork:
    """Return the budget of the current task, which is unbounded outside of requests."""
    return _WORK.get(_UNBOUNDED)


def charge_work(steps: int) -> None:
    """Deduct *steps* from the budget of the current task."""
    _WORK.get(_UNBOUNDED).charge(steps)
