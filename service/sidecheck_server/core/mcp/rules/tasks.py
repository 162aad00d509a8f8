"""Rules on tasks of 2025-11-25, and on the tasks extension of 2026-07-28.

The extension is `io.modelcontextprotocol/tasks` (SEP-2663). Other code finds the faults of the
rules without a check: `core.mcp.sessions.tasks` and `core.mcp.sessions.task_states` for relations
between messages, and `core.mcp.messages.checking`.
"""

from collections.abc import Iterator
from typing import Any

from sidecheck_server.core.explain.values import Values, join_phrase
from sidecheck_server.core.mcp.context import Context
from sidecheck_server.core.mcp.methods import TASKS_EXTENSION
from sidecheck_server.core.mcp.rules.capabilities import (
    declares_extension,
    find_client_capabilities,
    lacks_extension,
)
from sidecheck_server.core.mcp.rules.rule import Clause, Fault, Group, RuleSet
from sidecheck_server.core.types import Severity

__all__ = [
    "CANCELLED_BY_NOTIFICATION",
    "CANCEL_ACCEPTED",
    "CLIENT_UNDECLARED",
    "EXTENSION_ID_REUSED",
    "EXTENSION_TERMINAL_LEFT",
    "FORBIDDEN",
    "FORBIDDEN_ANSWERED",
    "ID_MISMATCH",
    "ID_REUSED",
    "INPUT_KEY_REUSED",
    "INPUT_UNKNOWN",
    "MISPLACED",
    "NOT_CREATED",
    "PROGRESS_AFTER_END",
    "RELATED_MISMATCH",
    "REQUIRED",
    "REQUIRED_ANSWERED",
    "RESULT_ID_MISMATCH",
    "RESULT_TYPE_MISMATCH",
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
    "A CreateTaskResult MUST be the response to a request as a task, and its sender MUST have "
    "declared the capability for the method.",
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
    # The schema rejects unknown statuses.
    if status in ("working", "input_required", "completed", "failed"):
        description = Values(hidden=context.hide_values).describe(status)
        yield Fault(("status",), f'expected "cancelled", found {description}', "cancelled")


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
ID_MISMATCH = _TASK_RULES.declare(
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
RESULT_ID_MISMATCH = _TASK_RULES.declare(
    "TASK_RESULT_ID_MISMATCH",
    Severity.ERROR,
    _ASSOCIATION,
    "The result of tasks/result MUST name the task of the request in `_meta`.",
)
RESULT_TYPE_MISMATCH = _TASK_RULES.declare(
    "TASK_RESULT_TYPE_MISMATCH",
    Severity.ERROR,
    _RETRIEVAL,
    "tasks/result MUST return the result that the request would have had without a task.",
)
RELATED_MISMATCH = _TASK_RULES.declare(
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


_SINCE = "2026-07-28"
_OVERVIEW = "https://modelcontextprotocol.io/extensions/tasks/overview"
_UPDATE = Clause(_SEP, "task-update-requests")
_STATUS_PROPERTIES = {"input_required": "inputRequests", "completed": "result", "failed": "error"}
"""Property of a task, by status."""

_EXTENSION_RULES = RuleSet(Group.TASKS_EXTENSION, since=_SINCE)


@_EXTENSION_RULES.rule(
    "TASK_CLIENT_UNDECLARED",
    Severity.ERROR,
    Clause(_SEP, "capability-negotiation"),
    "A server MUST NOT create a task for a client that did not declare the extension "
    "in the request, nor answer its requests about tasks, nor notify it of them.",
    on=("CreateTaskResult", "GetTaskResult", "TaskAcknowledgement"),
)
def _client_undeclared(value: Any, context: Context) -> Iterator[Fault]:
    declared = find_client_capabilities(context)
    if declared is None or declares_extension(declared, TASKS_EXTENSION):
        return
    creates = isinstance(value, dict) and value.get("resultType") == "task"
    if creates and lacks_extension(context, TASKS_EXTENSION):
        return  # RESULT_TYPE_UNKNOWN reports it.
    yield Fault((), f"the client did not declare {TASKS_EXTENSION} in the request")


#: In sessions, the rule applies to subscriptions too.
CLIENT_UNDECLARED = _client_undeclared
MISPLACED = _EXTENSION_RULES.declare(
    "TASK_RESULT_MISPLACED",
    Severity.ERROR,
    Clause(_SEP, "capability-negotiation"),
    "Only a result of tools/call creates a task; a result of another method MUST NOT: clients "
    "treat it as invalid.",
)


@_EXTENSION_RULES.rule(
    "TASK_RESULT_TYPE",
    Severity.ERROR,
    Clause(_SEP, "polymorphic-results"),
    'The type of the results of tasks/get, tasks/update and tasks/cancel MUST be "complete".',
    on=("GetTaskResult", "TaskAcknowledgement"),
)
def _result_type(value: Any, context: Context) -> Iterator[Fault]:
    type_ = value.get("resultType") if isinstance(value, dict) else None
    if isinstance(type_, str) and type_ != "complete":
        description = Values(hidden=context.hide_values).describe(type_)
        yield Fault(("resultType",), f'expected "complete", found {description}', "complete")


@_EXTENSION_RULES.rule(
    "TASK_STATUS_FIELD_MISSING",
    Severity.ERROR,
    Clause(_SEP, "task-polling"),
    "The result of tasks/get MUST have the `result` of a completed task, the `error` "
    "of a failed one, and the `inputRequests` of one that requires input.",
    on="GetTaskResult",
)
def _status_field(value: Any, _context: Context) -> Iterator[Fault]:
    return _find_missing_property(value)


def _find_missing_property(value: Any) -> Iterator[Fault]:
    status = value.get("status") if isinstance(value, dict) else None
    name = _STATUS_PROPERTIES.get(status) if isinstance(status, str) else None
    if name is not None and name not in value:
        message = f'missing required property "{name}" of a task with the status "{status}"'
        yield Fault((), message, name)


@_EXTENSION_RULES.rule(
    "TASK_NOTIFICATION_INCOMPLETE",
    Severity.WARNING,
    Clause(_SEP, "task-status-notifications"),
    "notifications/tasks has the properties of a result of tasks/get, including the `result`, "
    "`error` or `inputRequests` of the status.",
    on="TaskStatusNotificationParams",
)
def _incomplete_notification(value: Any, _context: Context) -> Iterator[Fault]:
    return _find_missing_property(value)


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
        listing = "" if context.hide_values else f": {join_phrase(_quote_names(names), 'and')}"
        yield Fault((), f"expected an empty result, found further properties{listing}")


_MAX_NAMES = 5


def _quote_names(names: list[str]) -> tuple[str, ...]:
    return tuple(repr(name[:32]) for name in names[:_MAX_NAMES])


@_EXTENSION_RULES.rule(
    "TASK_CAPABILITY_LEGACY",
    Severity.ERROR,
    Clause(_SEP, "backward-compatibility"),
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
    "A key of `inputRequests` MUST NOT identify two requests in the life of a task.",
)
INPUT_UNKNOWN = _EXTENSION_RULES.declare(
    "TASK_INPUT_UNKNOWN",
    Severity.ERROR,
    _UPDATE,
    "Each key of the `inputResponses` of tasks/update MUST be one of the task's `inputRequests`.",
    needs_whole_session=True,
)
EXTENSION_TERMINAL_LEFT = _EXTENSION_RULES.declare(
    "TASK_TERMINAL_LEFT_IN_EXTENSION",
    Severity.WARNING,
    Clause(_OVERVIEW, "task-lifecycle"),
    "The status of a task does not change once it is completed, failed or cancelled.",
)
EXTENSION_ID_REUSED = _EXTENSION_RULES.declare(
    "TASK_ID_REUSED_IN_EXTENSION",
    Severity.WARNING,
    Clause(_OVERVIEW, "for-mcp-servers"),
    "Each task has a `taskId` of its own.",
)
