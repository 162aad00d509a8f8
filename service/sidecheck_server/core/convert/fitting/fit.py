"""The order of fitting."""

from collections.abc import Mapping

from sidecheck_server.core.budget import spend
from sidecheck_server.core.convert.apis.api import References, Subset
from sidecheck_server.core.convert.fitting import (
    arrays,
    combinators,
    first_members,
    leftovers,
    nothing,
    nullable,
    objects,
    references,
    values,
)
from sidecheck_server.core.convert.fitting.fitting import Fitting, Rule
from sidecheck_server.core.convert.fitting.roots import at_root
from sidecheck_server.core.convert.part import Part
from sidecheck_server.core.convert.record import Record

__all__ = ["PASSES", "fit"]

PASSES: tuple[tuple[Rule, ...], ...] = (
    (*combinators.RULES, *nullable.RULES),
    references.RULES,
    (*values.RULES, *arrays.RULES, *objects.RULES, *nothing.RULES, *leftovers.RULES),
    first_members.ARRANGING,
    first_members.CHECKING,
)
"""Every rule, in order: the structure first, so that what is left has its final form.

Each pass goes over all parts before the next begins. What is merged must not have been
encoded yet, and references lead to parts that were seen before. First members are
arranged last, when all are declared.
"""

# In steps: one part in one pass, and one rule of that.
_PART = 30
_RULE = 10


def fit(root: Part, subset: Subset, members: Mapping[str, str], record: Record) -> Part:
    """Return *root* in the schema language of *subset*; *members* are renamed.

    Raises:
        Exhausted: the budget of *record* is spent.
        Refusal: NOT_CONVERTIBLE.
    """
    if subset.references is References.NOWHERE:
        root = references.written_out(root, record)
    elif not subset.recursion:
        references.without_cycles(root, record)
    root = at_root(root, subset, record)
    fitting = Fitting(root, subset, members, record)
    for rules in PASSES:
        _apply(rules, fitting)
    return root


def _apply(rules: tuple[Rule, ...], fitting: Fitting) -> None:
    """Apply *rules* to each part once, parents first."""
    seen: set[int] = set()
    pending = [fitting.root]
    # Parts are kept alive by the list, so that no two have one id.
    kept: list[Part] = []
    while pending:
        part = pending.pop()
        if id(part) in seen:
            continue
        spend(fitting.record.budget, _PART + _RULE * len(rules))
        seen.add(id(part))
        kept.append(part)
        for rule in rules:
            rule(part, fitting)
        pending += part.parts()
