"""All types of the protocol by name."""

from collections.abc import Mapping
from types import MappingProxyType

from sidecheck_server.core.mcp.types import (
    base,
    capabilities,
    elicitation,
    resources,
    sampling,
    tools,
)
from sidecheck_server.core.mcp.types.model import Type

__all__ = ["TYPES"]

_ALL: tuple[Type, ...] = (
    *base.TYPES,
    *capabilities.TYPES,
    *elicitation.TYPES,
    *resources.TYPES,
    *sampling.TYPES,
    *tools.TYPES,
)

TYPES: Mapping[str, Type] = MappingProxyType({type_.name: type_ for type_ in _ALL})
"""All types by name."""
assert len(TYPES) == len(_ALL)
