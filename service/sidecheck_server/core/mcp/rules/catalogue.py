"""All rules, by group and by code, in the order of the reference.

Importing a module of the package registers its rules, so this module imports them all.
"""

from collections.abc import Mapping
from importlib import import_module
from pkgutil import iter_modules
from types import MappingProxyType

from sidecheck_server.core.mcp import rules
from sidecheck_server.core.mcp.rules.rule import Group, Rule, registered_rules

__all__ = ["CATALOGUE", "GROUPS", "RULES"]

for _module in iter_modules(rules.__path__):
    import_module(f"{rules.__name__}.{_module.name}")

GROUPS: Mapping[Group, tuple[Rule, ...]] = MappingProxyType(
    {group: registered_rules(group) for group in Group}
)
"""Rules by group."""

RULES: tuple[Rule, ...] = tuple(rule for rules in GROUPS.values() for rule in rules)
"""All rules."""

CATALOGUE: Mapping[str, Rule] = MappingProxyType({rule.code: rule for rule in RULES})
"""All rules by code."""
