"""Types of tool definitions, calls and results, and of tasks.

Tasks are those of the protocol (2025-11-25) and of the extension (since 2026-07-28).
"""

from sidecheck_server.core.mcp.context import FIRST_STATELESS, LAST_HANDSHAKE
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

__all__ = ["TASK_TYPES", "TOOL_TYPES"]

_HANDSHAKE, _DISCOVERY = LAST_HANDSHAKE, FIRST_STATELESS

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


TOOL_TYPES: tuple[Type, ...] = (*_DEFINITIONS, *_CALLS, *_TEXT)
"""Tools."""


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
TASK_TYPES: tuple[Type, ...] = (
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
