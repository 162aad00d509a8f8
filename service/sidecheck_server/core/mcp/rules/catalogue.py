"""All rules, by group and by code."""

from collections.abc import Mapping
from types import MappingProxyType

from sidecheck_server.core.mcp.rules import (
    caching,
    capabilities,
    content,
    declarations,
    elicitation,
    elicitation_errors,
    elicitation_fields,
    elicitation_results,
    elicitation_urls,
    empty_results,
    envelope,
    errors,
    features,
    headers,
    icons,
    input_required,
    lists,
    logging,
    metadata,
    names,
    negotiation,
    notifications,
    prompts,
    rejections,
    sampling,
    sampling_history,
    sampling_outputs,
    sampling_results,
    sessions,
    subscriptions,
    tool_forms,
    tool_schemas,
    tools,
    tracing,
    undeclared_features,
    values,
)
from sidecheck_server.core.mcp.rules.rule import Rule

__all__ = ["CATALOGUE", "GROUPS", "RULES"]

_MODULES = (
    caching,
    capabilities,
    content,
    declarations,
    elicitation,
    elicitation_errors,
    elicitation_fields,
    elicitation_results,
    elicitation_urls,
    empty_results,
    envelope,
    errors,
    features,
    headers,
    icons,
    input_required,
    lists,
    logging,
    metadata,
    names,
    negotiation,
    notifications,
    prompts,
    rejections,
    sampling,
    sampling_history,
    sampling_outputs,
    sampling_results,
    sessions,
    subscriptions,
    tool_forms,
    tool_schemas,
    tools,
    tracing,
    undeclared_features,
    values,
)

GROUPS: Mapping[str, tuple[Rule, ...]] = MappingProxyType(
    {(module.__doc__ or "").partition("\n")[0].rstrip("."): module.RULES for module in _MODULES}
)
"""Rules by group; the first line of a module's docstring is the title of its group."""

RULES: tuple[Rule, ...] = tuple(rule for rules in GROUPS.values() for rule in rules)
"""All rules."""

CATALOGUE: Mapping[str, Rule] = MappingProxyType({rule.code: rule for rule in RULES})
"""All rules by code."""
