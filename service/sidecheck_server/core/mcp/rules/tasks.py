"""Tasks.

Tasks of 2025-11-25. Most rules hold between messages; `core.mcp.sessions.tasks` finds their
violations. Some hold in the extension of 2026-07-28 too.
"""

from collections.abc import Iterator
from typing import Any

from sidecheck_server.core.explain.values import Values
from sidecheck_server.core.mcp.context import Context
from sidecheck_server.core.mcp.rules.rule import Clause, Fault, Group, RuleSet
from sidecheck_server.core.types import Severity

__all__ = [
    "CANCELLED_BY_NOTIFICATION",
    "CANCEL_ACCEPTED",
    "FORBIDDEN",
    "FORBIDDEN_ANSWERED",
    "ID_REUSED",
    "NOT_CREATED",
    "OTHER",
    "PROGRESS_AFTER_END",
    "RELATED_MISSING",
    "REQUIRED",
    "REQUIRED_ANSWERED",
    "RESULT_OTHER",
    "RESULT_OTHER_TYPE",
    "TERMINAL_LEFT",
    "UNASKED",
]

_TASKS, _EXTENSION = "2025-11-25", "2026-07-28"
_PAGE = "basic/utilities/tasks"
_SEP = "https://modelcontextprotocol.io/seps/2663-tasks-extension"
_TOOLS = Clause(_PAGE, "tool-level-negotiation")
_LIFECYCLE = Clause(_PAGE, "task-status-lifecycle")
_RETRIEVAL = Clause(_PAGE, "result-retrieval")
_ASSOCIATION = Clause(_PAGE, "associating-task-related-messages")
_CANCELLATION = Clause(_PAGE, "task-cancellation")


_TASK_RULES = RuleSet(Group.TASKS, since=_TASKS, until=_TASKS)

REQUIRED = _TASK_RULES.declare(
    "TASK_REQUIRED",
    Severity.ERROR,
    _TOOLS,
    'A tool with the taskSupport "required" MUST be called as a task.',
    needs_whole_session=True,
)
REQUIRED_ANSWERED = _TASK_RULES.declare(
    "TASK_REQUIRED_ANSWERED",
    Severity.ERROR,
    _TOOLS,
    'A call of a tool with the taskSupport "required" that is not a task MUST be answered with '
    "the error -32601.",
    needs_whole_session=True,
)
FORBIDDEN = _TASK_RULES.declare(
    "TASK_FORBIDDEN",
    Severity.ERROR,
    _TOOLS,
    'A tool without taskSupport, or with "forbidden", MUST NOT be called as a task.',
    needs_whole_session=True,
)
FORBIDDEN_ANSWERED = _TASK_RULES.declare(
    "TASK_FORBIDDEN_ANSWERED",
    Severity.WARNING,
    _TOOLS,
    "A call as a task of a tool that forbids it SHOULD be answered with the error -32601.",
    needs_whole_session=True,
)
NOT_CREATED = _TASK_RULES.declare(
    "TASK_NOT_CREATED",
    Severity.ERROR,
    _RETRIEVAL,
    "A request as a task that is accepted MUST be answered with a CreateTaskResult.",
    needs_whole_session=True,
)
UNASKED = _TASK_RULES.declare(
    "TASK_UNASKED",
    Severity.ERROR,
    Clause(_PAGE, "task-support-and-handling"),
    "A CreateTaskResult MUST answer a request as a task, of a type for which its receiver "
    "declared the capability.",
)
ID_REUSED = _TASK_RULES.declare(
    "TASK_ID_REUSED",
    Severity.ERROR,
    Clause(_PAGE, "task-id-requirements"),
    "A taskId MUST be unique among all tasks of its receiver.",
)
TERMINAL_LEFT = _TASK_RULES.declare(
    "TASK_TERMINAL_LEFT",
    Severity.ERROR,
    _LIFECYCLE,
    "A task that is completed, failed or cancelled MUST NOT change its status.",
)
CANCEL_ACCEPTED = _TASK_RULES.declare(
    "TASK_CANCEL_ACCEPTED",
    Severity.ERROR,
    _CANCELLATION,
    "The cancellation of a completed, failed or cancelled task MUST be rejected with the error "
    "-32602.",
)


@_TASK_RULES.rule(
    "TASK_NOT_CANCELLED",
    Severity.ERROR,
    _CANCELLATION,
    "A task MUST be cancelled before tasks/cancel is answered with a result.",
    on="CancelTaskResult",
)
def _not_cancelled(value: Any, context: Context) -> Iterator[Fault]:
    status = value.get("status") if isinstance(value, dict) else None
    # The schema rejects other texts.
    if status in ("working", "input_required", "completed", "failed"):
        found = Values(hidden=context.hide_values).describe(status)
        yield Fault(("status",), f'expected "cancelled", found {found}', "cancelled")


@_TASK_RULES.rule(
    "TASK_FAILED_WITHOUT_MESSAGE",
    Severity.WARNING,
    Clause(
        _SEP,
        "task-execution-errors",
        before=((_TASKS, _PAGE, "task-execution-errors"),),
    ),
    "The result of tasks/get for a failed task SHOULD have a `statusMessage` about the failure.",
    on="GetTaskResult",
    until=_EXTENSION,
)
def _failed_without_message(value: Any, _context: Context) -> Iterator[Fault]:
    if isinstance(value, dict) and value.get("status") == "failed" and "statusMessage" not in value:
        yield Fault((), "missing the statusMessage of a failed task", "statusMessage")


CANCELLED_BY_NOTIFICATION = _TASK_RULES.declare(
    "TASK_CANCELLED_BY_NOTIFICATION",
    Severity.ERROR,
    Clause(
        _SEP,
        "task-cancellation",
        before=((_TASKS, "basic/utilities/cancellation", "behavior-requirements"),),
    ),
    "A task MUST be cancelled with tasks/cancel, not with notifications/cancelled.",
    until=_EXTENSION,
)
OTHER = _TASK_RULES.declare(
    "TASK_ID_MISMATCH",
    Severity.ERROR,
    Clause(
        _SEP,
        "task-polling",
        before=((_TASKS, _PAGE, "associating-task-related-messages"),),
    ),
    "The result of tasks/get or tasks/cancel MUST be about the task of the request.",
    until=_EXTENSION,
)
RESULT_OTHER = _TASK_RULES.declare(
    "TASK_RESULT_ID_MISMATCH",
    Severity.ERROR,
    _ASSOCIATION,
    "The result of tasks/result MUST name the task of the request in `_meta`.",
)
RESULT_OTHER_TYPE = _TASK_RULES.declare(
    "TASK_RESULT_TYPE_MISMATCH",
    Severity.ERROR,
    _RETRIEVAL,
    "tasks/result MUST return what the request of the task would have returned.",
)
RELATED_MISSING = _TASK_RULES.declare(
    "TASK_RELATED_MISMATCH",
    Severity.ERROR,
    _ASSOCIATION,
    "The result of a request that names a related task MUST name the same task in `_meta`.",
)
PROGRESS_AFTER_END = _TASK_RULES.declare(
    "TASK_PROGRESS_AFTER_END",
    Severity.ERROR,
    Clause("basic/utilities/progress", "behavior-requirements"),
    "Progress of a task MUST stop once it is completed, failed or cancelled.",
)
