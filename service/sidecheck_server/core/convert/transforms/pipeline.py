"""Order of the transforms."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

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
from sidecheck_server.core.convert.transforms.traits import Traits, Visit, traits_of
from sidecheck_server.core.convert.types import LossLog
from sidecheck_server.core.limits import spend

__all__ = ["STAGES", "transform_schema"]

_CHOOSERS = 64
"""More than there are stages, and subsets of providers."""
_CHOICES = 1024
"""Choices that are kept for each; schemas have few combinations of keywords."""

_NODE = 30
_RULE = 10
"""Steps of one node in one stage, and of each rule of that stage."""


@dataclass(frozen=True, slots=True, eq=False)
class Stage:
    """Rules that are applied in one visit of all nodes."""

    rules: tuple[Rule, ...]

    @property
    def steps(self) -> int:
        """Steps of one node."""
        return _NODE + _RULE * len(self.rules)


STAGES: tuple[Stage, ...] = (
    Stage((*combinators.RULES, *stray_keywords.RULES, *nulls.RULES)),
    Stage(references.RULES),
    Stage(
        (
            *stray_keywords.RULES,
            *values.RULES,
            *arrays.RULES,
            *objects.RULES,
            *unsupported_keywords.RULES,
        )
    ),
    Stage(union_discriminators.ARRANGE),
    Stage(union_discriminators.CHECK),
)
"""Every rule, in order: the structure first, so that what remains has its final form.

Keywords without effect go first: other rules would take them for a part of that form. Each
stage visits all nodes before the next begins. Nodes that are merged must not be encoded
yet, and references lead to nodes that were visited before. First properties are arranged
last, when all are declared.
"""


_Choose: TypeAlias = Callable[[tuple[str, ...], int], int | None]
"""Returns the index, from a given one on, of the first rule that concerns nodes of some traits.

It returns None if there is none.
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
    visit = stray_keywords.drop_stray_keywords(root, log.budget)
    original, traits, losses = root, traits_of(root.keywords), len(log.losses)
    if subset.references is References.NOWHERE:
        root = references.inline_references(root, log)
    elif not subset.recursion:
        references.cut_cycles(root, log)
    root = transform_root(root, subset, log)
    if root is not original or traits_of(root.keywords) != traits or len(log.losses) > losses:
        visit = None
    context = TransformContext(root, subset, renamed, log, drop_defaults)
    common = context.traits
    concerned = STAGES if visit is None else _concerned_stages(visit.kinds, subset, common)
    for stage in STAGES:
        if visit is None or stage in concerned:
            visit = _visit(stage, _chooser(stage, subset, common), context)
            concerned = _concerned_stages(visit.kinds, subset, common)
        else:
            # A schema takes as many steps whether or not there is something to do.
            spend(log.budget, stage.steps * visit.nodes)
    return root


@lru_cache(maxsize=_CHOICES)
def _concerned_stages(
    kinds: frozenset[tuple[str, ...]], subset: Subset, common: Traits
) -> tuple[Stage, ...]:
    """Return the stages that have a rule for nodes of one of *kinds*."""
    return tuple(
        stage
        for stage in STAGES
        if any(_chooser(stage, subset, common)(kind, 0) is not None for kind in kinds)
    )


def _visit(stage: Stage, choose: _Choose, context: TransformContext) -> Visit:
    """Apply the rules of *stage* to each node once, parents first."""
    steps, budget = stage.steps, context.log.budget
    seen: set[SchemaNode] = set()
    kinds: set[tuple[str, ...]] = set()
    pending = [context.root]
    while pending:
        node = pending.pop()
        if node in seen:
            continue
        spend(budget, steps)
        seen.add(node)
        traits = traits_of(node.keywords)
        chosen = choose(traits, 0)
        while chosen is not None:
            stage.rules[chosen].apply(node, context)
            # It may have given the node other traits.
            traits = traits_of(node.keywords)
            chosen = choose(traits, chosen + 1)
        kinds.add(traits)
        pending += node.children()
    return Visit(len(seen), frozenset(kinds))


@lru_cache(maxsize=_CHOOSERS)
def _chooser(stage: Stage, subset: Subset, common: Traits) -> _Choose:
    """Return what chooses among the rules of *stage*.

    It returns the index, from a given one on, of the first rule that concerns nodes of the
    given traits and those that are *common* to all nodes, or None.
    """

    @lru_cache(maxsize=_CHOICES)
    def choose(traits: tuple[str, ...], start: int) -> int | None:
        known = common.union(traits)
        for index in range(start, len(stage.rules)):
            if stage.rules[index].concerns(known, subset):
                return index
        return None

    return choose
