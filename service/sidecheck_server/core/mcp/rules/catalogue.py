"""All rules."""

from collections.abc import Mapping
from types import MappingProxyType

from sidecheck_server.core.mcp.rules import (
    caching,
    capabilities,
    content,
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
    sampling,
    sampling_history,
    sampling_results,
    schema_refusals,
    schema_remarks,
    sessions,
    shapes,
    texts,
    tools,
)
from sidecheck_server.core.mcp.rules.rule import Rule

__all__ = ["CATALOGUE", "RULES"]

RULES: tuple[Rule, ...] = (
    *caching.RULES,
    *capabilities.RULES,
    *content.RULES,
    *elicitation.RULES,
    *elicitation_fields.RULES,
    *elicitation_options.RULES,
    *elicitation_results.RULES,
    *elicitation_urls.RULES,
    *envelope.RULES,
    *errors.RULES,
    *headers.RULES,
    *icons.RULES,
    *input_required.RULES,
    *metadata.RULES,
    *methods.RULES,
    *names.RULES,
    *results.RULES,
    *sampling.RULES,
    *sampling_history.RULES,
    *sampling_results.RULES,
    *schema_refusals.RULES,
    *schema_remarks.RULES,
    *sessions.RULES,
    *shapes.RULES,
    *texts.RULES,
    *tools.RULES,
)
"""All rules."""

CATALOGUE: Mapping[str, Rule] = MappingProxyType({rule.code: rule for rule in RULES})
"""All rules by code."""
