"""A registry in a PostgreSQL database: its writes, and what it does about those of others."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from threading import Lock
from typing import Final

import psycopg

from sidecheck_server.registry import NOTHING_EXPECTED, Expected, RegistryUnusable
from sidecheck_server.registry.catalogue import Catalogue
from sidecheck_server.registry.definitions import Binding, Change, Definition, Deleted, Registered
from sidecheck_server.registry.location import PostgresLocation
from sidecheck_server.registry.plan import BindingPlan, plan_registration, plan_removal
from sidecheck_server.registry.postgres.connection import (
    ANSWER_SECONDS,
    Connection,
    close,
    connect,
    own_exceptions,
)
from sidecheck_server.registry.postgres.fencing import Fence
from sidecheck_server.registry.postgres.follower import Follower
from sidecheck_server.registry.postgres.statements import (
    compact,
    read_steps,
    reading,
    write_step,
)
from sidecheck_server.registry.postgres.steps import (
    Head,
    RegistryReloaded,
    ReportEvent,
    Step,
    TermUnreadable,
    leads_on,
)
from sidecheck_server.registry.postgres.verified_reads import (
    check_definitions,
    read_checked_head,
    read_checked_snapshot,
)
from sidecheck_server.registry.postgres.write_connection import WriteConnection
from sidecheck_server.registry.quotas import RegistryQuotas
from sidecheck_server.registry.reads import CatalogueReads

__all__ = [
    "PostgresRegistry",
    "differences",
]


def differences(before: Catalogue, after: Catalogue) -> list[Change]:
    """Return changes that lead from *before* to *after*, one for each server that differs.

    There is at least one, which has the revision. Takes time proportional to both.
    """
    unbound: dict[str, list[str]] = {}
    bound: dict[str, list[Binding]] = {}
    for _, binding in before.bindings.starting_at(()):
        if after.find(binding.server, binding.name) is None:
            unbound.setdefault(binding.server, []).append(binding.name)
    for _, binding in after.bindings.starting_at(()):
        if before.find(binding.server, binding.name) != binding:
            bound.setdefault(binding.server, []).append(binding)
    servers = sorted(unbound.keys() | bound.keys()) or [""]
    return [
        Change(
            after.revision,
            server,
            tuple(unbound.get(server, ())),
            tuple(bound.get(server, ())),
            is_reload=True,
            is_continued=server != servers[-1],
            id=after.change_id,
        )
        for server in servers
    ]


_COMPACT_EVERY: Final = 16
"""Revisions between two compactions of the history, each by whoever writes that revision."""

_CLOSE_SECONDS: Final = 0.5
"""How long `close` waits for a write, and for the follower."""

_MOST_RELOADS: Final = 3
"""How often a write reads the registry as a whole, before it fails."""

_MOST_STEPS: Final = 10_000
"""Steps of the history that are kept, however young."""


class PostgresRegistry(CatalogueReads):
    """Writes to the database first, and then to the catalogue that it reads.

    Only the writer and the follower publish changes, each in its own thread. Each step
    names the one before, so whoever has it first shows it, and none is shown twice or left out.
    """

    def __init__(
        self,
        location: PostgresLocation,
        quotas: RegistryQuotas,
        history_seconds: float,
        report: ReportEvent,
    ) -> None:
        """Read the registry at *location*, and follow it.

        Raises:
            RegistryUnusable: the database cannot be reached, its tables are not of this
                release's layout, or a definition in it is not that of its digest.
        """
        self._location = location
        self._history_seconds = history_seconds
        self._report = report
        self._reloads = 0
        self._fence = Fence(location)
        connection = connect(location)
        try:
            with own_exceptions(location):
                unreadable = self._fence.find_unreadable(connection)
                snapshot = read_checked_snapshot(connection, self._fence)
        except BaseException:
            close(connection)
            raise
        if unreadable:
            report(TermUnreadable(unreadable))
        history = [step.change for step in snapshot.steps]
        super().__init__(snapshot.catalogue(), quotas, history)
        self._head = snapshot.head
        self._write_connection = WriteConnection(self._fence, connection)
        #: Held by a write, which uses the connection meanwhile, and by a reload.
        self._writing = Lock()
        #: Held while catalogue and head change together, and never while anything is awaited.
        self._showing = Lock()
        self._is_closed = False
        self._follower = Follower(location, self._poll, report)
        self._follower.start()

    @property
    def age_seconds(self) -> float:
        """The time since what is read was known to be current."""
        return self._follower.age_seconds

    @property
    def identity(self) -> str:
        """The layout of the tables, and the identity of the registry in them."""
        return f"layout {self._head.layout}, epoch {self._head.epoch}"

    @property
    def reloads(self) -> int:
        """How often the registry was read as a whole after the opening."""
        return self._reloads

    def register(
        self,
        server: str,
        definitions: Sequence[Definition],
        *,
        keep: frozenset[str] | None,
        expected: Expected = NOTHING_EXPECTED,
    ) -> Registered:
        """Bind the names of *definitions* in the namespace of *server* to them."""
        plan, revision = self._write(
            server,
            lambda catalogue: plan_registration(catalogue, server, definitions, keep, expected),
        )
        return Registered(plan.bound, plan.unbind, revision)

    def delete(self, server: str, names: Sequence[str] | None) -> Deleted:
        """Remove *names*, or all names if it is None, from the namespace of *server*."""
        plan, revision = self._write(
            server, lambda catalogue: plan_removal(catalogue, server, names)
        )
        unknown = set(names or ()).difference(plan.unbind)
        return Deleted(plan.unbind, tuple(sorted(unknown)), revision)

    def close(self) -> None:
        """Close the connections. Reads still work, writes raise `RegistryUnusable`."""
        self._is_closed = True
        if not self._writing.acquire(timeout=_CLOSE_SECONDS):
            self._write_connection.interrupt()
        else:
            self._write_connection.close()
            self._writing.release()
        self._follower.stop(_CLOSE_SECONDS)

    def _write(
        self, server: str, make_plan: Callable[[Catalogue], BindingPlan]
    ) -> tuple[BindingPlan, int]:
        """Make the change that *make_plan* plans; return the plan and the revision since."""
        with self._exclusively():
            if self._is_closed:
                raise RegistryUnusable(str(self._location), "is closed")
            fault = self._follower.fault
            if fault is not None:  # the attempts of the follower are enough
                raise RegistryUnusable(str(self._location), fault.fault, fault.detail)
            try:
                with own_exceptions(self._location):
                    return self._transact(server, make_plan)
            except (RegistryUnusable, KeyboardInterrupt):  # something may still be under way
                self._write_connection.close()
                raise

    def _transact(
        self, server: str, make_plan: Callable[[Catalogue], BindingPlan]
    ) -> tuple[BindingPlan, int]:
        transactions = self._write_connection
        try:
            connection, head = self._begin()
            catalogue = self._catalogue
            plan = make_plan(catalogue)
            changed = self._change(catalogue, server, plan)
            if changed is None:
                transactions.rollback()
                return plan, catalogue.revision
            change, after = changed
            step = Step(head.change_id, change)
            write_step(connection, step)
            if change.revision % _COMPACT_EVERY == 0:
                compact(
                    connection,
                    steps=_MOST_STEPS,
                    size=self._quotas.bytes,
                    seconds=self._history_seconds,
                )
        except (psycopg.Error, RegistryUnusable):
            raise
        except Exception:
            transactions.rollback()
            raise
        transactions.commit(step, head.term)
        self._show_step(step, after)
        return plan, change.revision

    def _begin(self) -> tuple[Connection, Head]:
        """Begin a transaction to write in, whose state is what reads see; return it."""
        for _ in range(_MOST_RELOADS):
            connection, head = self._write_connection.begin()
            if self._catch_up(connection):
                return connection, head
            self._write_connection.rollback()
            self._reload(connection)
        raise RegistryUnusable(
            str(self._location), "keeps too little history to be followed; try again"
        )

    def _poll(self, connection: Connection) -> int:
        """Let reads see what the database has, and return the revision. The follower calls it."""
        head = read_checked_head(connection, self._fence)
        if head == self._head:
            return head.revision
        with reading(connection):
            is_current = self._catch_up(connection)
        if not is_current:
            with self._exclusively():
                # A write may have read it anew in the meantime.
                with reading(connection):
                    is_current = self._catch_up(connection)
                if not is_current:
                    self._reload(connection)
        return self.revision

    def _catch_up(self, connection: Connection) -> bool:
        """Let reads see what the database has; return False if no history leads there.

        All that it reads must be of one moment, or locked.

        Raises:
            DatabaseRejected: it lacks what this server has seen.
        """
        ours = self._head
        head = read_checked_head(connection, self._fence)
        if head == ours:
            return True
        steps = read_steps(connection, ours.revision)
        self._fence.check_history(ours, head, steps, connection)
        if not (steps and leads_on(steps, ours)):
            return False
        check_definitions(
            (binding for step in self._unseen(steps) for binding in step.change.bound),
            self._location,
        )
        for step in steps:
            self._show_step(step)
        return True

    def _unseen(self, steps: Sequence[Step]) -> Sequence[Step]:
        """Return those of *steps* that reads do not see, as they see those of their own server."""
        last = self._head.change_id
        seen = next((place for place, step in enumerate(steps, 1) if step.id == last), 0)
        return steps[seen:]

    def _show_step(self, step: Step, after: Catalogue | None = None) -> None:
        """Let reads see *step*, which leads to *after*, unless they do; in any thread."""
        with self._showing:
            if step.previous_id != self._head.change_id:
                return
            change = step.change
            self._head = replace(self._head, revision=change.revision, change_id=step.id)
            self._show(after or self._catalogue.with_change(change), change)

    def _reload(self, connection: Connection) -> None:
        """Let reads see all that the database has, whose history does not reach back to theirs.

        Raises:
            DatabaseRejected: it lacks what this server has seen.
        """
        ours = self._head  # before the snapshot, which is older than what others show meanwhile
        snapshot = read_checked_snapshot(connection, self._fence)
        self._fence.check_history(ours, snapshot.head, snapshot.steps, connection)
        after = snapshot.catalogue()
        with self._showing:
            before = self._catalogue
            self._head = snapshot.head
            self._show(after, *differences(before, after))
        self._reloads += 1
        self._report(RegistryReloaded(before.revision, after.revision))

    @contextmanager
    def _exclusively(self) -> Iterator[None]:
        """Run the block while no other write, or reload, of this server runs.

        Raises:
            RegistryUnusable: they do not end.
        """
        if not self._writing.acquire(timeout=ANSWER_SECONDS):
            raise RegistryUnusable(str(self._location), "is slow to answer other calls; try again")
        try:
            yield
        finally:
            self._writing.release()
