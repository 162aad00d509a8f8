"""Sessions: the messages of two peers in their order, and the rules that need memory."""

from sidecheck_server.core.mcp.sessions.session import Session

__all__ = ["Session"]
