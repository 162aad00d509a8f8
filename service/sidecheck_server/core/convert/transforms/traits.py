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
    "Traits",
    "Visit",
    "traits_of",
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


def traits_of(keywords: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the traits of a node that has these *keywords*."""
    if "type" not in keywords:
        return tuple(keywords)
    stated = keywords["type"]
    trait = SEVERAL_TYPES if isinstance(stated, list) else TYPE_TRAITS[stated]
    return (*keywords, trait)


class Visit(NamedTuple):
    """Visit of all nodes: how many there are, and the traits that they have after it."""

    nodes: int
    kinds: frozenset[tuple[str, ...]]
