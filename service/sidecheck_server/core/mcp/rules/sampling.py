"""Requests and results of sampling."""

from sidecheck_server.core.mcp.rules.rule import Rule

__all__ = ["RULES"]

RULES: tuple[Rule, ...] = ()
