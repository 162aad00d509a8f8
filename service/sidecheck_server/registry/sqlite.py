"""Registry in a SQLite file, or in memory alone."""

from collections.abc import Sequence
from pathlib import Path
from threading import Lock

from sidecheck_server.registry import NOTHING_EXPECTED, Expected, Registry
from sidecheck_server.registry.database import FORMAT, Database
from sidecheck_server.registry.definitions import Definition, RegistrationResult, RemovalResult
from sidecheck_server.registry.plan import BindingPlan, plan_registration, plan_removal
from sidecheck_server.registry.quotas import RegistryQuotas
from sidecheck_server.registry.reads import CatalogueReads

__all__ = ["open_registry"]

_DEFAULT_QUOTAS = RegistryQuotas()


def open_registry(path: Path | None, quotas: RegistryQuotas = _DEFAULT_QUOTAS) -> Registry:
    """Open the registry in the file *path*, created if absent, or one in memory.

    A registry in memory starts empty, and is lost when it is closed. A file may exceed
    *quotas*; its registry may then shrink and change, but not grow.

    Raises:
        RegistryInUse: the file is open already, in this process or another.
        RegistryUnusable: the file is not a registry of this release's format, or
            cannot be read and written, or its folder does not exist; or a definition in
            it does not match its digest.
    """
    database = Database(path)
    try:
        return _SqliteRegistry(database, quotas)
    except BaseException:
        database.close()
        raise


class _SqliteRegistry(CatalogueReads):
    """Writes to the database first, and then replaces the catalogue that serves reads."""

    def __init__(self, database: Database, quotas: RegistryQuotas) -> None:
        super().__init__(database.read(), quotas)
        self._database = database
        self._write_lock = Lock()

    @property
    def identity(self) -> str:
        """The format of the file."""
        return f"format {FORMAT}"

    def register(
        self,
        server: str,
        definitions: Sequence[Definition],
        *,
        keep: frozenset[str] | None,
        expected: Expected = NOTHING_EXPECTED,
    ) -> RegistrationResult:
        with self._write_lock:
            plan = plan_registration(self._catalogue, server, definitions, keep, expected)
            self._execute(server, plan)
            return RegistrationResult(plan.bound, plan.unbind, self._catalogue.revision)

    def delete(self, server: str, names: Sequence[str] | None) -> RemovalResult:
        with self._write_lock:
            plan = plan_removal(self._catalogue, server, names)
            unknown = set(names or ()).difference(plan.unbind)
            self._execute(server, plan)
            return RemovalResult(plan.unbind, tuple(sorted(unknown)), self._catalogue.revision)

    def close(self) -> None:
        with self._write_lock:
            self._database.close()

    def _execute(self, server: str, plan: BindingPlan) -> None:
        changed = self._change(self._catalogue, server, plan)
        if changed is not None:
            change, after = changed
            self._database.write(change)
            self._publish(after, change)
