"""Fence: rejects a database that is older than the one that this server has seen.

As with terms of etcd or Raft, what was seen only grows: a former primary that comes back, a
restored copy or another cluster must not take what the primary before has acknowledged away.
"""

from collections.abc import Sequence
from threading import Lock
from typing import Final

from psycopg import errors

from sidecheck_server.registry import RegistryUnusable
from sidecheck_server.registry.location import PostgresLocation
from sidecheck_server.registry.postgres.connection import Connection
from sidecheck_server.registry.postgres.statements import SYSTEM, TIMELINE, read_value
from sidecheck_server.registry.postgres.steps import Head, Step, Term

__all__ = ["DatabaseRejected", "Fence"]

_REMEDY: Final = (
    "let the URI lead to the database that it has seen, or restart all servers to accept this one"
)

#: The parts of a term, and the functions that a role needs the right to execute for them.
_FUNCTIONS: Final = {
    SYSTEM: "pg_control_system()",
    TIMELINE: "pg_walfile_name(pg_lsn)",
}


class DatabaseRejected(RegistryUnusable):
    """The database is older than the one that this server has seen, or another one."""


class Fence:
    """What one server has seen of its database, shared by all its connections. Thread-safe."""

    def __init__(self, location: PostgresLocation) -> None:
        """Accept whichever database is at *location* first."""
        self.location = location
        #: What to read of the term with each head; NULL for a part that cannot be read.
        self.columns = ", ".join(_FUNCTIONS)
        self._seen = Term(None, None)
        self._lock = Lock()

    def find_unreadable(self, connection: Connection) -> tuple[str, ...]:
        """Return the functions that the role may not execute; leave their parts out from now on.

        Not in a transaction, which a function without rights would end. Later on, a right that
        is gone is a fault like any other right.
        """
        columns = []
        unreadable = []
        for column, function in _FUNCTIONS.items():
            try:
                read_value(connection, column)
                columns.append(column)
            except (
                errors.InsufficientPrivilege,
                errors.UndefinedFunction,
                errors.FeatureNotSupported,
            ):
                columns.append("NULL")
                unreadable.append(function)
        self.columns = ", ".join(columns)
        return tuple(unreadable)

    def check_term(self, term: Term, connection: Connection) -> None:
        """Check that *term*, read on *connection*, is that seen or a later one; remember it.

        A standby has no timeline: what it knows of it lags behind, and nothing is written there.

        Raises:
            DatabaseRejected: it is that of another cluster, or of a former primary.
        """
        with self._lock:
            seen = self._seen
            if None not in (term.system, seen.system) and term.system != seen.system:
                raise self._reject(
                    connection,
                    "belongs to another PostgreSQL cluster than this server has seen",
                    f"system identifier {term.system}, not {seen.system}",
                )
            if term.timeline is not None and term.timeline < (seen.timeline or 0):
                raise self._reject(
                    connection,
                    f"is on timeline {term.timeline}, and this server has seen timeline "
                    f"{seen.timeline}",
                )
            self._seen = Term(
                seen.system if term.system is None else term.system,
                seen.timeline if term.timeline is None else term.timeline,
            )

    def check_history(
        self, ours: Head, head: Head, steps: Sequence[Step], connection: Connection
    ) -> None:
        """Check that nothing shows that *head* lacks the change of *ours*, which was seen.

        *steps* are those of its history beyond the revision of *ours*. If they do not reach back
        that far, nothing is known.

        Raises:
            DatabaseRejected: the change is missing.
        """
        if head.epoch != ours.epoch:
            raise self._reject(
                connection,
                "has another registry than this server has seen",
                f"epoch {head.epoch}, not {ours.epoch}",
            )
        if head.revision < ours.revision:
            raise self._reject(
                connection,
                f"is at revision {head.revision}, and this server has seen revision "
                f"{ours.revision}",
            )
        following = ours.revision + 1
        changes = [step.previous_id for step in steps if step.change.revision == following]
        if head.revision == ours.revision:
            changes = [head.change_id]
        if changes not in ([], [ours.change_id]):
            raise self._reject(
                connection,
                f"has another change of revision {ours.revision} than this server has seen",
            )

    def _reject(self, connection: Connection, fault: str, detail: str = "") -> DatabaseRejected:
        """Return the error of *fault*; its detail says which of several hosts it is."""
        details = [detail] if detail else []
        if self.location.is_clear:
            details.append(f"at {connection.info.host}:{connection.info.port}")
        return DatabaseRejected(str(self.location), f"{fault}; {_REMEDY}", "; ".join(details))
