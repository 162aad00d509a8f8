"""Plans of transactions: how a registration or a removal changes a namespace."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from sidecheck_server.registry.definitions import Action, Binding, Bound, Definition

__all__ = ["BindingPlan", "plan_registration", "plan_removal"]


@dataclass(frozen=True, slots=True)
class BindingPlan:
    """The bindings that a transaction adds and removes."""

    #: The result for each definition of a registration, in order.
    bound: tuple[Bound, ...] = ()
    #: The definitions that names are bound to, by name, for names that change.
    bind: Mapping[str, Definition] = field(default_factory=dict)
    #: The bound names that are removed, sorted.
    unbind: tuple[str, ...] = ()

    @property
    def changes(self) -> bool:
        """Whether any binding changes, so that the revision is incremented."""
        return bool(self.bind or self.unbind)


def plan_registration(
    bindings: Mapping[str, Binding],
    definitions: Sequence[Definition],
    keep: frozenset[str] | None,
) -> BindingPlan:
    """Plan the registration of *definitions* in a namespace that has *bindings*."""
    bind: dict[str, Definition] = {}
    bound = []
    for definition in definitions:
        previous = bind.get(definition.name) or _bound_to(bindings, definition.name)
        if (
            previous is not None
            and previous.digest == definition.digest
            and previous.protocol_version == definition.protocol_version
        ):
            bound.append(Bound(Action.UNCHANGED, previous.digest))
            continue
        bind[definition.name] = definition
        if previous is None:
            bound.append(Bound(Action.CREATED, None))
        else:
            bound.append(Bound(Action.CHANGED, previous.digest))
    if keep is None:
        return BindingPlan(tuple(bound), bind)
    named = {definition.name for definition in definitions}
    absent = (name for name in bindings if name not in named and name not in keep)
    return BindingPlan(tuple(bound), bind, tuple(sorted(absent)))


def plan_removal(bindings: Mapping[str, Binding], names: Iterable[str] | None) -> BindingPlan:
    """Plan the removal of *names*, or of all if None, from a namespace that has *bindings*."""
    removed = bindings if names is None else {name for name in names if name in bindings}
    return BindingPlan(unbind=tuple(sorted(removed)))


def _bound_to(bindings: Mapping[str, Binding], name: str) -> Definition | None:
    binding = bindings.get(name)
    return None if binding is None else binding.definition
