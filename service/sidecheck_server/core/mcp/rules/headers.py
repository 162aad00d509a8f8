"""``x-mcp-header``: arguments that HTTP clients repeat in headers."""

from sidecheck_server.core.mcp.rules.rule import Rule

__all__ = ["RULES"]

RULES: tuple[Rule, ...] = ()
