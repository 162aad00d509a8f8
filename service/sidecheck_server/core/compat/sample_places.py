"""What schemas say of the places below a value: properties, items, and how many."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Protocol

from sidecheck_server.core.patterns.cursor import PatternError
from sidecheck_server.core.patterns.pattern import Pattern, compile_pattern

__all__ = [
    "MOST_VALUES",
    "Place",
    "Sampler",
    "edges_of",
    "is_unique",
    "names_of",
    "positions_of_items",
    "schemas_of_item",
    "schemas_of_property",
]

MOST_VALUES = 12
"""The most values that are tried at one place."""


@dataclass(frozen=True, slots=True)
class Place:
    """A place in a payload, and the subschemas that apply there."""

    nodes: list[dict[str, Any]]
    #: The subschemas of the other side.
    hints: list[dict[str, Any]]
    depth: int


class Sampler(Protocol):
    """Makes values for the places below a value."""

    def values(self, schemas: Sequence[Any], others: Sequence[Any], depth: int) -> Iterator[Any]:
        """Yield values for the place where *schemas* apply, and *others* of the other side."""

    def differ(self, schemas: Sequence[Any], others: Sequence[Any]) -> bool:
        """Return whether *schemas*, for one place, say what *others* do not, or less."""


def names_of(nodes: list[dict[str, Any]], keyword: str) -> dict[str, None]:
    """Return the names that *nodes* list or define by *keyword*."""
    return dict.fromkeys(name for node in nodes for name in node.get(keyword) or ())


def schemas_of_property(nodes: list[dict[str, Any]], name: str) -> list[Any]:
    """Return the schemas that *nodes* have for the property *name*."""
    schemas: list[Any] = []
    is_declared = False
    for node in nodes:
        own = [node["properties"][name]] if name in node.get("properties", ()) else []
        own += [
            schema
            for pattern, schema in node.get("patternProperties", {}).items()
            if _matches(pattern, name)
        ]
        is_declared |= bool(own)
        others = [node["additionalProperties"]] if "additionalProperties" in node else []
        schemas += own or others
    if not is_declared:
        schemas += [n["unevaluatedProperties"] for n in nodes if "unevaluatedProperties" in n]
    return schemas


def _matches(pattern: str, name: str) -> bool:
    compiled = _compiled(pattern)
    return compiled is not None and compiled.search(name)


@lru_cache(maxsize=512)
def _compiled(pattern: str) -> Pattern | None:
    try:
        return compile_pattern(pattern)
    except PatternError:
        return None


def schemas_of_item(nodes: list[dict[str, Any]], index: int) -> list[Any]:
    """Return the schemas that *nodes* have for the item at *index*."""
    schemas: list[Any] = []
    for node in nodes:
        items = node.get("items")
        prefix = items if isinstance(items, list) else node.get("prefixItems", [])
        rest = node.get("additionalItems") if isinstance(items, list) else items
        if index < len(prefix):
            schemas.append(prefix[index])
        elif rest is not None:
            schemas.append(rest)
    return schemas


def positions_of_items(nodes: Iterable[dict[str, Any]]) -> int:
    """Return how many items have a schema of their own, and one more."""
    prefixes = (
        node["items"] if isinstance(node.get("items"), list) else node.get("prefixItems", [])
        for node in nodes
    )
    return max((len(prefix) + 1 for prefix in prefixes if prefix), default=0)


def edges_of(nodes: Iterable[dict[str, Any]], keywords: Sequence[str]) -> set[int]:
    """Return the numbers at and around the bounds by *keywords*."""
    edges = {int(node[name]) for node in nodes for name in keywords if name in node}
    return {edge + step for edge in edges for step in (-1, 0, 1)}


def is_unique(nodes: list[dict[str, Any]]) -> bool:
    """Return whether one of *nodes* wants unique items."""
    return any(node.get("uniqueItems") for node in nodes)
