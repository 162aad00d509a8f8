"""Traits of nodes: what decides which rules of the transforms concern them."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias

__all__ = [
    "ARRAY",
    "DROPPING_DEFAULTS",
    "NO_KEYWORDS",
    "OBJECT",
    "RENAMING",
    "SEVERAL_TYPES",
    "TYPE_TRAITS",
    "Kind",
    "Traits",
    "Visit",
    "kind_of",
]

Traits: TypeAlias = frozenset[str]
"""What decides which rules concern a node.

That is its keywords, the trait of its ``type``, and those of the whole transformation.
"""

TYPE_TRAITS: Mapping[str, str] = MappingProxyType(
    {
        name: f"type: {name}"
        for name in ("array", "boolean", "integer", "null", "number", "object", "string")
    }
)
"""The trait of a node whose ``type`` is one type, by its name."""
ARRAY, OBJECT = TYPE_TRAITS["array"], TYPE_TRAITS["object"]
SEVERAL_TYPES = "type: several"
"""The trait of a node whose ``type`` is a list."""
RENAMING, DROPPING_DEFAULTS = "renaming", "dropping defaults"
"""The traits of all nodes of a transformation with new names, or without defaults."""
NO_KEYWORDS = frozenset({*TYPE_TRAITS.values(), SEVERAL_TYPES, RENAMING, DROPPING_DEFAULTS})
"""The traits that are no keywords."""


Kind: TypeAlias = tuple[str, ...]
"""The traits of a node in the order of its keywords, without those of the transformation."""


def kind_of(keywords: Mapping[str, Any]) -> Kind:
    """Return the kind of a node that has these *keywords*."""
    if "type" not in keywords:
        return tuple(keywords)
    stated = keywords["type"]
    trait = SEVERAL_TYPES if isinstance(stated, list) else TYPE_TRAITS[stated]
    return (*keywords, trait)


class Visit(NamedTuple):
    """Visit of all nodes: how many there are, and of which kinds they are after it."""

    nodes: int
    kinds: set[Kind]
