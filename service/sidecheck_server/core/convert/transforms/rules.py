"""Rules of the transforms, their context, and their choice by traits of a node."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias

from sidecheck_server.core.convert.providers.subset import Subset
from sidecheck_server.core.convert.schema_graph import SchemaNode
from sidecheck_server.core.convert.types import LossLog

__all__ = [
    "ARRAY",
    "DROPPING_DEFAULTS",
    "NO_KEYWORDS",
    "OBJECT",
    "RENAMING",
    "SEVERAL_TYPES",
    "TYPE_TRAITS",
    "Choice",
    "Kind",
    "Rule",
    "Stage",
    "Traits",
    "TransformContext",
    "Visit",
    "choice_for",
    "has",
    "kind_of",
    "lacks_support",
]

Traits: TypeAlias = frozenset[str]
"""Traits of a node, which determine the rules that apply to it.

They are its keywords, the trait of its ``type``, and the traits of the whole transformation.
"""

TYPE_TRAITS: Mapping[str, str] = MappingProxyType(
    {
        name: f"type: {name}"
        for name in ("array", "boolean", "integer", "null", "number", "object", "string")
    }
)
"""The trait of a node whose ``type`` is one type, by its name."""
ARRAY, OBJECT = TYPE_TRAITS["array"], TYPE_TRAITS["object"]
SEVERAL_TYPES = "type: several"
"""The trait of a node whose ``type`` is a list."""
RENAMING, DROPPING_DEFAULTS = "renaming", "dropping defaults"
"""Traits of all nodes in a transformation that renames properties or drops defaults."""
NO_KEYWORDS = frozenset({*TYPE_TRAITS.values(), SEVERAL_TYPES, RENAMING, DROPPING_DEFAULTS})
"""Traits that are not keywords."""


Kind: TypeAlias = tuple[str, ...]
"""Traits of a node in the order of its keywords, without traits of the transformation."""


def kind_of(keywords: Mapping[str, Any]) -> Kind:
    """Return the kind of a node that has these *keywords*."""
    if "type" not in keywords:
        return tuple(keywords)
    type_value = keywords["type"]
    trait = SEVERAL_TYPES if isinstance(type_value, list) else TYPE_TRAITS[type_value]
    return (*keywords, trait)


class Visit(NamedTuple):
    """Result of a visit of all nodes: their number, and their kinds afterwards."""

    nodes: int
    kinds: set[Kind]


@dataclass(frozen=True, slots=True)
class TransformContext:
    """Transformation of one schema to a subset."""

    root: SchemaNode
    subset: Subset
    #: Names of properties at the provider, by their original names, where they differ.
    renamed: Mapping[str, str]
    log: LossLog
    #: Whether defaults are dropped although the subset may have them.
    drop_defaults: bool = False

    @property
    def traits(self) -> Traits:
        """The traits that all nodes have in this transformation."""
        flags = ((RENAMING, self.renamed), (DROPPING_DEFAULTS, self.drop_defaults))
        return frozenset(trait for trait, is_set in flags if is_set)

    def supports(self, keyword: str) -> bool:
        """Return whether the subset has *keyword*."""
        return self.subset.supports(keyword)


_Concern: TypeAlias = Callable[[Traits, Subset], bool]
"""Predicate: whether a rule may change a node with these traits, for a subset."""


@dataclass(frozen=True, slots=True, eq=False)
class Rule:
    """Change of one node in place, so that it conforms to the subset in one respect.

    Rules run in the order of `pipeline.STAGES`, each at most once on every node, parents
    first; nodes that a rule adds below a node are visited afterwards. A rule logs its changes. It
    may widen a schema, and narrows it only for `Subset.closed` or `Subset.all_required`.
    """

    # Decision 0032: a widened schema only lets a call through to the original schema.

    apply: Callable[[SchemaNode, TransformContext], None]
    #: Predicate that selects the nodes to which the rule applies.
    concerns: _Concern


def has(*traits: str) -> _Concern:
    """Return the predicate for nodes that have one of *traits*."""
    names = frozenset(traits)
    return lambda present, _subset: not names.isdisjoint(present)


def lacks_support(*keywords: str) -> _Concern:
    """Return the predicate for nodes with one of *keywords* that the subset lacks."""
    return lambda traits, subset: any(
        keyword in traits and not subset.supports(keyword) for keyword in keywords
    )


_NODE = 30
_RULE = 10
"""Steps per node in a stage, and per node and rule of the stage."""

_MAX_TRAITS = 16
"""Maximum traits of a cached kind: larger kinds are rare, and would let clients fill memory."""
_KINDS = 256
"""Maximum number of kinds in a cache; schemas have few kinds."""
_CHOICES = 32
"""Maximum number of cached choices."""


@dataclass(frozen=True, slots=True, eq=False)
class Stage:
    """Rules that are applied in one visit of all nodes."""

    rules: tuple[Rule, ...]

    @property
    def steps(self) -> int:
        """Steps of one node."""
        return _NODE + _RULE * len(self.rules)


class Choice:
    """Choice of the rules of stages that apply to a node, for one subset.

    *common* are the traits of all nodes.
    """

    def __init__(self, stages: tuple[Stage, ...], subset: Subset, common: Traits) -> None:
        self._stages = stages
        self._subset = subset
        self._common = common
        self._cached_rule = lru_cache(maxsize=_KINDS * len(stages))(self._find_rule)
        self._cached_stages = lru_cache(maxsize=_KINDS)(self._find_stages)

    def stages(self, kinds: Iterable[Kind]) -> set[int]:
        """Return the numbers of the stages that have a rule for nodes of any of *kinds*."""
        concerned: set[int] = set()
        for kind in kinds:
            is_cacheable = len(kind) <= _MAX_TRAITS
            concerned |= self._cached_stages(kind) if is_cacheable else self._find_stages(kind)
        return concerned

    def rule(self, stage: int, kind: Kind, start: int) -> int | None:
        """Return the index of the first rule from *start* on for nodes of *kind*."""
        if len(kind) <= _MAX_TRAITS:
            return self._cached_rule(stage, kind, start)
        return self._find_rule(stage, kind, start)

    def _find_stages(self, kind: Kind) -> frozenset[int]:
        numbers = range(len(self._stages))
        return frozenset(
            number for number in numbers if self._find_rule(number, kind, 0) is not None
        )

    def _find_rule(self, stage: int, kind: Kind, start: int) -> int | None:
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
