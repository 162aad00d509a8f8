"""Capabilities, and the exchanges in which they are told."""

from sidecheck_server.core.mcp.types.model import (
    BOOLEAN,
    STRING,
    Field,
    ListOf,
    MapOf,
    ObjectType,
    Ref,
    Type,
    optional,
    required,
)

__all__ = ["TYPES"]

_HANDSHAKE, _DISCOVERY = "2025-11-25", "2026-07-28"
_TASKS = "2025-11-25"

_SETTINGS = Ref("JSONObject")
_NEWS = optional("listChanged", BOOLEAN)
_OPEN: tuple[Field, ...] = (
    optional("experimental", MapOf(_SETTINGS)),
    optional("extensions", MapOf(_SETTINGS), _DISCOVERY),
)


def _tasks(whose: str) -> tuple[Field, ...]:
    return (
        optional("list", _SETTINGS),
        optional("cancel", _SETTINGS),
        optional("requests", Ref(f"{whose}TaskRequests")),
    )


# Of these, the published schemas name only `ClientCapabilities` and `ServerCapabilities`.
_OF_CLIENTS: tuple[Type, ...] = (
    ObjectType("RootsCapability", (optional("listChanged", BOOLEAN, until=_HANDSHAKE),)),
    ObjectType(
        "SamplingCapability",
        (
            optional("context", _SETTINGS, "2025-11-25"),
            optional("tools", _SETTINGS, "2025-11-25"),
        ),
    ),
    ObjectType(
        "ElicitationCapability",
        (optional("form", _SETTINGS, "2025-11-25"), optional("url", _SETTINGS, "2025-11-25")),
        since="2025-06-18",
    ),
    ObjectType(
        "SamplingAsTask", (optional("createMessage", _SETTINGS),), since=_TASKS, until=_TASKS
    ),
    ObjectType("ElicitationAsTask", (optional("create", _SETTINGS),), since=_TASKS, until=_TASKS),
    ObjectType(
        "ClientTaskRequests",
        (
            optional("sampling", Ref("SamplingAsTask")),
            optional("elicitation", Ref("ElicitationAsTask")),
        ),
        since=_TASKS,
        until=_TASKS,
    ),
    ObjectType("ClientTasksCapability", _tasks("Client"), since=_TASKS, until=_TASKS),
    ObjectType(
        "ClientCapabilities",
        (
            *_OPEN,
            optional("roots", Ref("RootsCapability")),
            optional("sampling", Ref("SamplingCapability")),
            optional("elicitation", Ref("ElicitationCapability"), "2025-06-18"),
            optional("tasks", Ref("ClientTasksCapability"), _TASKS, _TASKS),
        ),
    ),
)

_OF_SERVERS: tuple[Type, ...] = (
    ObjectType("PromptsCapability", (_NEWS,)),
    ObjectType("ResourcesCapability", (optional("subscribe", BOOLEAN), _NEWS)),
    ObjectType("ToolsCapability", (_NEWS,)),
    ObjectType("ToolsAsTask", (optional("call", _SETTINGS),), since=_TASKS, until=_TASKS),
    ObjectType(
        "ServerTaskRequests", (optional("tools", Ref("ToolsAsTask")),), since=_TASKS, until=_TASKS
    ),
    ObjectType("ServerTasksCapability", _tasks("Server"), since=_TASKS, until=_TASKS),
    ObjectType(
        "ServerCapabilities",
        (
            *_OPEN,
            optional("logging", _SETTINGS),
            optional("completions", _SETTINGS, "2025-03-26"),
            optional("prompts", Ref("PromptsCapability")),
            optional("resources", Ref("ResourcesCapability")),
            optional("tools", Ref("ToolsCapability")),
            optional("tasks", Ref("ServerTasksCapability"), _TASKS, _TASKS),
        ),
    ),
)

_EXCHANGES: tuple[Type, ...] = (
    ObjectType(
        "InitializeRequestParams",
        (
            required("protocolVersion", STRING),
            required("capabilities", Ref("ClientCapabilities")),
            required("clientInfo", Ref("Implementation")),
        ),
        bases=("RequestParams",),
        until=_HANDSHAKE,
    ),
    ObjectType(
        "InitializeResult",
        (
            required("protocolVersion", STRING),
            required("capabilities", Ref("ServerCapabilities")),
            required("serverInfo", Ref("Implementation")),
            optional("instructions", STRING),
        ),
        bases=("Result",),
        until=_HANDSHAKE,
    ),
    ObjectType(
        "DiscoverResult",
        (
            required("supportedVersions", ListOf(STRING)),
            required("capabilities", Ref("ServerCapabilities")),
            optional("instructions", STRING),
        ),
        bases=("CacheableResult",),
        since=_DISCOVERY,
    ),
)

TYPES: tuple[Type, ...] = (*_OF_CLIENTS, *_OF_SERVERS, *_EXCHANGES)
"""Capabilities."""
