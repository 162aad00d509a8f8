"""Types of tasks: of the protocol (2025-11-25), and of the extension (since 2026-07-28)."""

from sidecheck_server.core.mcp.types.model import (
    ANY,
    BOOLEAN,
    INTEGER,
    STRING,
    Alias,
    ListOf,
    ObjectType,
    Plain,
    Property,
    Ref,
    Type,
    one_of_values,
    optional,
    required,
)

__all__ = ["TYPES"]

_TASKS, _EXTENSION = "2025-11-25", "2026-07-28"

_TASK_ID = required("taskId", STRING)
_DURATION = Plain({"type": ["integer", "null"]})


def _of_protocol(name: str, *fields: Property, bases: tuple[str, ...] = ()) -> ObjectType:
    return ObjectType(name, fields, bases, since=_TASKS, until=_TASKS)


def _of_extension(name: str, *fields: Property, bases: tuple[str, ...] = ()) -> ObjectType:
    return ObjectType(name, fields, bases, since=_EXTENSION)


def _of_both(name: str, *fields: Property, bases: tuple[str, ...] = ()) -> ObjectType:
    return ObjectType(name, fields, bases, since=_TASKS)


# The extension has its types in SEP-2663 alone, without a JSON Schema.
TYPES: tuple[Type, ...] = (
    Alias(
        "TaskStatus",
        one_of_values(("working", "input_required", "completed", "failed", "cancelled")),
        since=_TASKS,
    ),
    _of_protocol("TaskMetadata", optional("ttl", INTEGER)),
    _of_protocol("RelatedTaskMetadata", _TASK_ID),
    _of_both(
        "Task",
        _TASK_ID,
        required("status", Ref("TaskStatus")),
        optional("statusMessage", STRING),
        required("createdAt", STRING),
        required("lastUpdatedAt", STRING),
        required("ttl", _DURATION, until=_TASKS),
        optional("pollInterval", INTEGER, until=_TASKS),
        required("ttlMs", _DURATION, _EXTENSION),
        optional("pollIntervalMs", INTEGER, _EXTENSION),
    ),
    _of_protocol(
        "TaskAugmentedRequestParams",
        optional("task", Ref("TaskMetadata")),
        bases=("RequestParams",),
    ),
    # Of the extension: a task in the result that creates it.
    _of_extension("CreatedTask", bases=("Task",)),
    # Of the extension: a task with what its status adds; rules demand what belongs to it.
    _of_extension(
        "DetailedTask",
        optional("inputRequests", Ref("InputRequests")),
        optional("result", Ref("TaskCallResult")),
        optional("error", Ref("Error")),
        bases=("Task",),
    ),
    # The result of a call inside a task: its `resultType` may be missing, as in the examples.
    _of_extension(
        "TaskCallResult",
        required("content", ListOf(Ref("ContentBlock"))),
        optional("structuredContent", ANY),
        optional("isError", BOOLEAN),
        optional("resultType", STRING),
        optional("_meta", Ref("ResultMetaObject")),
    ),
    _of_both(
        "CreateTaskResult",
        required("task", Ref("Task"), until=_TASKS),
        bases=("Result", "CreatedTask"),
    ),
    _of_both("GetTaskRequestParams", _TASK_ID, bases=("RequestParams",)),
    _of_protocol("GetTaskPayloadRequestParams", _TASK_ID, bases=("RequestParams",)),
    _of_protocol("GetTaskPayloadResult", bases=("Result",)),
    _of_both("GetTaskResult", bases=("Result", "Task", "DetailedTask")),
    _of_both("CancelTaskRequestParams", _TASK_ID, bases=("RequestParams",)),
    _of_extension(
        "UpdateTaskRequestParams",
        _TASK_ID,
        required("inputResponses", Ref("InputResponses")),
        bases=("RequestParams",),
    ),
    _of_protocol("CancelTaskResult", bases=("Result", "Task")),
    # Of the extension: the empty result of tasks/update and tasks/cancel.
    _of_extension("TaskAcknowledgement", bases=("Result",)),
    _of_protocol(
        "ListTasksResult", required("tasks", ListOf(Ref("Task"))), bases=("PaginatedResult",)
    ),
    _of_both("TaskStatusNotificationParams", bases=("NotificationParams", "Task", "DetailedTask")),
)
"""Tasks."""
