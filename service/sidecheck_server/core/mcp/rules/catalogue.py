"""All rules, by group and by code, in the order of the reference."""

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
    elicitation_options,
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
    tasks,
    tasks_extension,
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
    # What every message has.
    values,
    envelope,
    errors,
    metadata,
    tracing,
    # Versions and capabilities.
    negotiation,
    declarations,
    capabilities,
    undeclared_features,
    features,
    # What holds between messages.
    sessions,
    notifications,
    rejections,
    empty_results,
    lists,
    caching,
    # Tools.
    tools,
    tool_forms,
    tool_schemas,
    names,
    headers,
    icons,
    # Other features of servers.
    content,
    prompts,
    subscriptions,
    logging,
    # Input from clients.
    input_required,
    elicitation,
    elicitation_fields,
    elicitation_options,
    elicitation_urls,
    elicitation_results,
    elicitation_errors,
    sampling,
    sampling_history,
    sampling_outputs,
    sampling_results,
    # Tasks.
    tasks,
    tasks_extension,
)

GROUPS: Mapping[str, tuple[Rule, ...]] = MappingProxyType(
    {(module.__doc__ or "").partition("\n")[0].rstrip("."): module.RULES for module in _MODULES}
)
"""Rules by group; the first line of a module's docstring is the title of its group."""

RULES: tuple[Rule, ...] = tuple(rule for rules in GROUPS.values() for rule in rules)
"""All rules."""

CATALOGUE: Mapping[str, Rule] = MappingProxyType({rule.code: rule for rule in RULES})
"""All rules by code."""
