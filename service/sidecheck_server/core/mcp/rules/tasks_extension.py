"""Tasks extension.

The extension `io.modelcontextprotocol/tasks` of 2026-07-28 (SEP-2663). The rules without a
check are found by other code: `messages.responses`, and `sessions.tasks` for those that hold
between messages.
"""

from collections.abc import Iterator
from typing import Any

from sidecheck_server.core.explain.values import Values, join_phrase
from sidecheck_server.core.mcp.context import Context
from sidecheck_server.core.mcp.methods import TASKS_EXTENSION
from sidecheck_server.core.mcp.rules.capabilities import (
    declared_by_client,
    declares_extension,
    lacks_extension,
)
from sidecheck_server.core.mcp.rules.rule import Clause, Fault, Group, RuleSet
from sidecheck_server.core.types import Severity

__all__ = [
    "CLIENT_UNDECLARED",
    "ID_REUSED",
    "INPUT_KEY_REUSED",
    "INPUT_UNKNOWN",
    "MISPLACED",
    "TERMINAL_LEFT",
]

_SINCE = "2026-07-28"
_PAGE = "https://modelcontextprotocol.io/seps/2663-tasks-extension"
_OVERVIEW = "https://modelcontextprotocol.io/extensions/tasks/overview"
_UPDATE = Clause(_PAGE, "task-update-requests")
_OF_STATUS = {"input_required": "inputRequests", "completed": "result", "failed": "error"}
"""By status, the property that a task has in it."""

_EXTENSION_RULES = RuleSet(Group.TASKS_EXTENSION, since=_SINCE)


@_EXTENSION_RULES.rule(
    "TASK_CLIENT_UNDECLARED",
    Severity.ERROR,
    Clause(_PAGE, "capability-negotiation"),
    "A server MUST NOT create a task for a client that did not declare the extension "
    "in the request, nor answer its requests about tasks, nor notify it of them.",
    on=("CreateTaskResult", "GetTaskResult", "TaskAcknowledgement"),
)
def _client_undeclared(value: Any, context: Context) -> Iterator[Fault]:
    declared = declared_by_client(context)
    if declared is None or declares_extension(declared, TASKS_EXTENSION):
        return
    creates = isinstance(value, dict) and value.get("resultType") == "task"
    if creates and lacks_extension(context, TASKS_EXTENSION):
        return  # The result type is unknown then, which is reported alone.
    yield Fault((), f"the client did not declare {TASKS_EXTENSION} in the request")


#: In a session it holds for subscriptions too.
CLIENT_UNDECLARED = _client_undeclared
MISPLACED = _EXTENSION_RULES.declare(
    "TASK_RESULT_MISPLACED",
    Severity.ERROR,
    Clause(_PAGE, "capability-negotiation"),
    "A result MUST NOT create a task unless it is one of tools/call: clients treat it as invalid.",
)


@_EXTENSION_RULES.rule(
    "TASK_RESULT_TYPE",
    Severity.ERROR,
    Clause(_PAGE, "polymorphic-results"),
    'The type of the results of tasks/get, tasks/update and tasks/cancel MUST be "complete".',
    on=("GetTaskResult", "TaskAcknowledgement"),
)
def _result_type(value: Any, context: Context) -> Iterator[Fault]:
    type_ = value.get("resultType") if isinstance(value, dict) else None
    if isinstance(type_, str) and type_ != "complete":
        found = Values(hidden=context.hide_values).describe(type_)
        yield Fault(("resultType",), f'expected "complete", found {found}', "complete")


@_EXTENSION_RULES.rule(
    "TASK_STATUS_FIELD_MISSING",
    Severity.ERROR,
    Clause(_PAGE, "task-polling"),
    "The result of tasks/get MUST have the `result` of a completed task, the `error` "
    "of a failed one, and the `inputRequests` of one that requires input.",
    on="GetTaskResult",
)
def _status_field(value: Any, _context: Context) -> Iterator[Fault]:
    return _missing_of_status(value)


def _missing_of_status(value: Any) -> Iterator[Fault]:
    status = value.get("status") if isinstance(value, dict) else None
    name = _OF_STATUS.get(status) if isinstance(status, str) else None
    if name is not None and name not in value:
        message = f'missing required property "{name}" of a task with the status "{status}"'
        yield Fault((), message, name)


@_EXTENSION_RULES.rule(
    "TASK_NOTIFICATION_INCOMPLETE",
    Severity.WARNING,
    Clause(_PAGE, "task-status-notifications"),
    "notifications/tasks carries what tasks/get would return: the `result`, `error` or "
    "`inputRequests` of the status too.",
    on="TaskStatusNotificationParams",
)
def _incomplete_notification(value: Any, _context: Context) -> Iterator[Fault]:
    return _missing_of_status(value)


@_EXTENSION_RULES.rule(
    "TASK_ACKNOWLEDGEMENT_NOT_EMPTY",
    Severity.ERROR,
    _UPDATE,
    "The result of tasks/update and tasks/cancel MUST be empty.",
    on="TaskAcknowledgement",
)
def _not_empty(value: Any, context: Context) -> Iterator[Fault]:
    names = sorted(value.keys() - {"resultType", "_meta"}) if isinstance(value, dict) else []
    if names:
        shown = "" if context.hide_values else f": {join_phrase(_quoted(names), 'and')}"
        yield Fault((), f"expected an empty result, found further properties{shown}")


_MOST_NAMES = 5


def _quoted(names: list[str]) -> tuple[str, ...]:
    return tuple(repr(name[:32]) for name in names[:_MOST_NAMES])


@_EXTENSION_RULES.rule(
    "TASK_CAPABILITY_LEGACY",
    Severity.ERROR,
    Clause(_PAGE, "backward-compatibility"),
    "A server with the tasks extension MUST NOT declare the capability `tasks` of 2025-11-25.",
    on="ServerCapabilities",
)
def _legacy_capability(value: Any, _context: Context) -> Iterator[Fault]:
    if isinstance(value, dict) and "tasks" in value and declares_extension(value, TASKS_EXTENSION):
        message = f"{TASKS_EXTENSION} replaces the capability tasks of 2025-11-25"
        yield Fault(("tasks",), message)


INPUT_KEY_REUSED = _EXTENSION_RULES.declare(
    "TASK_INPUT_KEY_REUSED",
    Severity.ERROR,
    _UPDATE,
    "A key of `inputRequests` MUST NOT stand for two requests in the life of a task.",
)
INPUT_UNKNOWN = _EXTENSION_RULES.declare(
    "TASK_INPUT_UNKNOWN",
    Severity.ERROR,
    _UPDATE,
    "Each key of the `inputResponses` of tasks/update MUST be one of the task's `inputRequests`.",
    needs_whole_session=True,
)
TERMINAL_LEFT = _EXTENSION_RULES.declare(
    "TASK_TERMINAL_LEFT_IN_EXTENSION",
    Severity.WARNING,
    Clause(_OVERVIEW, "task-lifecycle"),
    "The status of a task does not change once it is completed, failed or cancelled.",
)
ID_REUSED = _EXTENSION_RULES.declare(
    "TASK_ID_REUSED_IN_EXTENSION",
    Severity.WARNING,
    Clause(_OVERVIEW, "for-mcp-servers"),
    "Each task has a `taskId` of its own.",
)
