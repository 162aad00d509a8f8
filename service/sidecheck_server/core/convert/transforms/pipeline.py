"""Order of the transforms."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache

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
from sidecheck_server.core.convert.transforms.context import Rule, TransformContext, traits_of
from sidecheck_server.core.convert.transforms.root import transform_root
from sidecheck_server.core.convert.types import LossLog
from sidecheck_server.core.limits import spend

__all__ = ["STAGES", "transform_schema"]

_KEPT = 4096
"""Combinations of traits that are kept with the rules that they concern.

Schemas have few; a thousand public tools have some hundred.
"""

_NODE = 30
_RULE = 10
"""Steps of one node in one stage, and of each rule of that stage."""


def _always(_subset: Subset) -> bool:
    return True


@dataclass(frozen=True, slots=True, eq=False)
class Stage:
    """Rules that are applied in one visit of all nodes."""

    rules: tuple[Rule, ...]
    #: Whether some of the rules may concern a node, for a subset.
    needed: Callable[[Subset], bool] = _always

    @property
    def steps(self) -> int:
        """Steps of one node."""
        return _NODE + _RULE * len(self.rules)


def _has_distinct_first_properties(subset: Subset) -> bool:
    return subset.distinct_first_properties


STAGES: tuple[Stage, ...] = (
    Stage((*combinators.RULES, *stray_keywords.RULES, *nulls.RULES)),
    Stage(references.RULES, references.are_isolated),
    Stage(
        (
            *stray_keywords.RULES,
            *values.RULES,
            *arrays.RULES,
            *objects.RULES,
            *unsupported_keywords.RULES,
        )
    ),
    Stage(union_discriminators.ARRANGE, _has_distinct_first_properties),
    Stage(union_discriminators.CHECK, _has_distinct_first_properties),
)
"""Every rule, in order: the structure first, so that what remains has its final form.

Keywords without effect go first: other rules would take them for a part of that form. Each
stage visits all nodes before the next begins. Nodes that are merged must not be encoded
yet, and references lead to nodes that were visited before. First properties are arranged
last, when all are declared.
"""


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
    count = 0
    for stage in STAGES:
        if stage.needed(subset):
            count = _apply(stage, context)
        else:
            # A schema takes as many steps whether or not there is something to do.
            spend(log.budget, stage.steps * count)
    return root


def _apply(stage: Stage, context: TransformContext) -> int:
    """Apply the rules of *stage* to each node once, parents first; return how many there are."""
    rules, steps = stage.rules, stage.steps
    subset, renames = context.subset, bool(context.renamed)
    seen: set[SchemaNode] = set()
    pending = [context.root]
    while pending:
        node = pending.pop()
        if node in seen:
            continue
        spend(context.log.budget, steps)
        seen.add(node)
        following = _next_rule(stage, subset, traits_of(node.keywords), 0, renames=renames)
        while following < len(rules):
            rules[following].apply(node, context)
            # It may have given the node other keywords.
            traits = traits_of(node.keywords)
            following = _next_rule(stage, subset, traits, following + 1, renames=renames)
        pending += node.children()
    return len(seen)


@lru_cache(maxsize=_KEPT)
def _next_rule(
    stage: Stage, subset: Subset, traits: tuple[str, ...], start: int, *, renames: bool
) -> int:
    """Return the index, from *start* on, of the first rule that concerns a node of *traits*.

    It is the number of the rules if there is none.
    """
    known = frozenset(traits)
    for index in range(start, len(stage.rules)):
        rule = stage.rules[index]
        if (renames or not rule.renames) and rule.concerns(known, subset):
            return index
    return len(stage.rules)
