"""All types of the protocol."""

from collections.abc import Mapping
from types import MappingProxyType

from sidecheck_server.core.mcp.types import (
    base,
    capabilities,
    content,
    elicitation,
    errors,
    input_required,
    notifications,
    prompts,
    resources,
    sampling,
    tasks,
    tools,
)
from sidecheck_server.core.mcp.types.model import Type

__all__ = ["TYPES"]

_ALL: tuple[Type, ...] = (
    *base.TYPES,
    *capabilities.TYPES,
    *content.TYPES,
    *elicitation.TYPES,
    *errors.TYPES,
    *input_required.TYPES,
    *notifications.TYPES,
    *prompts.TYPES,
    *resources.TYPES,
    *sampling.TYPES,
    *tasks.TYPES,
    *tools.TYPES,
)

TYPES: Mapping[str, Type] = MappingProxyType({each.name: each for each in _ALL})
"""All types by name."""
assert len(TYPES) == len(_ALL)
