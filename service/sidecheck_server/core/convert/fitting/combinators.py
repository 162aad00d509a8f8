"""Combinators: allOf, anyOf, oneOf, not, if and what depends."""

from sidecheck_server.core.convert.fitting.fitting import Rule

__all__ = ["RULES"]

RULES: tuple[Rule, ...] = ()
