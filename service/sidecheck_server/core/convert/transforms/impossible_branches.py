"""Removal of the branches of unions that admit no value.

Generators write such branches for optional values: zod-to-json-schema renders ``undefined`` as
``{"not": {}}``.
"""

from collections.abc import Mapping
from typing import Any

from sidecheck_server.core.convert.schema_graph import SchemaNode
from sidecheck_server.core.convert.transforms.value_types import ANNOTATIONS
from sidecheck_server.core.convert.types import Action, Effect, LossLog
from sidecheck_server.core.limits import Budget, spend

__all__ = ["drop_impossible_branches"]

_UNIONS = ("anyOf", "oneOf")
_VISIT = 20
"""Steps per visited node."""


def drop_impossible_branches(root: SchemaNode, log: LossLog) -> None:
    """Drop the branches of unions at *root* and below that admit no value.

    A union keeps its branches if none admits a value. A single branch that is left replaces a
    union that has only annotations beside it.

    Raises:
        Exhausted: the budget of *log* is spent.
    """
    check = _ImpossibilityCheck(log.budget)
    seen: set[SchemaNode] = set()
    pending = [root]
    while pending:
        node = pending.pop()
        if node in seen:
            continue
        seen.add(node)
        spend(log.budget, _VISIT)
        for keyword in _UNIONS:
            branches = node.keywords.get(keyword, ())
            possible = [branch for branch in branches if not check.holds(branch)]
            if possible and len(possible) < len(branches):
                node.keywords[keyword] = possible
                _inline_single(node, keyword)
                message = "branches that admit no value are left out"
                log.add(node, keyword, Action.REWRITTEN, Effect.EQUIVALENT, message)
        pending += node.children()


def _inline_single(node: SchemaNode, union: str) -> None:
    if len(node.keywords[union]) > 1:
        return
    [branch] = node.keywords[union]
    siblings = {name: value for name, value in node.keywords.items() if name != union}
    # Other keywords of the branch would have another meaning beside siblings that assert.
    if siblings.keys() <= ANNOTATIONS and siblings.keys().isdisjoint(branch.keywords):
        node.keywords = {**siblings, **branch.keywords}


class _ImpossibilityCheck:
    """Check whether nodes admit no value; True is certain, False is not."""

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        self._known: dict[SchemaNode, bool] = {}

    def holds(self, node: SchemaNode) -> bool:
        """Return whether *node* certainly admits no value."""
        known = self._known.get(node)
        if known is None:
            spend(self._budget, _VISIT)
            # While a cycle leads back to the node, nothing is certain.
            self._known[node] = False
            known = self._known[node] = node.never or self._contradicts(node.keywords)
        return known

    def _contradicts(self, keywords: Mapping[str, Any]) -> bool:
        negated: SchemaNode | None = keywords.get("not")
        if negated is not None and not negated.never and negated.keywords.keys() <= ANNOTATIONS:
            return True
        if keywords.get("enum") == []:
            return True
        conjuncts = [*keywords.get("allOf", ())]
        if "$ref" in keywords:
            conjuncts.append(keywords["$ref"])
        unions = [keywords[union] for union in _UNIONS if keywords.get(union)]
        return any(map(self.holds, conjuncts)) or any(
            all(map(self.holds, branches)) for branches in unions
        )
