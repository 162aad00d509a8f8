"""What every rule of fitting is given."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from sidecheck_server.core.convert.apis.api import Subset
from sidecheck_server.core.convert.part import Part
from sidecheck_server.core.convert.record import Record

__all__ = ["Fitting", "Rule"]


@dataclass(frozen=True, slots=True)
class Fitting:
    """One schema on its way into a subset."""

    root: Part
    subset: Subset
    #: The names of members in the API by their names in the original, where they differ.
    members: Mapping[str, str]
    record: Record

    def takes(self, keyword: str) -> bool:
        """Return whether the subset has *keyword*."""
        return self.subset.keywords is None or keyword in self.subset.keywords


Rule: TypeAlias = Callable[[Part, Fitting], None]
"""Changes one part in place so that it keeps to the subset in one respect.

Rules run in the order of `fit.RULES`, each once on every part, parents first. What a rule
makes anew below a part is fitted afterwards. A rule may only widen, unless it is one that
`Subset.closed` or `Subset.all_required` asks for; it tells what it did.
"""
