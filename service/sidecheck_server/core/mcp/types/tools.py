"""Tools: definitions, calls and results."""

from sidecheck_server.core.mcp.types.base import described, meta
from sidecheck_server.core.mcp.types.model import (
    ANY,
    BOOLEAN,
    OBJECT,
    STRING,
    Field,
    ListOf,
    MapOf,
    ObjectType,
    Ref,
    Type,
    constant,
    one_of_values,
    optional,
    required,
)

__all__ = ["TYPES"]

_HANDSHAKE, _DISCOVERY = "2025-11-25", "2026-07-28"

# What was published of a schema until any JSON Schema was allowed.
_OF_A_SCHEMA: tuple[Field, ...] = (
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
    # The published schemas have no names for these two.
    ObjectType("ToolInputSchema", (required("type", constant("object")), *_OF_A_SCHEMA)),
    ObjectType(
        "ToolOutputSchema",
        (required("type", constant("object"), until=_HANDSHAKE), *_OF_A_SCHEMA),
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

# Not of the protocol: a profile of its results that is the same in all versions.
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

TYPES: tuple[Type, ...] = (*_DEFINITIONS, *_CALLS, *_TEXT)
"""Tools."""
