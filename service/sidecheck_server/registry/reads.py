"""Reads of a registry from its catalogue in memory."""

from collections.abc import Callable, Iterable, Sequence
from typing import Literal
from uuid import UUID

from sidecheck_server.core.mcp.tool_definitions import ToolIdentity, identify_tool
from sidecheck_server.registry import NOTHING_EXPECTED
from sidecheck_server.registry.catalogue import Catalogue
from sidecheck_server.registry.definitions import Binding, Change, Definition, RegistrationResult
from sidecheck_server.registry.plan import BindingPlan, plan_registration
from sidecheck_server.registry.quotas import (
    ExceededQuota,
    RegistryQuotas,
    check_growth,
    exceeded_quotas,
)

__all__ = [
    "CatalogueReads",
    "find_altered",
]


def find_altered(bindings: Iterable[Binding]) -> Binding | None:
    """Return a binding whose digests or name do not match its definition.

    Takes about 70 microseconds for each definition of a kilobyte.
    """
    return next(
        (binding for binding in bindings if not _is_genuine(binding.definition)),
        None,
    )


def _is_genuine(definition: Definition) -> bool:
    stored = ToolIdentity(
        definition.name,
        definition.digest,
        definition.input_schema_digest,
        definition.output_schema_digest,
    )
    return stored == identify_tool(definition.json, definition.documents)


class CatalogueReads:
    """The part of a `Registry` that serves reads and notifies observers.

    Readers use the current catalogue without a lock, since assigning an attribute is atomic and
    a catalogue is immutable. Subclasses serialize the writes that replace it.
    """

    def __init__(
        self,
        catalogue: Catalogue,
        quotas: RegistryQuotas,
        history: Iterable[Change] | None = None,
    ) -> None:
        """Serve reads from *catalogue*; *history*, if any, led to it."""
        self._catalogue = catalogue
        self._quotas = quotas
        self._observers: list[Callable[[Change], None]] = []
        #: The history and the later changes, until `take_history` takes them.
        self._history = None if history is None else list(history)

    @property
    def revision(self) -> int:
        """The number of transactions that changed a binding."""
        return self._catalogue.revision

    @property
    def change_id(self) -> UUID:
        """The identity of the change that led to the revision."""
        return self._catalogue.change_id

    @property
    def age_seconds(self) -> float:
        """0, since there are no other writers."""
        return 0.0

    @property
    def reloads(self) -> int:
        """0, since all changes are known."""
        return 0

    def find(self, server: str, name: str) -> Binding | None:
        """Return the binding of *name* in the namespace of *server*, if there is one."""
        return self._catalogue.find(server, name)

    def bound_to(self, digest: str, servers: frozenset[str] | None = None) -> Binding | None:
        """Return the binding of the definition of *digest*, if a name is bound to it."""
        return self._catalogue.bound_to(digest, servers)

    def schema(
        self, digest: str, servers: frozenset[str] | None = None
    ) -> tuple[Definition, Literal["input", "output"]] | None:
        """Return a bound definition with a schema of *digest*, and its side."""
        return self._catalogue.schema(digest, servers)

    def page(
        self, server: str | None, after: tuple[str, str] | None, limit: int, max_bytes: int
    ) -> tuple[tuple[Binding, ...], bool]:
        """Return bindings in the order of server and name, and whether more follow."""
        return self._catalogue.page(server, after, limit, max_bytes)

    def preview(
        self, server: str, definitions: Sequence[Definition], *, keep: frozenset[str] | None
    ) -> RegistrationResult:
        """Return the result that `register` would have, with the current revision."""
        catalogue = self._catalogue
        plan = plan_registration(catalogue, server, definitions, keep, NOTHING_EXPECTED)
        self._change(catalogue, server, plan)
        return RegistrationResult(plan.bound, plan.unbind, catalogue.revision)

    def subscribe(self, observer: Callable[[Change], None]) -> None:
        """Call *observer* with each change from now on, once reads see it."""
        self._observers.append(observer)

    def take_history(self) -> tuple[Change, ...]:
        """Return the known changes in order at the first call, and none afterwards."""
        history, self._history = self._history, None
        return tuple(history or ())

    def count(self) -> int:
        """Return the number of bound names in all namespaces together."""
        return self._catalogue.count

    def exceeded_quotas(self) -> tuple[ExceededQuota, ...]:
        """Return the quotas that are exceeded."""
        return exceeded_quotas(self._catalogue.usages(), self._quotas)

    def _change(
        self, catalogue: Catalogue, server: str, plan: BindingPlan
    ) -> tuple[Change, Catalogue] | None:
        """Return the change by *plan* and the next catalogue; None without a change.

        Raises:
            RequestError: QUOTA_EXCEEDED.
        """
        if not plan.has_changes:
            return None
        revision = catalogue.revision + 1
        bound = (Binding(server, plan.bind[name], revision) for name in sorted(plan.bind))
        change = Change(revision, server, plan.unbind, tuple(bound))
        after = catalogue.with_change(change)
        check_growth(catalogue.usage(server), after.usage(server), self._quotas)
        return change, after

    def _publish(self, after: Catalogue, *changes: Change) -> None:
        """Serve reads from *after*, and notify observers of the *changes* that led to it.

        The caller serializes the calls.
        """
        self._catalogue = after
        for change in changes:
            history = self._history
            # Append before calling the observers, so that code that subscribes and then takes the
            # history misses no change.
            if history is not None:
                history.append(change)
            for observer in self._observers:
                observer(change)
