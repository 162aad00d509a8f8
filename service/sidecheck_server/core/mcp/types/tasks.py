"""Tasks, as 2025-11-25 had them."""

from sidecheck_server.core.mcp.types.model import (
    INTEGER,
    STRING,
    Alias,
    Field,
    ListOf,
    ObjectType,
    Plain,
    Ref,
    Type,
    one_of_values,
    optional,
    required,
)

__all__ = ["TYPES"]

_ONLY = "2025-11-25"


def _shape(name: str, *fields: Field, bases: tuple[str, ...] = ()) -> ObjectType:
    return ObjectType(name, fields, bases, since=_ONLY, until=_ONLY)


_NAMED = required("taskId", STRING)

TYPES: tuple[Type, ...] = (
    Alias(
        "TaskStatus",
        one_of_values(("working", "input_required", "completed", "failed", "cancelled")),
        since=_ONLY,
        until=_ONLY,
    ),
    _shape("TaskMetadata", optional("ttl", INTEGER)),
    _shape("RelatedTaskMetadata", _NAMED),
    _shape(
        "Task",
        _NAMED,
        required("status", Ref("TaskStatus")),
        optional("statusMessage", STRING),
        required("createdAt", STRING),
        required("lastUpdatedAt", STRING),
        required("ttl", Plain({"type": ["integer", "null"]})),
        optional("pollInterval", INTEGER),
    ),
    _shape(
        "TaskAugmentedRequestParams",
        optional("task", Ref("TaskMetadata")),
        bases=("RequestParams",),
    ),
    _shape("CreateTaskResult", required("task", Ref("Task")), bases=("Result",)),
    _shape("GetTaskRequestParams", _NAMED, bases=("RequestParams",)),
    _shape("GetTaskResult", bases=("Result", "Task")),
    _shape("GetTaskPayloadRequestParams", _NAMED, bases=("RequestParams",)),
    _shape("GetTaskPayloadResult", bases=("Result",)),
    _shape("CancelTaskRequestParams", _NAMED, bases=("RequestParams",)),
    _shape("CancelTaskResult", bases=("Result", "Task")),
    _shape("ListTasksResult", required("tasks", ListOf(Ref("Task"))), bases=("PaginatedResult",)),
    _shape("TaskStatusNotificationParams", bases=("NotificationParams", "Task")),
)
"""Tasks."""
