"""Content: the blocks of results and messages, and the contents of resources."""

from sidecheck_server.core.mcp.shapes.base import meta
from sidecheck_server.core.mcp.shapes.words import (
    STRING,
    URI,
    Alternative,
    Choice,
    Plain,
    Ref,
    Shape,
    Type,
    constant,
    optional,
    required,
)

__all__ = ["TYPES"]

_BASE64 = Plain({"type": "string", "format": "byte"})
_ANNOTATED = optional("annotations", Ref("Annotations"))

TYPES: tuple[Type, ...] = (
    Shape(
        "TextContent",
        (required("type", constant("text")), required("text", STRING), _ANNOTATED, meta()),
    ),
    Shape(
        "ImageContent",
        (
            required("type", constant("image")),
            required("data", _BASE64),
            required("mimeType", STRING),
            _ANNOTATED,
            meta(),
        ),
    ),
    Shape(
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
    Shape(
        "ResourceLink",
        (required("type", constant("resource_link")),),
        bases=("Resource",),
        since="2025-06-18",
    ),
    Shape(
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
    Shape(
        "ResourceContents",
        (required("uri", URI), optional("mimeType", STRING), meta()),
    ),
    Shape("TextResourceContents", (required("text", STRING),), bases=("ResourceContents",)),
    Shape("BlobResourceContents", (required("blob", _BASE64),), bases=("ResourceContents",)),
    # The published schemas have no name for it.
    Choice(
        "AnyResourceContents",
        (Alternative("TextResourceContents"), Alternative("BlobResourceContents")),
    ),
)
"""Content."""
