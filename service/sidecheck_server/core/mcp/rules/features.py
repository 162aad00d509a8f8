"""Tasks: how one begins, and when it changed (2025-11-25)."""

from collections.abc import Iterator
from typing import Any

from sidecheck_server.core.budget import spend
from sidecheck_server.core.explain.values import Values
from sidecheck_server.core.formats.uris import is_uri
from sidecheck_server.core.mcp.context import Context
from sidecheck_server.core.mcp.rules.rule import Clause, Fault, Rule, rule
from sidecheck_server.core.mcp.text_encodings import is_iso_8601
from sidecheck_server.core.types import Severity

__all__ = ["RULES", "RULES_FROM_completions", "RULES_FROM_deprecations", "RULES_FROM_roots"]

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


_MOST = 100


@rule(
    "COMPLETION_TOO_LONG",
    severity=Severity.ERROR,
    clause=Clause("server/utilities/completion", "completion-results"),
    sentence="A result has at most 100 values; since 2026-07-28 the published schema says so.",
    on="CompleteResult",
    until="2025-11-25",
)
def _most(result: Any, _context: Context) -> Iterator[Fault]:
    completion = result.get("completion") if isinstance(result, dict) else None
    values = completion.get("values") if isinstance(completion, dict) else None
    if isinstance(values, list) and len(values) > _MOST:
        said = f"expected at most {_MOST} values, found {len(values)}"
        yield Fault(("completion", "values"), said)


RULES_FROM_completions: tuple[Rule, ...] = (_most,)


_SCHEME = "file://"


@rule(
    "ROOT_URI",
    severity=Severity.ERROR,
    clause=Clause("client/roots", "root"),
    sentence="The uri of a root is a file:// URI.",
    on="Root",
)
def _file(root: Any, context: Context) -> Iterator[Fault]:
    uri = root.get("uri") if isinstance(root, dict) else None
    if not isinstance(uri, str):
        return
    spend(context.budget, min(len(uri), 1 << 16) // 8 + 40)
    if uri[: len(_SCHEME)].lower() != _SCHEME or not is_uri(uri):
        found = Values(hidden=context.hide_values).found(uri)
        yield Fault(("uri",), f"uri must be a file:// URI such as file:///home/ann; found {found}")


RULES_FROM_roots: tuple[Rule, ...] = (_file,)


_CLAUSE = Clause("deprecated", "deprecated")
_SINCE = "2026-07-28"


@rule(
    "ROOTS_DEPRECATED",
    severity=Severity.WARNING,
    clause=_CLAUSE,
    sentence="Roots are deprecated: servers should be told of places by parameters of tools, "
    "URIs of resources or their own settings.",
    on="ListRootsRequest",
    since=_SINCE,
)
def _roots(_value: Any, _context: Context) -> Iterator[Fault]:
    yield Fault((), "roots are deprecated since 2026-07-28 (SEP-2577)")


@rule(
    "LOGGING_DEPRECATED",
    severity=Severity.WARNING,
    clause=_CLAUSE,
    sentence="The logging of servers is deprecated: they should write to stderr, or use "
    "OpenTelemetry.",
    on="LoggingMessageNotificationParams",
    since=_SINCE,
)
def _logging(_value: Any, _context: Context) -> Iterator[Fault]:
    yield Fault((), "logging by notifications is deprecated since 2026-07-28 (SEP-2577)")


RULES_FROM_deprecations: tuple[Rule, ...] = (_roots, _logging)
