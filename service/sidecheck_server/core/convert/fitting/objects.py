"""Objects: members, maps, and what is closed and required."""

from sidecheck_server.core.convert.fitting.fitting import Rule

__all__ = ["RULES"]

RULES: tuple[Rule, ...] = ()
