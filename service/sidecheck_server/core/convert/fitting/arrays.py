"""Arrays: items, tuples and what they contain."""

from sidecheck_server.core.convert.fitting.fitting import Rule

__all__ = ["RULES"]

RULES: tuple[Rule, ...] = ()
