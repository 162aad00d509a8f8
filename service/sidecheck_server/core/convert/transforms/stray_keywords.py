"""Keywords that apply to no value of the types that their schema admits.

For example ``required`` beside ``"type": "array"``: values of other types than a keyword's own
are valid against it (2020-12 validation, sections 6.2 to 6.5; core, section 10.3), and ``type``,
``enum`` or ``const`` rejects the others. The other transforms would take such a keyword for the
description of an object or an array, and Gemini rejects it
(https://github.com/goruck/home-generative-agent/pull/525 quotes the error).
"""

from sidecheck_server.core.convert.schema_graph import SchemaNode
from sidecheck_server.core.convert.transforms.context import Rule, TransformContext
from sidecheck_server.core.convert.transforms.traits import (
    TYPE_TRAITS,
    Kind,
    Traits,
    Visit,
    kind_of,
)
from sidecheck_server.core.convert.transforms.value_types import (
    APPLIES_TO,
    types_of,
    types_of_values,
)
from sidecheck_server.core.limits import Budget, spend

__all__ = ["RULES", "drop_stray_keywords"]

# In steps: visiting one node.
_NODE = 30

_STATING = frozenset({"type", "enum", "const"})
"""Keywords that state types, or values."""

_OF_ANY_TYPE = frozenset({"format"})
"""Keywords that may say something of other types too, such as the format ``int32``.

2020-12 validation, section 7.1; OpenAPI 3.0.3, "Data Types".
"""


_OF_ONE_TYPE = frozenset(APPLIES_TO) - _OF_ANY_TYPE
"""Keywords that apply to the values of one type only."""


def drop_stray_keywords(root: SchemaNode, budget: Budget) -> Visit | None:
    """Drop the stray keywords of *root* and of every node below it; that loses nothing.

    Returns None if there are any: nodes may only have been below these.

    Raises:
        Exhausted: *budget* is spent.
    """
    seen: set[SchemaNode] = set()
    kinds: set[Kind] = set()
    dropped = False
    pending = [root]
    while pending:
        node = pending.pop()
        if node not in seen:
            spend(budget, _NODE + len(node.keywords))
            seen.add(node)
            pending += node.children()
            kinds.add(kind_of(node.keywords))
            dropped = _drop(node) or dropped
    return None if dropped else Visit(len(seen), kinds)


def _drop(node: SchemaNode) -> bool:
    """Drop the stray keywords of *node*; return whether there are any."""
    if _OF_ONE_TYPE.isdisjoint(node.keywords):
        return False
    types = types_of(node) or types_of_values(node)
    if not types:
        return False
    allowed = {"number" if type_ == "integer" else type_ for type_ in types}
    stray = [
        name for name in _OF_ONE_TYPE & node.keywords.keys() if APPLIES_TO[name] not in allowed
    ]
    for keyword in stray:
        del node.keywords[keyword]
    return bool(stray)


def _drop_where_types_changed(node: SchemaNode, _context: TransformContext) -> None:
    """Drop stray keywords of a node that was merged, or that was given a type."""
    _drop(node)


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
