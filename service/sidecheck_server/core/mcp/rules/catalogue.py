"""All rules."""

from collections.abc import Mapping
from types import MappingProxyType

from sidecheck_server.core.mcp.rules import (
    caching,
    capabilities,
    content,
    elicitation,
    elicitation_results,
    envelope,
    errors,
    headers,
    input_required,
    metadata,
    methods,
    names,
    results,
    sampling,
    sessions,
    shapes,
    tools,
)
from sidecheck_server.core.mcp.rules.rule import Rule

__all__ = ["CATALOGUE", "RULES"]

RULES: tuple[Rule, ...] = (
    *caching.RULES,
    *capabilities.RULES,
    *content.RULES,
    *elicitation.RULES,
    *elicitation_results.RULES,
    *envelope.RULES,
    *errors.RULES,
    *headers.RULES,
    *input_required.RULES,
    *metadata.RULES,
    *methods.RULES,
    *names.RULES,
    *results.RULES,
    *sampling.RULES,
    *sessions.RULES,
    *shapes.RULES,
    *tools.RULES,
)
"""All rules."""

CATALOGUE: Mapping[str, Rule] = MappingProxyType({rule.code: rule for rule in RULES})
"""All rules by code."""
