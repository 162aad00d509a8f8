"""Prompts, and the completion of their arguments."""

from sidecheck_server.core.mcp.types.base import described, meta
from sidecheck_server.core.mcp.types.model import (
    BOOLEAN,
    INTEGER,
    STRING,
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

TYPES: tuple[Type, ...] = (*_PROMPTS, *_COMPLETION)
"""Prompts and completion."""
