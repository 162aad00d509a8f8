"""Types of tool definitions, calls and results, and of tasks.

The protocol has tasks in 2025-11-25, and an extension has them since 2026-07-28.
"""

from sidecheck_server.core.mcp.context import FIRST_STATELESS, LAST_HANDSHAKE
from sidecheck_server.core.mcp.types.base import description, meta
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

# Keywords of tool schemas in the published types.
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
            description(),
            required("inputSchema", Ref("ToolInputSchema")),
            optional("outputSchema", Ref("ToolOutputSchema"), "2025-06-18"),
            optional("annotations", Ref("ToolAnnotations"), "2025-03-26"),
            optional("execution", Ref("ToolExecution"), "2025-11-25", "2025-11-25"),
            meta(),
        ),
        bases=("BaseMetadata", "Icons"),
    ),
    # Not part of the protocol: a canonical definition, whose output schema may have any root.
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

# Not part of the protocol: the text contract of results, the same in all versions.
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


def _protocol_type(name: str, *fields: Property, bases: tuple[str, ...] = ()) -> ObjectType:
    return ObjectType(name, fields, bases, since=_TASKS, until=_TASKS)


def _extension_type(name: str, *fields: Property, bases: tuple[str, ...] = ()) -> ObjectType:
    return ObjectType(name, fields, bases, since=_EXTENSION)


def _shared_type(name: str, *fields: Property, bases: tuple[str, ...] = ()) -> ObjectType:
    return ObjectType(name, fields, bases, since=_TASKS)


# SEP-2663 defines the types of the extension, without a JSON Schema.
TASK_TYPES: tuple[Type, ...] = (
    Alias(
        "TaskStatus",
        one_of_values(("working", "input_required", "completed", "failed", "cancelled")),
        since=_TASKS,
    ),
    _protocol_type("TaskMetadata", optional("ttl", INTEGER)),
    _protocol_type("RelatedTaskMetadata", _TASK_ID),
    _shared_type(
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
    _protocol_type(
        "TaskAugmentedRequestParams",
        optional("task", Ref("TaskMetadata")),
        bases=("RequestParams",),
    ),
    # Of the extension: a task in the result that creates it.
    _extension_type("CreatedTask", bases=("Task",)),
    # Of the extension: a task with the properties of its status; rules check which it must have.
    _extension_type(
        "DetailedTask",
        optional("inputRequests", Ref("InputRequests")),
        optional("result", Ref("TaskCallResult")),
        optional("error", Ref("Error")),
        bases=("Task",),
    ),
    # The result of a call in a task; the examples of SEP-2663 have it without `resultType`.
    _extension_type(
        "TaskCallResult",
        required("content", ListOf(Ref("ContentBlock"))),
        optional("structuredContent", ANY),
        optional("isError", BOOLEAN),
        optional("resultType", STRING),
        optional("_meta", Ref("ResultMetaObject")),
    ),
    _shared_type(
        "CreateTaskResult",
        required("task", Ref("Task"), until=_TASKS),
        bases=("Result", "CreatedTask"),
    ),
    _shared_type("GetTaskRequestParams", _TASK_ID, bases=("RequestParams",)),
    _protocol_type("GetTaskPayloadRequestParams", _TASK_ID, bases=("RequestParams",)),
    _protocol_type("GetTaskPayloadResult", bases=("Result",)),
    _shared_type("GetTaskResult", bases=("Result", "Task", "DetailedTask")),
    _shared_type("CancelTaskRequestParams", _TASK_ID, bases=("RequestParams",)),
    _extension_type(
        "UpdateTaskRequestParams",
        _TASK_ID,
        required("inputResponses", Ref("InputResponses")),
        bases=("RequestParams",),
    ),
    _protocol_type("CancelTaskResult", bases=("Result", "Task")),
    # Of the extension: the empty result of tasks/update and tasks/cancel.
    _extension_type("TaskAcknowledgement", bases=("Result",)),
    _protocol_type(
        "ListTasksResult", required("tasks", ListOf(Ref("Task"))), bases=("PaginatedResult",)
    ),
    _shared_type(
        "TaskStatusNotificationParams", bases=("NotificationParams", "Task", "DetailedTask")
    ),
)
"""Tasks."""
