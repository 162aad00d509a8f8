"""Types of content blocks, resources, roots, prompts and completion."""

from sidecheck_server.core.mcp.context import FIRST_STATELESS, LAST_HANDSHAKE
from sidecheck_server.core.mcp.types.base import description, meta
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

__all__ = ["TYPES"]

_HANDSHAKE, _DISCOVERY = LAST_HANDSHAKE, FIRST_STATELESS
_ANNOTATED = optional("annotations", Ref("Annotations"))

_BASE64 = Plain({"type": "string", "format": "byte"})

_CONTENT: tuple[Type, ...] = (
    ObjectType(
        "TextContent",
        (required("type", constant("text")), required("text", STRING), _ANNOTATED, meta()),
    ),
    ObjectType(
        "ImageContent",
        (
            required("type", constant("image")),
            required("data", _BASE64),
            required("mimeType", STRING),
            _ANNOTATED,
            meta(),
        ),
    ),
    ObjectType(
        "AudioContent",
        (
            required("type", constant("audio")),
            required("data", _BASE64),
            required("mimeType", STRING),
            _ANNOTATED,
            meta(),
        ),
        since="2025-03-26",
    ),
    ObjectType(
        "ResourceLink",
        (required("type", constant("resource_link")),),
        bases=("Resource",),
        since="2025-06-18",
    ),
    ObjectType(
        "EmbeddedResource",
        (
            required("type", constant("resource")),
            required("resource", Ref("AnyResourceContents")),
            _ANNOTATED,
            meta(),
        ),
    ),
    Choice(
        "ContentBlock",
        (
            Alternative("TextContent"),
            Alternative("ImageContent"),
            Alternative("AudioContent", since="2025-03-26"),
            Alternative("ResourceLink", since="2025-06-18"),
            Alternative("EmbeddedResource"),
        ),
    ),
    ObjectType(
        "ResourceContents",
        (required("uri", URI), optional("mimeType", STRING), meta()),
    ),
    ObjectType("TextResourceContents", (required("text", STRING),), bases=("ResourceContents",)),
    ObjectType("BlobResourceContents", (required("blob", _BASE64),), bases=("ResourceContents",)),
    # The published schemas do not name this type.
    Choice(
        "AnyResourceContents",
        (Alternative("TextResourceContents"), Alternative("BlobResourceContents")),
    ),
)

_RESOURCES: tuple[Type, ...] = (
    ObjectType(
        "Resource",
        (
            required("uri", URI),
            description(),
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
            description(),
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
            # In these versions the request is part of a result, not a message.
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


_PROMPTS: tuple[Type, ...] = (
    ObjectType(
        "PromptArgument",
        (description(), optional("required", BOOLEAN)),
        bases=("BaseMetadata",),
    ),
    ObjectType(
        "Prompt",
        (description(), optional("arguments", ListOf(Ref("PromptArgument"))), meta()),
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
        (description(), required("messages", ListOf(Ref("PromptMessage")))),
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
    # The published schemas do not name these four types.
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
            required("values", ListOf(STRING, max_items=100), _DISCOVERY),
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

TYPES: tuple[Type, ...] = (*_CONTENT, *_RESOURCES, *_ROOTS, *_PROMPTS, *_COMPLETION)
"""Content, resources, roots, prompts and completion."""
