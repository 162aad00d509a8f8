"""Values: types, enums, constants, bounds, patterns and formats."""

from sidecheck_server.core.convert.fitting.fitting import Rule

__all__ = ["RULES"]

RULES: tuple[Rule, ...] = ()
