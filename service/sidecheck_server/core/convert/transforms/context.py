"""Rules of the transforms, and the context that each is given."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from sidecheck_server.core.convert.providers.subset import Subset
from sidecheck_server.core.convert.schema_graph import SchemaNode
from sidecheck_server.core.convert.transforms.traits import DROPPING_DEFAULTS, RENAMING, Traits
from sidecheck_server.core.convert.types import LossLog

__all__ = [
    "Concern",
    "Rule",
    "TransformContext",
    "has",
    "lacks_support",
]


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
        given = ((RENAMING, self.renamed), (DROPPING_DEFAULTS, self.drop_defaults))
        return frozenset(trait for trait, holds in given if holds)

    def supports(self, keyword: str) -> bool:
        """Return whether the subset has *keyword*."""
        return self.subset.supports(keyword)


Concern: TypeAlias = Callable[[Traits, Subset], bool]
"""Tells whether a rule may change a node of these traits, for a subset."""


@dataclass(frozen=True, slots=True, eq=False)
class Rule:
    """Change of one node in place, so that it conforms to the subset in one respect.

    Rules run in the order of `pipeline.STAGES`, each at most once on every node, parents
    first; nodes that a rule adds below a node are visited afterwards. A rule may widen only,
    except where `Subset.closed` or `Subset.all_required` demand otherwise, and logs what it did.
    """

    apply: Callable[[SchemaNode, TransformContext], None]
    #: Nodes that it does not concern, when its turn comes, are left out.
    concerns: Concern


def has(*traits: str) -> Concern:
    """Return the concern with nodes that have one of *traits*."""
    names = frozenset(traits)
    return lambda present, _subset: not names.isdisjoint(present)


def lacks_support(*keywords: str) -> Concern:
    """Return the concern with nodes that have one of *keywords* that the subset lacks."""
    return lambda traits, subset: any(
        keyword in traits and not subset.supports(keyword) for keyword in keywords
    )
