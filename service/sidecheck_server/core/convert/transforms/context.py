"""Rules of the transforms, and the context that each is given."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, TypeAlias

from sidecheck_server.core.convert.providers.subset import Subset
from sidecheck_server.core.convert.schema_graph import SchemaNode
from sidecheck_server.core.convert.types import LossLog

__all__ = [
    "ARRAY",
    "OBJECT",
    "SEVERAL_TYPES",
    "STATED_TYPES",
    "TYPE_TRAITS",
    "Concern",
    "Rule",
    "Traits",
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


Traits: TypeAlias = frozenset[str]
"""What the rules that concern a node depend on: its keywords, and a trait for its ``type``."""

Concern: TypeAlias = Callable[[Traits, Subset], bool]
"""Tells whether a rule may change a node of these traits, for a subset."""

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
STATED_TYPES = frozenset({*TYPE_TRAITS.values(), SEVERAL_TYPES})
"""The traits that are no keywords."""


def traits_of(keywords: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the traits of a node that has these *keywords*."""
    if "type" not in keywords:
        return tuple(keywords)
    stated = keywords["type"]
    trait = SEVERAL_TYPES if isinstance(stated, list) else TYPE_TRAITS[stated]
    return (*keywords, trait)


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


def always(_traits: Traits, _subset: Subset) -> bool:
    """Return True: a rule of this concern may change any node."""
    return True


def has(*traits: str) -> Concern:
    """Return the concern with nodes that have one of *traits*."""
    names = frozenset(traits)
    return lambda present, _subset: not names.isdisjoint(present)
