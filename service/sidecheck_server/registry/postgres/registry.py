"""Registry in a PostgreSQL database: writes, and updates from other servers."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from threading import Lock
from typing import Final

import psycopg

from sidecheck_server.registry import NOTHING_EXPECTED, Expected, RegistryUnusable
from sidecheck_server.registry.catalogue import Catalogue
from sidecheck_server.registry.definitions import (
    Binding,
    Change,
    Definition,
    RegistrationResult,
    RemovalResult,
)
from sidecheck_server.registry.location import PostgresLocation
from sidecheck_server.registry.plan import BindingPlan, plan_registration, plan_removal
from sidecheck_server.registry.postgres.connection import (
    ANSWER_SECONDS,
    Connection,
    close,
    connect,
    convert_exceptions,
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
    are_consecutive,
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
    """Return changes from *before* to *after*, one for each server that differs.

    There is at least one change, which carries the revision. Takes time proportional to both
    catalogues.
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
"""Revisions between two compactions of the history; the writer of that revision compacts."""

_CLOSE_SECONDS: Final = 0.5
"""Seconds for which `close` waits for a write, and for the follower."""

_MOST_RELOADS: Final = 3
"""Maximum full reads of the registry by one write."""

_MOST_STEPS: Final = 10_000
"""Maximum steps in the history, whatever their age."""


# Decision 0069: the history of one locked row orders the writes of all servers.
class PostgresRegistry(CatalogueReads):
    """Writes to the database first, and then replaces the catalogue that serves reads.

    The writing thread and the follower publish changes. Each step names the previous one, so
    the first of the two threads publishes a step, and none is published twice or skipped.
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
            RegistryUnusable: the database cannot be reached, its tables do not have this
                release's layout, or a definition in it does not match its digest.
        """
        self._location = location
        self._history_seconds = history_seconds
        self._report = report
        self._reloads = 0
        self._fence = Fence(location)
        connection = connect(location)
        try:
            with convert_exceptions(location):
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
        #: A write holds it while it uses the connection, and so does a reload.
        self._write_lock = Lock()
        #: Held while catalogue and head change together, and never during I/O.
        self._publish_lock = Lock()
        self._is_closed = False
        self._follower = Follower(location, self._poll, report)
        self._follower.start()

    @property
    def age_seconds(self) -> float:
        """Seconds since reads were last known to be current."""
        return self._follower.age_seconds

    @property
    def identity(self) -> str:
        """Layout of the tables, and identity of the registry in them."""
        return f"layout {self._head.layout}, epoch {self._head.epoch}"

    @property
    def reloads(self) -> int:
        """Number of full reads of the registry since its opening."""
        return self._reloads

    def register(
        self,
        server: str,
        definitions: Sequence[Definition],
        *,
        keep: frozenset[str] | None,
        expected: Expected = NOTHING_EXPECTED,
    ) -> RegistrationResult:
        """Bind the names of *definitions* in the namespace of *server* to them."""
        plan, revision = self._write(
            server,
            lambda catalogue: plan_registration(catalogue, server, definitions, keep, expected),
        )
        return RegistrationResult(plan.bound, plan.unbind, revision)

    def delete(self, server: str, names: Sequence[str] | None) -> RemovalResult:
        """Remove *names*, or all names if it is None, from the namespace of *server*."""
        plan, revision = self._write(
            server, lambda catalogue: plan_removal(catalogue, server, names)
        )
        unknown = set(names or ()).difference(plan.unbind)
        return RemovalResult(plan.unbind, tuple(sorted(unknown)), revision)

    def close(self) -> None:
        """Close the connections. Reads still work, writes raise `RegistryUnusable`."""
        self._is_closed = True
        if not self._write_lock.acquire(timeout=_CLOSE_SECONDS):
            self._write_connection.interrupt()
        else:
            self._write_connection.close()
            self._write_lock.release()
        self._follower.stop(_CLOSE_SECONDS)

    def _write(
        self, server: str, make_plan: Callable[[Catalogue], BindingPlan]
    ) -> tuple[BindingPlan, int]:
        """Write the change of *make_plan*; return the plan and the revision after it."""
        with self._exclusively():
            if self._is_closed:
                raise RegistryUnusable(str(self._location), "is closed")
            fault = self._follower.fault
            if fault is not None:  # Only the follower tries to reconnect.
                raise RegistryUnusable(str(self._location), fault.fault, fault.detail)
            try:
                with convert_exceptions(self._location):
                    return self._transact(server, make_plan)
            except (RegistryUnusable, KeyboardInterrupt):  # A statement may still be running.
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
        self._publish_step(step, after)
        return plan, change.revision

    def _begin(self) -> tuple[Connection, Head]:
        """Begin a transaction for a write, after reads have caught up with its state."""
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
        """Update reads from the database, and return the revision; called by the follower."""
        head = read_checked_head(connection, self._fence)
        if head == self._head:
            return head.revision
        with reading(connection):
            is_current = self._catch_up(connection)
        if not is_current:
            with self._exclusively():
                # A write may have reloaded the registry meanwhile.
                with reading(connection):
                    is_current = self._catch_up(connection)
                if not is_current:
                    self._reload(connection)
        return self.revision

    def _catch_up(self, connection: Connection) -> bool:
        """Update reads by the history; return False if it does not reach back far enough.

        The caller must have begun a transaction with a snapshot, or hold the lock of the state.

        Raises:
            DatabaseRejected: the database lacks a change that this server has seen.
        """
        known = self._head
        head = read_checked_head(connection, self._fence)
        if head == known:
            return True
        steps = read_steps(connection, known.revision)
        self._fence.check_history(known, head, steps, connection)
        if not (steps and are_consecutive(steps, known)):
            return False
        check_definitions(
            (binding for step in self._unseen(steps) for binding in step.change.bound),
            self._location,
        )
        for step in steps:
            self._publish_step(step)
        return True

    def _unseen(self, steps: Sequence[Step]) -> Sequence[Step]:
        """Return the *steps* after the current state."""
        last = self._head.change_id
        start = next((index for index, step in enumerate(steps, 1) if step.id == last), 0)
        return steps[start:]

    def _publish_step(self, step: Step, after: Catalogue | None = None) -> None:
        """Publish *step*, which leads to *after*, unless it was published; in any thread."""
        with self._publish_lock:
            if step.previous_id != self._head.change_id:
                return
            change = step.change
            self._head = replace(self._head, revision=change.revision, change_id=step.id)
            self._publish(after or self._catalogue.with_change(change), change)

    def _reload(self, connection: Connection) -> None:
        """Replace the catalogue by the content of the database.

        Raises:
            DatabaseRejected: the database lacks a change that this server has seen.
        """
        # Read before the snapshot, since the other thread may publish later changes meanwhile.
        known = self._head
        snapshot = read_checked_snapshot(connection, self._fence)
        self._fence.check_history(known, snapshot.head, snapshot.steps, connection)
        after = snapshot.catalogue()
        with self._publish_lock:
            before = self._catalogue
            self._head = snapshot.head
            self._publish(after, *differences(before, after))
        self._reloads += 1
        self._report(RegistryReloaded(before.revision, after.revision))

    @contextmanager
    def _exclusively(self) -> Iterator[None]:
        """Run the block while no other write or reload of this server runs.

        Raises:
            RegistryUnusable: the current write or reload takes more than `ANSWER_SECONDS`.
        """
        if not self._write_lock.acquire(timeout=ANSWER_SECONDS):
            raise RegistryUnusable(str(self._location), "is slow to answer other calls; try again")
        try:
            yield
        finally:
            self._write_lock.release()
