"""Prompts, and the completion of their arguments."""

from sidecheck_server.core.mcp.shapes.base import described, meta
from sidecheck_server.core.mcp.shapes.words import (
    BOOLEAN,
    INTEGER,
    STRING,
    Alternative,
    Choice,
    ListOf,
    MapOf,
    Plain,
    Ref,
    Shape,
    Type,
    constant,
    optional,
    required,
)

__all__ = ["TYPES"]

_HANDSHAKE, _DISCOVERY = "2025-11-25", "2026-07-28"

_PROMPTS: tuple[Type, ...] = (
    Shape(
        "PromptArgument",
        (described(), optional("required", BOOLEAN)),
        bases=("BaseMetadata",),
    ),
    Shape(
        "Prompt",
        (described(), optional("arguments", ListOf(Ref("PromptArgument"))), meta()),
        bases=("BaseMetadata", "Icons"),
    ),
    Shape(
        "ListPromptsResult",
        (required("prompts", ListOf(Ref("Prompt"))),),
        bases=("PaginatedResult", "CacheableResult"),
    ),
    Shape(
        "GetPromptRequestParams",
        (required("name", STRING), optional("arguments", MapOf(STRING))),
        bases=("RequestParams", "InputResponseRequestParams"),
    ),
    Shape(
        "PromptMessage", (required("role", Ref("Role")), required("content", Ref("ContentBlock")))
    ),
    Shape(
        "GetPromptResult",
        (described(), required("messages", ListOf(Ref("PromptMessage")))),
        bases=("Result",),
    ),
)

_COMPLETION: tuple[Type, ...] = (
    Shape("PromptReference", (required("type", constant("ref/prompt")),), bases=("BaseMetadata",)),
    Shape(
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
    Shape("CompletionArgument", (required("name", STRING), required("value", STRING))),
    Shape("CompletionContext", (optional("arguments", MapOf(STRING)),), since="2025-06-18"),
    Shape(
        "Completion",
        (
            required("values", ListOf(STRING), until=_HANDSHAKE),
            required("values", ListOf(STRING, most=100), _DISCOVERY),
            optional("total", INTEGER),
            optional("hasMore", BOOLEAN),
        ),
    ),
    Shape(
        "CompleteRequestParams",
        (
            required("ref", Ref("CompletionReference")),
            required("argument", Ref("CompletionArgument")),
            optional("context", Ref("CompletionContext"), "2025-06-18"),
        ),
        bases=("RequestParams",),
    ),
    Shape("CompleteResult", (required("completion", Ref("Completion")),), bases=("Result",)),
)

TYPES: tuple[Type, ...] = (*_PROMPTS, *_COMPLETION)
"""Prompts and completion."""
