"""Tasks: how one begins, and when it changed (2025-11-25)."""

from collections.abc import Iterator
from typing import Any

from sidecheck_server.core.explain.values import Values
from sidecheck_server.core.mcp.context import Context
from sidecheck_server.core.mcp.rules.rule import Clause, Fault, Rule, rule
from sidecheck_server.core.mcp.timestamps import is_iso_8601
from sidecheck_server.core.types import Severity

__all__ = ["RULES"]

_PAGE = "basic/utilities/tasks"
_ONLY = "2025-11-25"
# What ends a task cannot be how it begins; other texts are a matter of shape.
_LATER = ("input_required", "completed", "failed", "cancelled")


@rule(
    "TASK_BEGINS_WORKING",
    severity=Severity.ERROR,
    clause=Clause(_PAGE, "task-status-lifecycle"),
    sentence='The status of a task that was just created is "working".',
    on="CreateTaskResult",
    since=_ONLY,
    until=_ONLY,
)
def _begins(result: Any, context: Context) -> Iterator[Fault]:
    task = result.get("task") if isinstance(result, dict) else None
    status = task.get("status") if isinstance(task, dict) else None
    if status in _LATER:
        found = Values(hidden=context.hide_values).found(status)
        said = f'a task must begin with the status "working", found {found}'
        yield Fault(("task", "status"), said, "working")


@rule(
    "TASK_TIMESTAMP",
    severity=Severity.ERROR,
    clause=Clause(_PAGE, "ttl-and-resource-management"),
    sentence="createdAt and lastUpdatedAt of a task are timestamps of ISO 8601.",
    on=("Task", "GetTaskResult", "CancelTaskResult", "TaskStatusNotificationParams"),
    since=_ONLY,
    until=_ONLY,
)
def _dated(task: Any, context: Context) -> Iterator[Fault]:
    if not isinstance(task, dict):
        return
    for member in ("createdAt", "lastUpdatedAt"):
        moment = task.get(member)
        if isinstance(moment, str) and not is_iso_8601(moment):
            found = Values(hidden=context.hide_values).found(moment)
            said = f"{member} must be of ISO 8601 such as 2025-11-25T10:30:00Z; found {found}"
            yield Fault((member,), said)


RULES: tuple[Rule, ...] = (_begins, _dated)
