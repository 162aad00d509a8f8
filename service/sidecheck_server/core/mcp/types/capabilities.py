"""Types of capabilities, handshake, discovery, notifications and subscriptions."""

from sidecheck_server.core.mcp.context import FIRST_STATELESS, LAST_HANDSHAKE
from sidecheck_server.core.mcp.types.model import (
    ANY,
    BOOLEAN,
    NUMBER,
    STRING,
    Alias,
    ListOf,
    MapOf,
    ObjectType,
    Property,
    Ref,
    Type,
    one_of_values,
    optional,
    required,
)

__all__ = ["TYPES"]

_HANDSHAKE, _DISCOVERY = LAST_HANDSHAKE, FIRST_STATELESS
_TASKS = "2025-11-25"

_SETTINGS = Ref("JSONObject")
_LIST_CHANGED = optional("listChanged", BOOLEAN)
_NON_STANDARD: tuple[Property, ...] = (
    optional("experimental", MapOf(_SETTINGS)),
    optional("extensions", MapOf(_SETTINGS), _DISCOVERY),
)


def _task_properties(side: str) -> tuple[Property, ...]:
    return (
        optional("list", _SETTINGS),
        optional("cancel", _SETTINGS),
        optional("requests", Ref(f"{side}TaskRequests")),
    )


# The published schemas name only `ClientCapabilities` and `ServerCapabilities`; the other types
# are anonymous there.
_CLIENT_TYPES: tuple[Type, ...] = (
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
    ObjectType("ClientTasksCapability", _task_properties("Client"), since=_TASKS, until=_TASKS),
    ObjectType(
        "ClientCapabilities",
        (
            *_NON_STANDARD,
            optional("roots", Ref("RootsCapability")),
            optional("sampling", Ref("SamplingCapability")),
            optional("elicitation", Ref("ElicitationCapability"), "2025-06-18"),
            optional("tasks", Ref("ClientTasksCapability"), _TASKS, _TASKS),
        ),
    ),
)

_SERVER_TYPES: tuple[Type, ...] = (
    ObjectType("PromptsCapability", (_LIST_CHANGED,)),
    ObjectType("ResourcesCapability", (optional("subscribe", BOOLEAN), _LIST_CHANGED)),
    ObjectType("ToolsCapability", (_LIST_CHANGED,)),
    ObjectType("ToolsAsTask", (optional("call", _SETTINGS),), since=_TASKS, until=_TASKS),
    ObjectType(
        "ServerTaskRequests", (optional("tools", Ref("ToolsAsTask")),), since=_TASKS, until=_TASKS
    ),
    ObjectType("ServerTasksCapability", _task_properties("Server"), since=_TASKS, until=_TASKS),
    ObjectType(
        "ServerCapabilities",
        (
            *_NON_STANDARD,
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


_ID = Ref("RequestId")

_NOTIFICATIONS: tuple[Type, ...] = (
    ObjectType(
        "CancelledNotificationParams",
        (
            required("requestId", _ID, until="2025-06-18"),
            # Required by the prose except for tasks, which tasks/cancel must cancel.
            optional("requestId", _ID, "2025-11-25", "2025-11-25"),
            required("requestId", _ID, _DISCOVERY),
            optional("reason", STRING),
        ),
        bases=("NotificationParams",),
    ),
    ObjectType(
        "ProgressNotificationParams",
        (
            required("progressToken", Ref("ProgressToken")),
            required("progress", NUMBER),
            optional("total", NUMBER),
            optional("message", STRING, "2025-03-26"),
        ),
        bases=("NotificationParams",),
    ),
    Alias(
        "LoggingLevel",
        one_of_values(
            ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")
        ),
    ),
    ObjectType(
        "SetLevelRequestParams",
        (required("level", Ref("LoggingLevel")),),
        bases=("RequestParams",),
        until="2025-11-25",
    ),
    ObjectType(
        "LoggingMessageNotificationParams",
        (required("level", Ref("LoggingLevel")), optional("logger", STRING), required("data", ANY)),
        bases=("NotificationParams",),
    ),
)

_SUBSCRIPTIONS: tuple[Type, ...] = (
    ObjectType(
        "SubscriptionFilter",
        (
            optional("toolsListChanged", BOOLEAN),
            optional("promptsListChanged", BOOLEAN),
            optional("resourcesListChanged", BOOLEAN),
            optional("resourceSubscriptions", ListOf(STRING)),
        ),
        since=_DISCOVERY,
    ),
    ObjectType(
        "SubscriptionsListenRequestParams",
        (required("notifications", Ref("SubscriptionFilter")),),
        bases=("RequestParams",),
        since=_DISCOVERY,
    ),
    ObjectType(
        "SubscriptionsListenResultMetaObject",
        (required("io.modelcontextprotocol/subscriptionId", _ID),),
        bases=("ResultMetaObject",),
        since=_DISCOVERY,
    ),
    ObjectType(
        "SubscriptionsListenResult",
        (required("_meta", Ref("SubscriptionsListenResultMetaObject")),),
        bases=("Result",),
        since=_DISCOVERY,
    ),
    ObjectType(
        "SubscriptionsAcknowledgedNotificationParams",
        (required("notifications", Ref("SubscriptionFilter")),),
        bases=("NotificationParams",),
        since=_DISCOVERY,
    ),
)

TYPES: tuple[Type, ...] = (
    *_CLIENT_TYPES,
    *_SERVER_TYPES,
    *_EXCHANGES,
    *_NOTIFICATIONS,
    *_SUBSCRIPTIONS,
)
"""Capabilities, notifications and subscriptions."""
