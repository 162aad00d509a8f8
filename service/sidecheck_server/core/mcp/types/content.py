"""Content: the blocks of results and messages, and the contents of resources."""

from sidecheck_server.core.mcp.types.base import meta
from sidecheck_server.core.mcp.types.model import (
    STRING,
    URI,
    Alternative,
    Choice,
    ObjectType,
    Plain,
    Ref,
    Type,
    constant,
    optional,
    required,
)

__all__ = ["TYPES"]

_BASE64 = Plain({"type": "string", "format": "byte"})
_ANNOTATED = optional("annotations", Ref("Annotations"))

TYPES: tuple[Type, ...] = (
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
    # The published schemas have no name for it.
    Choice(
        "AnyResourceContents",
        (Alternative("TextResourceContents"), Alternative("BlobResourceContents")),
    ),
)
"""Content."""
