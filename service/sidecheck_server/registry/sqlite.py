"""The registry that is kept in a SQLite file, or in memory alone."""

from collections.abc import Sequence
from pathlib import Path
from threading import Lock
from typing import Literal

from sidecheck_server.registry import Registry
from sidecheck_server.registry.database import Database
from sidecheck_server.registry.definitions import Binding, Definition, Deleted, Registered
from sidecheck_server.registry.plan import BindingPlan, plan_registration, plan_removal

__all__ = ["open_registry"]


def open_registry(path: Path | None) -> Registry:
    """Open the registry kept at *path*, which is created if absent, or one in memory.

    A registry in memory is empty, and gone once it is closed.

    Raises:
        RegistryInUse: the file is open already, in this process or another.
        RegistryUnusable: the file is not a registry of this release's format, or
            cannot be read and written, or its folder does not exist.
    """
    return _SqliteRegistry(path)


class _SqliteRegistry:
    """Answers from a catalogue that is replaced after each commit to the database."""

    def __init__(self, path: Path | None) -> None:
        self._database = Database(path)
        try:
            self._catalogue = self._database.read()
        except BaseException:
            self._database.close()
            raise
        # Held by writers only. Readers take the catalogue there is: binding an
        # attribute is atomic, and a catalogue never changes.
        self._writing = Lock()

    @property
    def revision(self) -> int:
        return self._catalogue.revision

    def find(self, server: str, name: str) -> Binding | None:
        return self._catalogue.find(server, name)

    def bound_to(self, digest: str) -> Binding | None:
        return self._catalogue.definitions.get(digest)

    def schema(self, digest: str) -> tuple[Definition, Literal["input", "output"]] | None:
        return self._catalogue.schema(digest)

    def page(
        self, server: str | None, after: tuple[str, str] | None, limit: int, max_bytes: int
    ) -> tuple[tuple[Binding, ...], bool]:
        return self._catalogue.page(server, after, limit, max_bytes)

    def preview(
        self, server: str, definitions: Sequence[Definition], *, keep: frozenset[str] | None
    ) -> Registered:
        catalogue = self._catalogue
        plan = plan_registration(catalogue.bindings(server), definitions, keep)
        return Registered(plan.bound, plan.unbind, catalogue.revision)

    def register(
        self, server: str, definitions: Sequence[Definition], *, keep: frozenset[str] | None
    ) -> Registered:
        with self._writing:
            plan = plan_registration(self._catalogue.bindings(server), definitions, keep)
            self._carry_out(server, plan)
            return Registered(plan.bound, plan.unbind, self._catalogue.revision)

    def delete(self, server: str, names: Sequence[str] | None) -> Deleted:
        with self._writing:
            plan = plan_removal(self._catalogue.bindings(server), names)
            unknown = set(names or ()).difference(plan.unbind)
            self._carry_out(server, plan)
            return Deleted(plan.unbind, tuple(sorted(unknown)), self._catalogue.revision)

    def count(self) -> int:
        return self._catalogue.count

    def close(self) -> None:
        with self._writing:
            self._database.close()

    def _carry_out(self, server: str, plan: BindingPlan) -> None:
        """Make the changes of *plan*, in the database first."""
        if not plan.changes:
            return
        after = self._catalogue.after(server, plan.bind, plan.unbind)
        bindings = after.bindings(server)
        made = [bindings[name] for name in plan.bind]
        self._database.write(after.revision, server, plan.unbind, made)
        self._catalogue = after
