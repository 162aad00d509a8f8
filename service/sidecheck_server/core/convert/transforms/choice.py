"""Choice of the rules that concern a node, by its traits alone."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from sidecheck_server.core.convert.providers.subset import Subset
from sidecheck_server.core.convert.transforms.context import Rule
from sidecheck_server.core.convert.transforms.traits import Kind, Traits

__all__ = ["Choice", "Stage", "choice_for"]

_NODE = 30
_RULE = 10
"""Steps of one node in one stage, and of each rule of that stage."""

_MOST_TRAITS = 16
"""Kinds of more traits are rare, and nothing is kept for them: anybody may send many such."""
_KINDS = 256
"""Kinds that are kept with what concerns them; schemas have few."""
_CHOICES = 32


@dataclass(frozen=True, slots=True, eq=False)
class Stage:
    """Rules that are applied in one visit of all nodes."""

    rules: tuple[Rule, ...]

    @property
    def steps(self) -> int:
        """Steps of one node."""
        return _NODE + _RULE * len(self.rules)


class Choice:
    """Choice among the rules of some stages, for one subset.

    *common* are the traits of all nodes.
    """

    def __init__(self, stages: tuple[Stage, ...], subset: Subset, common: Traits) -> None:
        self._stages = stages
        self._subset = subset
        self._common = common
        self._kept_rule = lru_cache(maxsize=_KINDS * len(stages))(self._rule)
        self._kept_stages = lru_cache(maxsize=_KINDS)(self._concerned)

    def stages(self, kinds: Iterable[Kind]) -> set[int]:
        """Return the numbers of the stages that have a rule for nodes of any of *kinds*."""
        concerned: set[int] = set()
        for kind in kinds:
            few = len(kind) <= _MOST_TRAITS
            concerned |= self._kept_stages(kind) if few else self._concerned(kind)
        return concerned

    def rule(self, stage: int, kind: Kind, start: int) -> int | None:
        """Return the index of the first rule, from *start* on, that concerns nodes of *kind*."""
        if len(kind) <= _MOST_TRAITS:
            return self._kept_rule(stage, kind, start)
        return self._rule(stage, kind, start)

    def _concerned(self, kind: Kind) -> frozenset[int]:
        numbers = range(len(self._stages))
        return frozenset(number for number in numbers if self._rule(number, kind, 0) is not None)

    def _rule(self, stage: int, kind: Kind, start: int) -> int | None:
        traits = self._common.union(kind)
        rules = self._stages[stage].rules
        for index in range(start, len(rules)):
            if rules[index].concerns(traits, self._subset):
                return index
        return None


@lru_cache(maxsize=_CHOICES)
def choice_for(stages: tuple[Stage, ...], subset: Subset, common: Traits) -> Choice:
    """Return the choice among *stages* for *subset*."""
    return Choice(stages, subset, common)
