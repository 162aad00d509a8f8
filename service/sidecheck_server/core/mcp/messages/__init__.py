"""Messages of the protocol: JSON-RPC requests, notifications and responses."""

from sidecheck_server.core.mcp.messages.checking import check_messages
from sidecheck_server.core.mcp.messages.envelopes import Kind, Message
from sidecheck_server.core.mcp.messages.error_responses import reply_to

__all__ = ["Kind", "Message", "check_messages", "reply_to"]
