"""What must hold between the messages of a session."""

from sidecheck_server.core.mcp.rules.rule import Rule

__all__ = ["RULES"]

RULES: tuple[Rule, ...] = ()
