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
    unsupported_keywords,
    values,
)
from sidecheck_server.core.convert.transforms.impossible_branches import (
    drop_impossible_branches,
)
from sidecheck_server.core.convert.transforms.root import transform_root
from sidecheck_server.core.convert.transforms.rules import (
    Choice,
    Kind,
    Stage,
    TransformContext,
    Visit,
    choice_for,
    kind_of,
)
from sidecheck_server.core.convert.types import LossLog
from sidecheck_server.core.limits import spend

__all__ = ["STAGES", "transform_schema"]

STAGES: tuple[Stage, ...] = (
    Stage((*combinators.RULES, *unsupported_keywords.STRAY_RULES, *nulls.RULES)),
    Stage(references.RULES),
    Stage(
        (
            *unsupported_keywords.STRAY_RULES,
            *values.RULES,
            *arrays.RULES,
            *objects.RULES,
            *unsupported_keywords.RULES,
        )
    ),
    Stage((*nulls.DISTRIBUTE_NULL, *combinators.ARRANGE_DISCRIMINATORS)),
    Stage(combinators.CHECK_DISCRIMINATORS),
)
"""All rules, in order: the structure first, so that later rules see its final form.

Stray keywords are dropped before all else, since other rules would take them for a part of
the structure. Each stage visits all nodes before the next begins. Rules that merge nodes have
earlier stages than rules that encode: encoded nodes cannot be merged, and a reference may lead
to a node that was visited before. Null joins the branches of unions when all have types, and
first properties are arranged last, when all properties are declared.
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

    With *drop_defaults*, the result neither has nor describes a ``default``.

    Raises:
        RequestError: NOT_CONVERTIBLE.
        Exhausted: the budget of *log* is spent.
    """
    drop_impossible_branches(root, log)
    visit = unsupported_keywords.drop_stray_keywords(root, log.budget)
    original, kind, losses = root, kind_of(root.keywords), len(log.losses)
    if subset.references is References.NOWHERE:
        root = references.inline_references(root, log)
    elif not subset.recursion:
        references.cut_cycles(root, log)
    root = transform_root(root, subset, log)
    if root is not original or kind_of(root.keywords) != kind or len(log.losses) > losses:
        visit = None
    context = TransformContext(root, subset, renamed, log, drop_defaults)
    choice = choice_for(STAGES, subset, context.traits)
    affected_stages = choice.stages(visit.kinds if visit else ())
    for number, stage in enumerate(STAGES):
        if visit is None or number in affected_stages:
            visit = _visit(number, choice, context)
            affected_stages = choice.stages(visit.kinds)
        else:
            # A skipped stage is charged as well: the steps must not depend on the choice of rules.
            spend(log.budget, stage.steps * visit.nodes)
    return root


def _visit(number: int, choice: Choice, context: TransformContext) -> Visit:
    """Apply the rules of a stage to each node once, parents first."""
    rules, steps, budget = STAGES[number].rules, STAGES[number].steps, context.log.budget
    seen: set[SchemaNode] = set()
    kinds: set[Kind] = set()
    pending = [context.root]
    while pending:
        node = pending.pop()
        if node in seen:
            continue
        spend(budget, steps)
        seen.add(node)
        kind = kind_of(node.keywords)
        rule = choice.rule(number, kind, 0)
        while rule is not None:
            rules[rule].apply(node, context)
            # The rule may have changed the kind of the node.
            kind = kind_of(node.keywords)
            rule = choice.rule(number, kind, rule + 1)
        kinds.add(kind)
        pending += node.children()
    return Visit(len(seen), kinds)
