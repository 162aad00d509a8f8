"""The types that others build on: metadata, icons, params, results."""

from sidecheck_server.core.mcp.types.model import (
    ANY,
    STRING,
    URI,
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

__all__ = ["TYPES", "described", "meta"]

_HANDSHAKE, _DISCOVERY = "2025-11-25", "2026-07-28"


def meta(since: str = "2025-06-18") -> Field:
    """Return the ``_meta`` of a part, which parts have since *since*."""
    return optional("_meta", Ref("MetaObject"), since)


def described() -> Field:
    """Return the description of something, for a person or a model."""
    return optional("description", STRING)


_VALUES: tuple[Type, ...] = (
    # In words of JSON Schema, any value at all; the published one says less: `errata`.
    Alias("JSONValue", ANY, since=_DISCOVERY),
    Alias("JSONObject", Plain({"type": "object"})),
    Alias("JSONArray", Plain({"type": "array"}), since=_DISCOVERY),
    Alias("Cursor", STRING),
    Alias("ProgressToken", Plain({"type": ["string", "integer"]})),
    Alias("RequestId", Plain({"type": ["string", "integer"]})),
    Alias("Role", one_of_values(("assistant", "user"))),
    # Others than "complete" and "input_required" may be defined by extensions.
    Alias("ResultType", STRING, since=_DISCOVERY),
)

_METADATA: tuple[Type, ...] = (
    ObjectType("MetaObject"),
    ObjectType(
        "RequestMetaObject",
        (
            optional("progressToken", Ref("ProgressToken")),
            required("io.modelcontextprotocol/protocolVersion", STRING, _DISCOVERY),
            required(
                "io.modelcontextprotocol/clientCapabilities",
                Ref("ClientCapabilities"),
                _DISCOVERY,
            ),
            optional("io.modelcontextprotocol/clientInfo", Ref("Implementation"), _DISCOVERY),
            optional("io.modelcontextprotocol/logLevel", Ref("LoggingLevel"), _DISCOVERY),
        ),
    ),
    ObjectType(
        "NotificationMetaObject",
        (optional("io.modelcontextprotocol/subscriptionId", Ref("RequestId"), _DISCOVERY),),
    ),
    ObjectType(
        "ResultMetaObject",
        (optional("io.modelcontextprotocol/serverInfo", Ref("Implementation"), _DISCOVERY),),
    ),
    ObjectType("BaseMetadata", (required("name", STRING), optional("title", STRING, "2025-06-18"))),
    ObjectType(
        "Icon",
        (
            required("src", URI),
            optional("mimeType", STRING),
            optional("sizes", ListOf(STRING)),
            optional("theme", one_of_values(("light", "dark"))),
        ),
        since="2025-11-25",
    ),
    ObjectType("Icons", (optional("icons", ListOf(Ref("Icon"))),), since="2025-11-25"),
    ObjectType(
        "Implementation",
        (
            required("version", STRING),
            optional("description", STRING, "2025-11-25"),
            optional("websiteUrl", URI, "2025-11-25"),
        ),
        bases=("BaseMetadata", "Icons"),
    ),
    ObjectType(
        "Annotations",
        (
            optional("audience", ListOf(Ref("Role"))),
            optional("priority", Plain({"type": "number", "minimum": 0, "maximum": 1})),
            optional("lastModified", STRING, "2025-06-18"),
        ),
    ),
)

_PARAMS: tuple[Type, ...] = (
    ObjectType(
        "RequestParams",
        (
            optional("_meta", Ref("RequestMetaObject"), until=_HANDSHAKE),
            required("_meta", Ref("RequestMetaObject"), _DISCOVERY),
        ),
    ),
    ObjectType("NotificationParams", (optional("_meta", Ref("NotificationMetaObject")),)),
    ObjectType(
        "PaginatedRequestParams", (optional("cursor", Ref("Cursor")),), bases=("RequestParams",)
    ),
)

_RESULTS: tuple[Type, ...] = (
    ObjectType(
        "Result",
        (
            optional("_meta", Ref("ResultMetaObject")),
            required("resultType", Ref("ResultType"), _DISCOVERY),
        ),
    ),
    Alias("EmptyResult", Ref("Result")),
    ObjectType("PaginatedResult", (optional("nextCursor", Ref("Cursor")),), bases=("Result",)),
    ObjectType(
        "CacheableResult",
        (
            required("ttlMs", Plain({"type": "integer", "minimum": 0})),
            required("cacheScope", one_of_values(("public", "private"))),
        ),
        bases=("Result",),
        since=_DISCOVERY,
    ),
)

TYPES: tuple[Type, ...] = (*_VALUES, *_METADATA, *_PARAMS, *_RESULTS)
"""The types that others build on."""
