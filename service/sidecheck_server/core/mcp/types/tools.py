"""Types of tool definitions, calls and results."""

from sidecheck_server.core.mcp.context import FIRST_STATELESS, LAST_HANDSHAKE
from sidecheck_server.core.mcp.types.base import described, meta
from sidecheck_server.core.mcp.types.model import (
    ANY,
    BOOLEAN,
    OBJECT,
    STRING,
    ListOf,
    MapOf,
    ObjectType,
    Property,
    Ref,
    Type,
    constant,
    one_of_values,
    optional,
    required,
)

__all__ = ["TYPES"]

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


TYPES: tuple[Type, ...] = (*_DEFINITIONS, *_CALLS, *_TEXT)
"""Tools."""
