"""Resources: listing, reading, and news of them; roots."""

from sidecheck_server.core.mcp.types.base import described, meta
from sidecheck_server.core.mcp.types.model import (
    INTEGER,
    STRING,
    URI,
    ListOf,
    ObjectType,
    Plain,
    Ref,
    Type,
    optional,
    required,
)

__all__ = ["TYPES"]

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
