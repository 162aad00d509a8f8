"""Registry in a SQLite file, or in memory alone."""

from collections.abc import Sequence
from pathlib import Path
from threading import Lock
from typing import Literal

from sidecheck_server.registry import Registry
from sidecheck_server.registry.catalogue import Catalogue
from sidecheck_server.registry.database import Database
from sidecheck_server.registry.definitions import Binding, Definition, Deleted, Registered
from sidecheck_server.registry.plan import BindingPlan, plan_registration, plan_removal
from sidecheck_server.registry.quotas import (
    ExceededQuota,
    RegistryQuotas,
    check_growth,
    exceeded_quotas,
)

__all__ = ["open_registry"]

_DEFAULT_QUOTAS = RegistryQuotas()


def open_registry(path: Path | None, quotas: RegistryQuotas = _DEFAULT_QUOTAS) -> Registry:
    """Open the registry in the file *path*, which is created if absent, or one in memory.

    A registry in memory is empty, and lost once it is closed. A file may hold more than
    *quotas*; then it may shrink and change, but not grow.

    Raises:
        RegistryInUse: the file is open already, in this process or another.
        RegistryUnusable: the file is not a registry of this release's format, or
            cannot be read and written, or its folder does not exist; or a definition in
            it is not that of its digest.
    """
    return _SqliteRegistry(path, quotas)


class _SqliteRegistry:
    """Reads from a catalogue, which is replaced after each commit to the database."""

    def __init__(self, path: Path | None, quotas: RegistryQuotas) -> None:
        self._quotas = quotas
        self._database = Database(path)
        try:
            self._catalogue = self._database.read()
        except BaseException:
            self._database.close()
            raise
        # For writers only. Readers use the current catalogue: assigning an attribute is
        # atomic, and a catalogue is immutable.
        self._writing = Lock()

    @property
    def revision(self) -> int:
        return self._catalogue.revision

    @property
    def age_seconds(self) -> float:
        # The file belongs to this process.
        return 0.0

    def find(self, server: str, name: str) -> Binding | None:
        return self._catalogue.find(server, name)

    def bound_to(self, digest: str, servers: frozenset[str] | None = None) -> Binding | None:
        return self._catalogue.bound_to(digest, servers)

    def schema(
        self, digest: str, servers: frozenset[str] | None = None
    ) -> tuple[Definition, Literal["input", "output"]] | None:
        return self._catalogue.schema(digest, servers)

    def page(
        self, server: str | None, after: tuple[str, str] | None, limit: int, max_bytes: int
    ) -> tuple[tuple[Binding, ...], bool]:
        return self._catalogue.page(server, after, limit, max_bytes)

    def preview(
        self, server: str, definitions: Sequence[Definition], *, keep: frozenset[str] | None
    ) -> Registered:
        catalogue = self._catalogue
        plan = plan_registration(catalogue, server, definitions, keep)
        self._next(catalogue, server, plan)
        return Registered(plan.bound, plan.unbind, catalogue.revision)

    def register(
        self, server: str, definitions: Sequence[Definition], *, keep: frozenset[str] | None
    ) -> Registered:
        with self._writing:
            plan = plan_registration(self._catalogue, server, definitions, keep)
            self._execute(server, plan)
            return Registered(plan.bound, plan.unbind, self._catalogue.revision)

    def delete(self, server: str, names: Sequence[str] | None) -> Deleted:
        with self._writing:
            plan = plan_removal(self._catalogue, server, names)
            unknown = set(names or ()).difference(plan.unbind)
            self._execute(server, plan)
            return Deleted(plan.unbind, tuple(sorted(unknown)), self._catalogue.revision)

    def count(self) -> int:
        return self._catalogue.count

    def exceeded_quotas(self) -> tuple[ExceededQuota, ...]:
        return exceeded_quotas(self._catalogue.usages(), self._quotas)

    def close(self) -> None:
        with self._writing:
            self._database.close()

    def _execute(self, server: str, plan: BindingPlan) -> None:
        """Apply *plan*, to the database first."""
        after = self._next(self._catalogue, server, plan)
        if after is self._catalogue:
            return
        added = [after.find(server, name) for name in plan.bind]
        self._database.write(
            after.revision, server, plan.unbind, [binding for binding in added if binding]
        )
        self._catalogue = after

    def _next(self, catalogue: Catalogue, server: str, plan: BindingPlan) -> Catalogue:
        """Return *catalogue* after *plan*, if the quotas admit it."""
        if not plan.changes:
            return catalogue
        after = catalogue.after(server, plan.bind, plan.unbind)
        check_growth(catalogue.usage(server), after.usage(server), self._quotas)
        return after
