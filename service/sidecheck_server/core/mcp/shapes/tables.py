"""All types of the protocol."""

from collections.abc import Mapping
from types import MappingProxyType

from sidecheck_server.core.mcp.shapes.words import Type

__all__ = ["TYPES"]

_ALL: tuple[Type, ...] = ()

TYPES: Mapping[str, Type] = MappingProxyType({each.name: each for each in _ALL})
"""All types by name."""
