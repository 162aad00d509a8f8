"""Context that every rule of a transform is given."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from sidecheck_server.core.convert.providers.subset import Subset
from sidecheck_server.core.convert.schema_graph import SchemaNode
from sidecheck_server.core.convert.types import LossLog

__all__ = ["Rule", "TransformContext"]


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
        return self.subset.keywords is None or keyword in self.subset.keywords


Rule: TypeAlias = Callable[[SchemaNode, TransformContext], None]
"""Changes one node in place so that it conforms to the subset in one respect.

Rules run in the order of `pipeline.PASSES`, each once on every node, parents first; nodes that
a rule adds below a node are visited afterwards. A rule may widen only, except where
`Subset.closed` or `Subset.all_required` demand otherwise, and logs what it did.
"""
