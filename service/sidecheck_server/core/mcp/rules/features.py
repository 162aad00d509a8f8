"""Features: tasks, completion, roots and logging."""

from collections.abc import Iterator
from typing import Any

from sidecheck_server.core.explain.values import Values
from sidecheck_server.core.formats.uris import is_uri
from sidecheck_server.core.limits import spend
from sidecheck_server.core.mcp.context import Context
from sidecheck_server.core.mcp.rules.rule import Clause, Fault, Group, RuleSet
from sidecheck_server.core.mcp.text_encodings import is_iso_8601
from sidecheck_server.core.types import Severity

_TASKS_PAGE = "basic/utilities/tasks"
_TASKS = "2025-11-25"
#: Statuses that a task can only reach later; the schema rejects other texts.
_LATER_STATUSES = ("input_required", "completed", "failed", "cancelled")

_MAX_COMPLETIONS = 100
_FILE_SCHEME = "file://"

_DEPRECATED = Clause("deprecated", "deprecated")
_DEPRECATED_SINCE = "2026-07-28"


_FEATURE_RULES = RuleSet(Group.FEATURES)


@_FEATURE_RULES.rule(
    "TASK_BEGINS_WORKING",
    Severity.ERROR,
    Clause(_TASKS_PAGE, "task-status-lifecycle"),
    'A task MUST begin with the status "working".',
    on="CreateTaskResult",
    since=_TASKS,
    until=_TASKS,
)
def _initial_status(result: Any, context: Context) -> Iterator[Fault]:
    task = result.get("task") if isinstance(result, dict) else None
    status = task.get("status") if isinstance(task, dict) else None
    if status in _LATER_STATUSES:
        found = Values(hidden=context.hide_values).describe(status)
        message = f'a task must begin with the status "working", found {found}'
        yield Fault(("task", "status"), message, "working")


@_FEATURE_RULES.rule(
    "TASK_TIMESTAMP",
    Severity.ERROR,
    Clause(_TASKS_PAGE, "ttl-and-resource-management"),
    "createdAt and lastUpdatedAt of a task MUST be ISO 8601 timestamps.",
    on=("Task", "GetTaskResult", "CancelTaskResult", "TaskStatusNotificationParams"),
    since=_TASKS,
    until=_TASKS,
)
def _timestamps(task: Any, context: Context) -> Iterator[Fault]:
    if not isinstance(task, dict):
        return
    for name in ("createdAt", "lastUpdatedAt"):
        timestamp = task.get(name)
        if isinstance(timestamp, str) and not is_iso_8601(timestamp):
            found = Values(hidden=context.hide_values).describe(timestamp)
            message = (
                f"{name} must be an ISO 8601 timestamp such as 2025-11-25T10:30:00Z; found {found}"
            )
            yield Fault((name,), message)


@_FEATURE_RULES.rule(
    "COMPLETION_TOO_LONG",
    Severity.ERROR,
    Clause("server/utilities/completion", "completion-results"),
    "A completion MUST have at most 100 values. (Since 2026-07-28 the published "
    "schema demands it.)",
    on="CompleteResult",
    until="2025-11-25",
)
def _completion_length(result: Any, _context: Context) -> Iterator[Fault]:
    completion = result.get("completion") if isinstance(result, dict) else None
    values = completion.get("values") if isinstance(completion, dict) else None
    if isinstance(values, list) and len(values) > _MAX_COMPLETIONS:
        message = f"expected at most {_MAX_COMPLETIONS} values, found {len(values)}"
        yield Fault(("completion", "values"), message)


@_FEATURE_RULES.rule(
    "ROOT_URI",
    Severity.ERROR,
    Clause("client/roots", "root"),
    "The uri of a root MUST be a file:// URI.",
    on="Root",
)
def _root_uri(root: Any, context: Context) -> Iterator[Fault]:
    uri = root.get("uri") if isinstance(root, dict) else None
    if not isinstance(uri, str):
        return
    spend(context.budget, min(len(uri), 1 << 16) // 8 + 40)
    if uri[: len(_FILE_SCHEME)].lower() != _FILE_SCHEME or not is_uri(uri):
        found = Values(hidden=context.hide_values).describe(uri)
        yield Fault(("uri",), f"uri must be a file:// URI such as file:///home/ann; found {found}")


@_FEATURE_RULES.rule(
    "ROOTS_DEPRECATED",
    Severity.WARNING,
    _DEPRECATED,
    "Roots are deprecated: places SHOULD be passed in tool parameters, resource URIs "
    "or the settings of the server.",
    on="ListRootsRequest",
    since=_DEPRECATED_SINCE,
)
def _roots_deprecated(_value: Any, _context: Context) -> Iterator[Fault]:
    yield Fault((), "roots are deprecated since 2026-07-28 (SEP-2577)")


@_FEATURE_RULES.rule(
    "LOGGING_DEPRECATED",
    Severity.WARNING,
    _DEPRECATED,
    "Logging by notifications is deprecated: servers SHOULD write to stderr or use OpenTelemetry.",
    on="LoggingMessageNotificationParams",
    since=_DEPRECATED_SINCE,
)
def _logging_deprecated(_value: Any, _context: Context) -> Iterator[Fault]:
    yield Fault((), "logging by notifications is deprecated since 2026-07-28 (SEP-2577)")
