"""Order of the transforms."""

from collections.abc import Mapping

from sidecheck_server.core.convert.providers.subset import References, Subset
from sidecheck_server.core.convert.schema_graph import SchemaNode
from sidecheck_server.core.convert.transforms import (
    arrays,
    combinators,
    nulls,
    objects,
    references,
    stray_keywords,
    union_discriminators,
    unsupported_keywords,
    values,
)
from sidecheck_server.core.convert.transforms.context import Rule, TransformContext
from sidecheck_server.core.convert.transforms.root import transform_root
from sidecheck_server.core.convert.types import LossLog
from sidecheck_server.core.limits import spend

__all__ = ["PASSES", "transform_schema"]

PASSES: tuple[tuple[Rule, ...], ...] = (
    (*combinators.RULES, *stray_keywords.RULES, *nulls.RULES),
    references.RULES,
    (
        *stray_keywords.RULES,
        *values.RULES,
        *arrays.RULES,
        *objects.RULES,
        *unsupported_keywords.RULES,
    ),
    union_discriminators.ARRANGE,
    union_discriminators.CHECK,
)
"""Every rule, in order: the structure first, so that what remains has its final form.

Keywords without effect go first: other rules would take them for a part of that form. Each
pass visits all nodes before the next begins. Nodes that are merged must not be encoded
yet, and references lead to nodes that were visited before. First properties are arranged
last, when all are declared.
"""

# In steps: one node in one pass, and each rule of that pass.
_NODE = 30
_RULE = 10


def transform_schema(
    root: SchemaNode,
    subset: Subset,
    renamed: Mapping[str, str],
    log: LossLog,
    *,
    drop_defaults: bool = False,
) -> SchemaNode:
    """Return *root* in the schema language of *subset*, with *renamed* properties.

    With *drop_defaults* it has no ``default``, and describes none.

    Raises:
        RequestError: NOT_CONVERTIBLE.
        Exhausted: the budget of *log* is spent.
    """
    stray_keywords.drop_stray_keywords(root, log.budget)
    if subset.references is References.NOWHERE:
        root = references.inline_references(root, log)
    elif not subset.recursion:
        references.cut_cycles(root, log)
    root = transform_root(root, subset, log)
    context = TransformContext(root, subset, renamed, log, drop_defaults)
    for rules in PASSES:
        _apply(rules, context)
    return root


def _apply(rules: tuple[Rule, ...], context: TransformContext) -> None:
    """Apply *rules* to each node once, parents first."""
    seen: set[int] = set()
    pending = [context.root]
    # Keeps nodes alive, so that no two have the same id.
    visited: list[SchemaNode] = []
    while pending:
        node = pending.pop()
        if id(node) in seen:
            continue
        spend(context.log.budget, _NODE + _RULE * len(rules))
        seen.add(id(node))
        visited.append(node)
        for rule in rules:
            rule(node, context)
        pending += node.children()
