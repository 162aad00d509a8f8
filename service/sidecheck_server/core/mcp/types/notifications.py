"""What is told in passing: cancelling, progress, logging, subscriptions."""

from sidecheck_server.core.mcp.types.model import (
    ANY,
    BOOLEAN,
    NUMBER,
    STRING,
    Alias,
    ListOf,
    ObjectType,
    Ref,
    Type,
    one_of_values,
    optional,
    required,
)

__all__ = ["TYPES"]

_DISCOVERY = "2026-07-28"
_ID = Ref("RequestId")

_NOTIFICATIONS: tuple[Type, ...] = (
    ObjectType(
        "CancelledNotificationParams",
        (
            required("requestId", _ID, until="2025-06-18"),
            # That version asks for it unless a task is cancelled, which it forbids elsewhere.
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

TYPES: tuple[Type, ...] = (*_NOTIFICATIONS, *_SUBSCRIPTIONS)
"""Notifications and subscriptions."""
