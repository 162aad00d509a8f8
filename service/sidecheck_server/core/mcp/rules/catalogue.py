"""All rules."""

from collections.abc import Mapping
from types import MappingProxyType

from sidecheck_server.core.mcp.rules import (
    caching,
    capabilities,
    completions,
    content,
    deprecations,
    elicitation,
    elicitation_fields,
    elicitation_options,
    elicitation_results,
    elicitation_urls,
    envelope,
    errors,
    headers,
    icons,
    input_required,
    metadata,
    methods,
    names,
    results,
    roots,
    sampling,
    sampling_history,
    sampling_results,
    schema_errors,
    schema_warnings,
    sessions,
    shapes,
    tasks,
    texts,
    tools,
)
from sidecheck_server.core.mcp.rules.rule import Rule

__all__ = ["CATALOGUE", "GROUPS", "RULES"]

_MODULES = (
    caching,
    capabilities,
    completions,
    content,
    deprecations,
    elicitation,
    elicitation_fields,
    elicitation_options,
    elicitation_results,
    elicitation_urls,
    envelope,
    errors,
    headers,
    icons,
    input_required,
    metadata,
    methods,
    names,
    results,
    roots,
    sampling,
    sampling_history,
    sampling_results,
    schema_errors,
    schema_warnings,
    sessions,
    shapes,
    tasks,
    texts,
    tools,
)

GROUPS: Mapping[str, tuple[Rule, ...]] = MappingProxyType(
    {(module.__doc__ or "").partition("\n")[0].rstrip("."): module.RULES for module in _MODULES}
)
"""All rules, by what they are about."""

RULES: tuple[Rule, ...] = tuple(rule for rules in GROUPS.values() for rule in rules)
"""All rules."""

CATALOGUE: Mapping[str, Rule] = MappingProxyType({rule.code: rule for rule in RULES})
"""All rules by code."""
