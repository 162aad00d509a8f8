"""Resources: listing, reading, and news of them; roots."""

from sidecheck_server.core.mcp.shapes.base import described, meta
from sidecheck_server.core.mcp.shapes.words import (
    INTEGER,
    STRING,
    URI,
    ListOf,
    Plain,
    Ref,
    Shape,
    Type,
    optional,
    required,
)

__all__ = ["TYPES"]

_HANDSHAKE, _DISCOVERY = "2025-11-25", "2026-07-28"
_ANNOTATED = optional("annotations", Ref("Annotations"))

_RESOURCES: tuple[Type, ...] = (
    Shape(
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
    Shape(
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
    Shape(
        "ListResourcesResult",
        (required("resources", ListOf(Ref("Resource"))),),
        bases=("PaginatedResult", "CacheableResult"),
    ),
    Shape(
        "ListResourceTemplatesResult",
        (required("resourceTemplates", ListOf(Ref("ResourceTemplate"))),),
        bases=("PaginatedResult", "CacheableResult"),
    ),
    Shape("ResourceRequestParams", (required("uri", URI),), bases=("RequestParams",)),
    Shape(
        "ReadResourceRequestParams", bases=("ResourceRequestParams", "InputResponseRequestParams")
    ),
    Shape("SubscribeRequestParams", bases=("ResourceRequestParams",), until=_HANDSHAKE),
    Shape("UnsubscribeRequestParams", bases=("ResourceRequestParams",), until=_HANDSHAKE),
    Shape(
        "ReadResourceResult",
        (required("contents", ListOf(Ref("AnyResourceContents"))),),
        bases=("Result", "CacheableResult"),
    ),
    Shape(
        "ResourceUpdatedNotificationParams",
        (required("uri", URI),),
        bases=("NotificationParams",),
    ),
)

_ROOTS: tuple[Type, ...] = (
    Shape("Root", (required("uri", URI), optional("name", STRING), meta())),
    Shape(
        "ListRootsRequestParams",
        (
            optional("_meta", Ref("RequestMetaObject"), until=_HANDSHAKE),
            # It is no request of its own any more, but a part of a result.
            optional("_meta", Ref("MetaObject"), _DISCOVERY),
        ),
    ),
    Shape(
        "ListRootsResult",
        (
            required("roots", ListOf(Ref("Root"))),
            optional("_meta", Ref("ResultMetaObject"), until=_HANDSHAKE),
        ),
    ),
)

TYPES: tuple[Type, ...] = (*_RESOURCES, *_ROOTS)
"""Resources and roots."""
