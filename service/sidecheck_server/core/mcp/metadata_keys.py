"""Keys of `_meta` that the protocol defines."""

from typing import Any

__all__ = [
    "CLIENT_CAPABILITIES_KEY",
    "CLIENT_INFO_KEY",
    "LOG_LEVEL_KEY",
    "MCP_KEYS",
    "MCP_PREFIX",
    "PROTOCOL_VERSION_KEY",
    "RELATED_TASK_KEY",
    "SERVER_INFO_KEY",
    "SUBSCRIPTION_ID_KEY",
    "read_metadata",
]

MCP_PREFIX = "io.modelcontextprotocol/"
"""Prefix of the keys that the specification and its extensions define."""

# In requests, since 2026-07-28 (RequestMetaObject).
PROTOCOL_VERSION_KEY = f"{MCP_PREFIX}protocolVersion"
CLIENT_CAPABILITIES_KEY = f"{MCP_PREFIX}clientCapabilities"
CLIENT_INFO_KEY = f"{MCP_PREFIX}clientInfo"
LOG_LEVEL_KEY = f"{MCP_PREFIX}logLevel"
# In results, since 2026-07-28 (ResultMetaObject).
SERVER_INFO_KEY = f"{MCP_PREFIX}serverInfo"
# In messages of a subscription, since 2026-07-28 (NotificationMetaObject).
SUBSCRIPTION_ID_KEY = f"{MCP_PREFIX}subscriptionId"
# In messages about a task of 2025-11-25 (basic/utilities/tasks).
RELATED_TASK_KEY = f"{MCP_PREFIX}related-task"
_IMMEDIATE_RESPONSE_KEY = f"{MCP_PREFIX}model-immediate-response"

MCP_KEYS = frozenset(
    {
        "baggage",
        "progressToken",
        "traceparent",
        "tracestate",
        CLIENT_CAPABILITIES_KEY,
        CLIENT_INFO_KEY,
        LOG_LEVEL_KEY,
        PROTOCOL_VERSION_KEY,
        RELATED_TASK_KEY,
        SERVER_INFO_KEY,
        SUBSCRIPTION_ID_KEY,
        _IMMEDIATE_RESPONSE_KEY,
    }
)
"""Keys that any version of the specification defines."""


def read_metadata(fields: Any) -> dict[str, Any]:
    """Return the `_meta` of *fields*, the params or the result of a message, or {}."""
    meta = fields.get("_meta") if isinstance(fields, dict) else None
    return meta if isinstance(meta, dict) else {}
