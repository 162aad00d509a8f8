"""Keywords that apply to no value of the types that their schema admits.

For example ``required`` beside ``"type": "array"``: values of other types than a keyword's own
are valid against it (2020-12 validation, sections 6.2 to 6.5; core, section 10.3), and ``type``,
``enum`` or ``const`` rejects the others. The other transforms would take such a keyword for the
description of an object or an array, and Gemini rejects it
(https://github.com/goruck/home-generative-agent/pull/525 quotes the error).
"""

from functools import lru_cache

from sidecheck_server.core.convert.schema_graph import SchemaNode
from sidecheck_server.core.convert.transforms.context import Rule, TransformContext
from sidecheck_server.core.convert.transforms.traits import TYPE_TRAITS, Traits, Visit, traits_of
from sidecheck_server.core.convert.transforms.value_types import (
    APPLIES_TO,
    types_of,
    types_of_values,
)
from sidecheck_server.core.limits import Budget, spend

__all__ = ["RULES", "drop_stray_keywords"]

# In steps: visiting one node.
_NODE = 30

_KEPT = 1024
"""Combinations of traits that are kept with the answer; schemas have few."""

_STATING = frozenset({"type", "enum", "const"})
"""Keywords that state types, or values."""

_OF_ANY_TYPE = frozenset({"format"})
"""Keywords that may say something of other types too, such as the format ``int32``.

2020-12 validation, section 7.1; OpenAPI 3.0.3, "Data Types".
"""


_OF_ONE_TYPE = APPLIES_TO.keys() - _OF_ANY_TYPE
"""Keywords that apply to the values of one type only."""


def drop_stray_keywords(root: SchemaNode, budget: Budget) -> Visit | None:
    """Drop the stray keywords of *root* and of every node below it; that loses nothing.

    Returns None if there are any: nodes may only have been below these.

    Raises:
        Exhausted: *budget* is spent.
    """
    seen: set[SchemaNode] = set()
    kinds: set[tuple[str, ...]] = set()
    dropped = False
    pending = [root]
    while pending:
        node = pending.pop()
        if node not in seen:
            spend(budget, _NODE + len(node.keywords))
            seen.add(node)
            pending += node.children()
            traits = traits_of(node.keywords)
            if _may_be_dropped(traits) and _drop(node):
                dropped, traits = True, traits_of(node.keywords)
            kinds.add(traits)
    return None if dropped else Visit(len(seen), frozenset(kinds))


def _drop(node: SchemaNode) -> bool:
    """Drop the stray keywords of *node*; return whether there are any."""
    typed = [keyword for keyword in node.keywords if keyword in _OF_ONE_TYPE]
    types = typed and (types_of(node) or types_of_values(node))
    stray = [keyword for keyword in typed if types and not _applies(keyword, types)]
    for keyword in stray:
        del node.keywords[keyword]
    return bool(stray)


def _applies(keyword: str, types: list[str]) -> bool:
    type_ = APPLIES_TO[keyword]
    return type_ in types or (type_ == "number" and "integer" in types)


def _drop_where_types_changed(node: SchemaNode, _context: TransformContext) -> None:
    """Drop stray keywords of a node that was merged, or that was given a type."""
    _drop(node)


@lru_cache(maxsize=_KEPT)
def _may_be_dropped(traits: tuple[str, ...]) -> bool:
    return _have_stray(frozenset(traits))


def _have_stray(traits: Traits) -> bool:
    """Return whether a node of *traits* may have stray keywords."""
    return not traits.isdisjoint(_STATING) and any(
        TYPE_TRAITS[APPLIES_TO[keyword]] not in traits
        and not (APPLIES_TO[keyword] == "number" and TYPE_TRAITS["integer"] in traits)
        for keyword in traits & _OF_ONE_TYPE
    )


RULES: tuple[Rule, ...] = (
    Rule(_drop_where_types_changed, lambda traits, _subset: _have_stray(traits)),
)
