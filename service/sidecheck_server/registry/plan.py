"""Plans of transactions: how a registration or a removal changes a namespace."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from sidecheck_server.registry import BindingsChanged, Expected
from sidecheck_server.registry.catalogue import Catalogue
from sidecheck_server.registry.definitions import Action, BindingResult, Definition

__all__ = ["BindingPlan", "plan_registration", "plan_removal"]


@dataclass(frozen=True, slots=True)
class BindingPlan:
    """The bindings that a transaction adds and removes."""

    #: The result for each definition of a registration, in order.
    bound: tuple[BindingResult, ...] = ()
    #: The new definitions of the names that change, by name.
    bind: Mapping[str, Definition] = field(default_factory=dict)
    #: The names to remove, sorted.
    unbind: tuple[str, ...] = ()

    @property
    def has_changes(self) -> bool:
        """Whether any binding changes, so that the revision is incremented."""
        return bool(self.bind or self.unbind)


def plan_registration(
    catalogue: Catalogue,
    server: str,
    definitions: Sequence[Definition],
    keep: frozenset[str] | None,
    expected: Expected,
) -> BindingPlan:
    """Plan the registration of *definitions* in the namespace of *server*.

    Raises:
        BindingsChanged: names are not bound as *expected*.
    """
    for name, digest in expected.items():
        binding = catalogue.find(server, name)
        if digest != (None if binding is None else binding.definition.digest):
            raise BindingsChanged
    bind: dict[str, Definition] = {}
    bound = []
    for definition in definitions:
        previous = bind.get(definition.name) or _find_definition(catalogue, server, definition.name)
        if (
            previous is not None
            and previous.digest == definition.digest
            and previous.protocol_version == definition.protocol_version
        ):
            bound.append(BindingResult(Action.UNCHANGED, previous.digest))
            continue
        bind[definition.name] = definition
        if previous is None:
            bound.append(BindingResult(Action.CREATED, None))
        else:
            bound.append(BindingResult(Action.CHANGED, previous.digest))
    if keep is None:
        return BindingPlan(tuple(bound), bind)
    kept = keep.union(definition.name for definition in definitions)
    absent = tuple(name for name in catalogue.names(server) if name not in kept)
    return BindingPlan(tuple(bound), bind, absent)


def plan_removal(catalogue: Catalogue, server: str, names: Iterable[str] | None) -> BindingPlan:
    """Plan the removal of *names*, or of all if None, from the namespace of *server*."""
    if names is None:
        return BindingPlan(unbind=tuple(catalogue.names(server)))
    bound = {name for name in names if catalogue.find(server, name) is not None}
    return BindingPlan(unbind=tuple(sorted(bound)))


def _find_definition(catalogue: Catalogue, server: str, name: str) -> Definition | None:
    binding = catalogue.find(server, name)
    return None if binding is None else binding.definition
