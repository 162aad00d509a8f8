"""The published schema of each type in the type model.

The type model uses the name of the newest version, and names parts that were published
inline. These tables locate each type in the files under ``mcp/<version>/``.
"""

import json
from collections.abc import Mapping
from functools import cache
from typing import Any

import jsonschema_rs
from sidecheck_server.core.mcp.context import VERSIONS
from sidecheck_server.core.mcp.methods import (
    INPUT_REQUESTS,
    METHODS,
    InputRequest,
    Method,
)
from sidecheck_server.core.mcp.types import tools
from sidecheck_server.core.mcp.types.rendering import TYPES
from support.shared_material import shared

__all__ = [
    "UNPUBLISHED",
    "definitions_of",
    "judge_of",
    "message_types",
    "official_examples",
    "published",
    "types_of",
]

_RENAMED = {
    ("2024-11-05", "ResourceTemplateReference"): "ResourceReference",
    ("2025-03-26", "ResourceTemplateReference"): "ResourceReference",
    ("2025-06-18", "LegacyTitledEnumSchema"): "EnumSchema",
}

# Locations of unnamed parts; the first that exists in a version applies.
_PLACES: Mapping[str, tuple[str, ...]] = {
    "Annotations": ("TextContent/properties/annotations",),
    "AnyResourceContents": ("EmbeddedResource/properties/resource",),
    "ClientTaskRequests": ("ClientCapabilities/properties/tasks/properties/requests",),
    "ClientTasksCapability": ("ClientCapabilities/properties/tasks",),
    "Completion": ("CompleteResult/properties/completion",),
    "CompletionArgument": (
        "CompleteRequestParams/properties/argument",
        "CompleteRequest/properties/params/properties/argument",
    ),
    "CompletionContext": (
        "CompleteRequestParams/properties/context",
        "CompleteRequest/properties/params/properties/context",
    ),
    "CompletionReference": (
        "CompleteRequestParams/properties/ref",
        "CompleteRequest/properties/params/properties/ref",
    ),
    "ContentBlock": ("CallToolResult/properties/content/items",),
    "ElicitationAsTask": (
        "ClientCapabilities/properties/tasks/properties/requests/properties/elicitation",
    ),
    "ElicitationCapability": ("ClientCapabilities/properties/elicitation",),
    "ElicitRequestFormParams": ("ElicitRequest/properties/params",),
    "Error": ("JSONRPCError/properties/error",),
    "JSONObject": ("ClientCapabilities/properties/experimental/additionalProperties",),
    "MetaObject": ("TextContent/properties/_meta",),
    "MissingRequiredClientCapabilityErrorData": (
        "MissingRequiredClientCapabilityError/properties/error/allOf/1/properties/data",
    ),
    "NotificationMetaObject": (
        "NotificationParams/properties/_meta",
        "Notification/properties/params/properties/_meta",
    ),
    "NotificationParams": ("Notification/properties/params",),
    "PromptsCapability": ("ServerCapabilities/properties/prompts",),
    "RequestMetaObject": (
        "RequestParams/properties/_meta",
        "Request/properties/params/properties/_meta",
    ),
    "RequestParams": ("Request/properties/params",),
    "RequestedSchema": (
        "ElicitRequestFormParams/properties/requestedSchema",
        "ElicitRequest/properties/params/properties/requestedSchema",
    ),
    "ResourceRequestParams": ("ReadResourceRequest/properties/params",),
    "ResourcesCapability": ("ServerCapabilities/properties/resources",),
    "ResultMetaObject": ("Result/properties/_meta",),
    "RootsCapability": ("ClientCapabilities/properties/roots",),
    "SamplingAsTask": (
        "ClientCapabilities/properties/tasks/properties/requests/properties/sampling",
    ),
    "SamplingCapability": ("ClientCapabilities/properties/sampling",),
    "SamplingMessageContentBlock": ("SamplingMessage/properties/content",),
    "ServerTaskRequests": ("ServerCapabilities/properties/tasks/properties/requests",),
    "ServerTasksCapability": ("ServerCapabilities/properties/tasks",),
    "TitledItems": ("TitledMultiSelectEnumSchema/properties/items",),
    "TitledValue": ("TitledSingleSelectEnumSchema/properties/oneOf/items",),
    "ToolInputSchema": ("Tool/properties/inputSchema",),
    "ToolOutputSchema": ("Tool/properties/outputSchema",),
    "ToolsAsTask": ("ServerCapabilities/properties/tasks/properties/requests/properties/tools",),
    "ToolsCapability": ("ServerCapabilities/properties/tools",),
    "UnsupportedProtocolVersionErrorData": (
        "UnsupportedProtocolVersionError/properties/error/allOf/1/properties/data",
    ),
    "UntitledItems": ("UntitledMultiSelectEnumSchema/properties/items",),
    "URLElicitationRequiredErrorData": (
        "URLElicitationRequiredError/properties/error/allOf/1/properties/data",
    ),
}

UNPUBLISHED = frozenset(
    {
        # The text contract is not a part of the protocol.
        *((version, name) for version in VERSIONS for name in ("TextItem", "TextResult")),
        # Canonical definitions, which no server lists.
        *((version, "CanonicalTool") for version in VERSIONS),
        *((version, "CanonicalOutputSchema") for version in VERSIONS[2:]),
        # Older versions have no types that extend these.
        *((version, "BaseMetadata") for version in VERSIONS[:2]),
        *((version, "MetaObject") for version in VERSIONS[:2]),
        # Parts of the type of a form's field.
        *((version, "StringFieldSchema") for version in VERSIONS[2:]),
        *((version, "SelectItems") for version in VERSIONS[3:]),
        # The tasks extension has no JSON Schema.
        *((VERSIONS[-1], type_.name) for type_ in tools.TASK_TYPES if type_.until == VERSIONS[-1]),
    }
)
"""Types of the model without a counterpart in a version."""


def types_of(version: str) -> list[str]:
    """Return the names of the types of *version*."""
    return [type_.name for type_ in TYPES.values() if type_.since <= version <= type_.until]


@cache
def _file(version: str) -> dict[str, Any]:
    read: dict[str, Any] = json.loads(shared(f"mcp/{version}/schema.json").read_text())
    return read


def definitions_of(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the types of a published schema by name."""
    definitions: dict[str, Any] = schema.get("definitions") or schema["$defs"]
    return definitions


def published(version: str) -> dict[str, Any]:
    """Return a copy of the published schema of *version*."""
    copied: dict[str, Any] = json.loads(json.dumps(_file(version)))
    return copied


@cache
def official_examples() -> tuple[tuple[str, Any], ...]:
    """Return the examples of 2026-07-28, each with the name of its type."""
    files = sorted(shared("mcp/2026-07-28/examples").glob("*/*.json"))
    return tuple((file.parent.name, json.loads(file.read_text())) for file in files)


def message_types(version: str) -> dict[str, str]:
    """Return the names of the published messages of *version* by their methods."""
    methods = {}
    for name, definition in definitions_of(_file(version)).items():
        method = definition.get("properties", {}).get("method", {}).get("const")
        # A union of one notification is that notification.
        if method and name != "ClientNotification":
            methods[method] = name
    return methods


def judge_of(schema: dict[str, Any], version: str, name: str) -> jsonschema_rs.Validator | None:
    """Return the validator of the published type *name* in *schema* of *version*.

    None if the version has no such type.
    """
    pointers = _pointers(definitions_of(schema), version, name)
    if not pointers:
        return None
    key = "definitions" if "definitions" in schema else "$defs"
    parts = [{"$ref": f"#/{key}/{pointer}"} for pointer in pointers]
    root = {"$schema": schema["$schema"], key: schema[key], "allOf": parts}
    return jsonschema_rs.validator_for(root, validate_formats=False)


def _pointers(definitions: dict[str, Any], version: str, name: str) -> list[str]:
    """Return the pointers of the schemas of *name*; a value must match all of them."""
    renamed = _RENAMED.get((version, name), name)
    if renamed in definitions:
        return [renamed]
    places = (place for place in _PLACES.get(name, ()) if _has(definitions, place))
    if place := next(places, ""):
        # The params of a request must also match those of any request.
        is_params = place.endswith("Request/properties/params")
        return [place, "Request/properties/params"] if is_params else [place]
    methods: list[Method | InputRequest] = [*METHODS, *INPUT_REQUESTS.values()]
    for method in methods:
        message = message_types(version).get(method.name, "")
        params = f"{message}/properties/params"
        if method.params == name and message and _has(definitions, params):
            # A message with these params must also match the type of the message.
            kind = "Notification" if method.name.startswith("notifications/") else "Request"
            general = f"{kind}/properties/params"
            is_part = method.name in INPUT_REQUESTS and version == VERSIONS[-1]
            return [params] if is_part else [params, general]
    return []


def _has(definitions: dict[str, Any], pointer: str) -> bool:
    node: Any = definitions
    for step in pointer.split("/"):
        if isinstance(node, list):
            node = dict(enumerate(node)).get(int(step))
        elif isinstance(node, dict) and step in node:
            node = node[step]
        else:
            return False
    return node is not None
