"""What is left: keywords that an API does not take, and schemas that do not say their type."""

from sidecheck_server.core.convert.fitting.fitting import Rule

__all__ = ["RULES"]

RULES: tuple[Rule, ...] = ()
