"""Fence: rejects a database that is older than the one that this server has seen.

Terms only grow, as in etcd or Raft. A former primary that comes back, a restored copy or another
cluster must not undo changes that an earlier primary has acknowledged.
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
    "point the URI at the database that this server has seen, or restart all servers to accept "
    "this one"
)

#: The functions that a role must be allowed to execute, by the part of a term.
_FUNCTIONS: Final = {
    SYSTEM: "pg_control_system()",
    TIMELINE: "pg_walfile_name(pg_lsn)",
}


class DatabaseRejected(RegistryUnusable):
    """The database is older than the one that this server has seen, or another one."""


class Fence:
    """Latest term that a server has seen, shared by all its connections. Thread-safe."""

    def __init__(self, location: PostgresLocation) -> None:
        """Accept any database at *location* at first."""
        self.location = location
        #: The columns of the term to read with each head; NULL for an unreadable part.
        self.columns = ", ".join(_FUNCTIONS)
        self._seen = Term(None, None)
        self._lock = Lock()

    def find_unreadable(self, connection: Connection) -> tuple[str, ...]:
        """Return the functions that the role may not execute; skip their parts.

        Must not run in a transaction, which a denied function would abort. A right that is
        revoked later is an error.
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
        """Record *term*, read on *connection*; reject it if a later one was seen.

        A standby has no timeline, since its view of the timeline lags behind.

        Raises:
            DatabaseRejected: the term is of another cluster, or of a former primary.
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
        self, known: Head, head: Head, steps: Sequence[Step], connection: Connection
    ) -> None:
        """Check that the history of *head* does not contradict the last state *known*.

        *steps* are the steps after the revision of *known*. If they do not reach back to it, the
        check passes.

        Raises:
            DatabaseRejected: the registry is another one, or lacks the last change of *known*.
        """
        if head.epoch != known.epoch:
            raise self._reject(
                connection,
                "has another registry than this server has seen",
                f"epoch {head.epoch}, not {known.epoch}",
            )
        if head.revision < known.revision:
            raise self._reject(
                connection,
                f"is at revision {head.revision}, and this server has seen revision "
                f"{known.revision}",
            )
        following = known.revision + 1
        changes = [step.previous_id for step in steps if step.change.revision == following]
        if head.revision == known.revision:
            changes = [head.change_id]
        if changes not in ([], [known.change_id]):
            raise self._reject(
                connection,
                f"has another change of revision {known.revision} than this server has seen",
            )

    def _reject(self, connection: Connection, fault: str, detail: str = "") -> DatabaseRejected:
        """Return the error for *fault*, with the host in its detail."""
        details = [detail] if detail else []
        if self.location.is_unambiguous:
            details.append(f"at {connection.info.host}:{connection.info.port}")
        return DatabaseRejected(str(self.location), f"{fault}; {_REMEDY}", "; ".join(details))
