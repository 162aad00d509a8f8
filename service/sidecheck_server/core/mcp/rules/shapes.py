"""What the published schema of a type says: one rule for each keyword."""

from sidecheck_server.core.mcp.rules.rule import Rule

__all__ = ["RULES"]

RULES: tuple[Rule, ...] = ()
