"""What peers may only do if it was declared."""

from sidecheck_server.core.mcp.rules.rule import Rule

__all__ = ["RULES"]

RULES: tuple[Rule, ...] = ()
