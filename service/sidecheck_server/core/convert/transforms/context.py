"""Rules of the transforms, and the context that each is given."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from sidecheck_server.core.convert.providers.subset import Subset
from sidecheck_server.core.convert.schema_graph import SchemaNode
from sidecheck_server.core.convert.types import LossLog

__all__ = [
    "ARRAY",
    "OBJECT",
    "SEVERAL_TYPES",
    "TYPE_TRAITS",
    "Concern",
    "Rule",
    "TransformContext",
    "always",
    "has",
    "traits_of",
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

    def supports(self, keyword: str) -> bool:
        """Return whether the subset has *keyword*."""
        return self.subset.supports(keyword)


Concern: TypeAlias = Callable[[frozenset[str], Subset], bool]
"""Tells whether a rule may change a node of these traits, for a subset.

Traits are the keywords of a node, and one of `ARRAY`, `OBJECT` and `SEVERAL_TYPES` if that is
what its ``type`` states.
"""

ARRAY = "type: array"
OBJECT = "type: object"
SEVERAL_TYPES = "type: several"
TYPE_TRAITS = frozenset({ARRAY, OBJECT, SEVERAL_TYPES})
_TRAITS: Mapping[Any, str] = {"array": ARRAY, "object": OBJECT}


def traits_of(keywords: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the traits of a node that has these *keywords*."""
    stated = keywords.get("type")
    trait = SEVERAL_TYPES if isinstance(stated, list) else _TRAITS.get(stated)
    return tuple(keywords) if trait is None else (*keywords, trait)


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
    #: Whether it changes a node only where properties are renamed.
    renames: bool = False


def always(_traits: frozenset[str], _subset: Subset) -> bool:
    """Return True: a rule of this concern may change any node."""
    return True


def has(*traits: str) -> Concern:
    """Return the concern with nodes that have one of *traits*."""
    names = frozenset(traits)
    return lambda present, _subset: not names.isdisjoint(present)
