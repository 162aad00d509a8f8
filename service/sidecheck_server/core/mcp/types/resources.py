"""Resources: listing, reading, and news of them; roots."""

from sidecheck_server.core.mcp.types.base import described, meta
from sidecheck_server.core.mcp.types.model import (
    BOOLEAN,
    INTEGER,
    STRING,
    URI,
    Alternative,
    Choice,
    ListOf,
    MapOf,
    ObjectType,
    Plain,
    Ref,
    Type,
    constant,
    optional,
    required,
)

__all__ = ["TYPES", "TYPES_FROM_prompts"]

_HANDSHAKE, _DISCOVERY = "2025-11-25", "2026-07-28"
_ANNOTATED = optional("annotations", Ref("Annotations"))

_RESOURCES: tuple[Type, ...] = (
    ObjectType(
        "Resource",
        (
            required("uri", URI),
            described(),
            optional("mimeType", STRING),
            optional("size", INTEGER),
            _ANNOTATED,
            meta(),
        ),
        bases=("BaseMetadata", "Icons"),
    ),
    ObjectType(
        "ResourceTemplate",
        (
            required("uriTemplate", Plain({"type": "string", "format": "uri-template"})),
            described(),
            optional("mimeType", STRING),
            _ANNOTATED,
            meta(),
        ),
        bases=("BaseMetadata", "Icons"),
    ),
    ObjectType(
        "ListResourcesResult",
        (required("resources", ListOf(Ref("Resource"))),),
        bases=("PaginatedResult", "CacheableResult"),
    ),
    ObjectType(
        "ListResourceTemplatesResult",
        (required("resourceTemplates", ListOf(Ref("ResourceTemplate"))),),
        bases=("PaginatedResult", "CacheableResult"),
    ),
    ObjectType("ResourceRequestParams", (required("uri", URI),), bases=("RequestParams",)),
    ObjectType(
        "ReadResourceRequestParams", bases=("ResourceRequestParams", "InputResponseRequestParams")
    ),
    ObjectType("SubscribeRequestParams", bases=("ResourceRequestParams",), until=_HANDSHAKE),
    ObjectType("UnsubscribeRequestParams", bases=("ResourceRequestParams",), until=_HANDSHAKE),
    ObjectType(
        "ReadResourceResult",
        (required("contents", ListOf(Ref("AnyResourceContents"))),),
        bases=("Result", "CacheableResult"),
    ),
    ObjectType(
        "ResourceUpdatedNotificationParams",
        (required("uri", URI),),
        bases=("NotificationParams",),
    ),
)

_ROOTS: tuple[Type, ...] = (
    ObjectType("Root", (required("uri", URI), optional("name", STRING), meta())),
    ObjectType(
        "ListRootsRequestParams",
        (
            optional("_meta", Ref("RequestMetaObject"), until=_HANDSHAKE),
            # It is no request of its own any more, but a part of a result.
            optional("_meta", Ref("MetaObject"), _DISCOVERY),
        ),
    ),
    ObjectType(
        "ListRootsResult",
        (
            required("roots", ListOf(Ref("Root"))),
            optional("_meta", Ref("ResultMetaObject"), until=_HANDSHAKE),
        ),
    ),
)

TYPES: tuple[Type, ...] = (*_RESOURCES, *_ROOTS)
"""Resources and roots."""


_HANDSHAKE, _DISCOVERY = "2025-11-25", "2026-07-28"

_PROMPTS: tuple[Type, ...] = (
    ObjectType(
        "PromptArgument",
        (described(), optional("required", BOOLEAN)),
        bases=("BaseMetadata",),
    ),
    ObjectType(
        "Prompt",
        (described(), optional("arguments", ListOf(Ref("PromptArgument"))), meta()),
        bases=("BaseMetadata", "Icons"),
    ),
    ObjectType(
        "ListPromptsResult",
        (required("prompts", ListOf(Ref("Prompt"))),),
        bases=("PaginatedResult", "CacheableResult"),
    ),
    ObjectType(
        "GetPromptRequestParams",
        (required("name", STRING), optional("arguments", MapOf(STRING))),
        bases=("RequestParams", "InputResponseRequestParams"),
    ),
    ObjectType(
        "PromptMessage", (required("role", Ref("Role")), required("content", Ref("ContentBlock")))
    ),
    ObjectType(
        "GetPromptResult",
        (described(), required("messages", ListOf(Ref("PromptMessage")))),
        bases=("Result",),
    ),
)

_COMPLETION: tuple[Type, ...] = (
    ObjectType(
        "PromptReference", (required("type", constant("ref/prompt")),), bases=("BaseMetadata",)
    ),
    ObjectType(
        "ResourceTemplateReference",
        (
            required("type", constant("ref/resource")),
            required("uri", Plain({"type": "string", "format": "uri-template"})),
        ),
    ),
    # The published schemas have no names for these four.
    Choice(
        "CompletionReference",
        (Alternative("PromptReference"), Alternative("ResourceTemplateReference")),
    ),
    ObjectType("CompletionArgument", (required("name", STRING), required("value", STRING))),
    ObjectType("CompletionContext", (optional("arguments", MapOf(STRING)),), since="2025-06-18"),
    ObjectType(
        "Completion",
        (
            required("values", ListOf(STRING), until=_HANDSHAKE),
            required("values", ListOf(STRING, most=100), _DISCOVERY),
            optional("total", INTEGER),
            optional("hasMore", BOOLEAN),
        ),
    ),
    ObjectType(
        "CompleteRequestParams",
        (
            required("ref", Ref("CompletionReference")),
            required("argument", Ref("CompletionArgument")),
            optional("context", Ref("CompletionContext"), "2025-06-18"),
        ),
        bases=("RequestParams",),
    ),
    ObjectType("CompleteResult", (required("completion", Ref("Completion")),), bases=("Result",)),
)

TYPES_FROM_prompts: tuple[Type, ...] = (*_PROMPTS, *_COMPLETION)
"""Prompts and completion."""
