"""Types of tool definitions, calls, results, and of tasks (2025-11-25)."""

from sidecheck_server.core.mcp.types.base import described, meta
from sidecheck_server.core.mcp.types.model import (
    ANY,
    BOOLEAN,
    INTEGER,
    OBJECT,
    STRING,
    Alias,
    ListOf,
    MapOf,
    ObjectType,
    Plain,
    Property,
    Ref,
    Type,
    constant,
    one_of_values,
    optional,
    required,
)

__all__ = ["TYPES"]

_HANDSHAKE, _DISCOVERY = "2025-11-25", "2026-07-28"

# The properties of a schema that were published until any JSON Schema was allowed.
_SCHEMA_PROPERTIES: tuple[Property, ...] = (
    optional("$schema", STRING, "2025-11-25"),
    optional("properties", MapOf(OBJECT), until=_HANDSHAKE),
    optional("required", ListOf(STRING), until=_HANDSHAKE),
)

_DEFINITIONS: tuple[Type, ...] = (
    ObjectType(
        "ToolAnnotations",
        (
            optional("title", STRING),
            optional("readOnlyHint", BOOLEAN),
            optional("destructiveHint", BOOLEAN),
            optional("idempotentHint", BOOLEAN),
            optional("openWorldHint", BOOLEAN),
        ),
        since="2025-03-26",
    ),
    ObjectType(
        "ToolExecution",
        (optional("taskSupport", one_of_values(("forbidden", "optional", "required"))),),
        since="2025-11-25",
        until="2025-11-25",
    ),
    # The published schemas do not name these two types.
    ObjectType("ToolInputSchema", (required("type", constant("object")), *_SCHEMA_PROPERTIES)),
    ObjectType(
        "ToolOutputSchema",
        (required("type", constant("object"), until=_HANDSHAKE), *_SCHEMA_PROPERTIES),
        since="2025-06-18",
    ),
    ObjectType(
        "Tool",
        (
            described(),
            required("inputSchema", Ref("ToolInputSchema")),
            optional("outputSchema", Ref("ToolOutputSchema"), "2025-06-18"),
            optional("annotations", Ref("ToolAnnotations"), "2025-03-26"),
            optional("execution", Ref("ToolExecution"), "2025-11-25", "2025-11-25"),
            meta(),
        ),
        bases=("BaseMetadata", "Icons"),
    ),
    # Not part of the protocol: a definition whose output schema is not adapted to a version.
    ObjectType("CanonicalOutputSchema", since="2025-06-18"),
    ObjectType(
        "CanonicalTool",
        (optional("outputSchema", Ref("CanonicalOutputSchema"), "2025-06-18"),),
        bases=("Tool",),
    ),
    ObjectType(
        "ListToolsResult",
        (required("tools", ListOf(Ref("Tool"))),),
        bases=("PaginatedResult", "CacheableResult"),
    ),
)

_CALLS: tuple[Type, ...] = (
    ObjectType(
        "CallToolRequestParams",
        (required("name", STRING), optional("arguments", OBJECT)),
        bases=("RequestParams", "TaskAugmentedRequestParams", "InputResponseRequestParams"),
    ),
    ObjectType(
        "CallToolResult",
        (
            required("content", ListOf(Ref("ContentBlock"))),
            optional("structuredContent", OBJECT, "2025-06-18", _HANDSHAKE),
            optional("structuredContent", ANY, _DISCOVERY),
            optional("isError", BOOLEAN),
        ),
        bases=("Result",),
    ),
)

# Not part of the protocol: the text profile of results, equal in all versions.
_TEXT: tuple[Type, ...] = (
    ObjectType(
        "TextItem", (required("type", constant("text")), required("text", STRING)), closed=True
    ),
    ObjectType(
        "TextResult",
        (required("content", ListOf(Ref("TextItem"))), required("isError", BOOLEAN)),
        closed=True,
    ),
)


_TASKS = "2025-11-25"


def _task_type(name: str, *fields: Property, bases: tuple[str, ...] = ()) -> ObjectType:
    return ObjectType(name, fields, bases, since=_TASKS, until=_TASKS)


_TASK_ID = required("taskId", STRING)

_TASK_TYPES: tuple[Type, ...] = (
    Alias(
        "TaskStatus",
        one_of_values(("working", "input_required", "completed", "failed", "cancelled")),
        since=_TASKS,
        until=_TASKS,
    ),
    _task_type("TaskMetadata", optional("ttl", INTEGER)),
    _task_type("RelatedTaskMetadata", _TASK_ID),
    _task_type(
        "Task",
        _TASK_ID,
        required("status", Ref("TaskStatus")),
        optional("statusMessage", STRING),
        required("createdAt", STRING),
        required("lastUpdatedAt", STRING),
        required("ttl", Plain({"type": ["integer", "null"]})),
        optional("pollInterval", INTEGER),
    ),
    _task_type(
        "TaskAugmentedRequestParams",
        optional("task", Ref("TaskMetadata")),
        bases=("RequestParams",),
    ),
    _task_type("CreateTaskResult", required("task", Ref("Task")), bases=("Result",)),
    _task_type("GetTaskRequestParams", _TASK_ID, bases=("RequestParams",)),
    _task_type("GetTaskResult", bases=("Result", "Task")),
    _task_type("GetTaskPayloadRequestParams", _TASK_ID, bases=("RequestParams",)),
    _task_type("GetTaskPayloadResult", bases=("Result",)),
    _task_type("CancelTaskRequestParams", _TASK_ID, bases=("RequestParams",)),
    _task_type("CancelTaskResult", bases=("Result", "Task")),
    _task_type(
        "ListTasksResult", required("tasks", ListOf(Ref("Task"))), bases=("PaginatedResult",)
    ),
    _task_type("TaskStatusNotificationParams", bases=("NotificationParams", "Task")),
)

TYPES: tuple[Type, ...] = (*_DEFINITIONS, *_CALLS, *_TEXT, *_TASK_TYPES)
"""Tools and tasks."""
