"""The connection for writes, which also resolves lost commits."""

import psycopg

from sidecheck_server.registry import RegistryOutcomeUnknown, RegistryUnusable
from sidecheck_server.registry.postgres.connection import (
    Connection,
    close,
    connect,
    convert_exceptions,
    interrupt,
)
from sidecheck_server.registry.postgres.fencing import DatabaseRejected, Fence
from sidecheck_server.registry.postgres.statements import begin_write, read_related_ids
from sidecheck_server.registry.postgres.steps import Head, Step, Term
from sidecheck_server.registry.postgres.verified_reads import read_checked_head

__all__ = ["WriteConnection"]


class WriteConnection:
    """Begins and ends the transactions of writes, and reconnects after failures.

    One thread at a time may use it, except for `interrupt`. Methods raise the exceptions of
    psycopg.
    """

    def __init__(self, fence: Fence, connection: Connection) -> None:
        """Start with *connection*, which is connected to the location of *fence*."""
        self._fence = fence
        self._location = fence.location
        self._connection = connection

    def begin(self) -> tuple[Connection, Head]:
        """Begin a transaction; return the connection and the locked state.

        Reconnects if the idle connection broke, or leads to a former primary.
        """
        if not self._connection.closed:
            try:
                return self._begin()
            except psycopg.OperationalError:
                if not self._connection.broken:
                    raise
            except DatabaseRejected:
                pass  # Another connection may lead to the current primary.
        self._reconnect()
        return self._begin()

    def rollback(self) -> None:
        """End the transaction without effect."""
        self._connection.execute("ROLLBACK")

    def commit(self, step: Step, term: Term) -> None:
        """Commit the transaction of *step*, which began at *term*.

        Raises:
            psycopg.Error: the transaction had no effect.
            RegistryOutcomeUnknown: the transaction may have taken effect, or may still do so.
        """
        try:
            self._connection.execute("COMMIT")
        except psycopg.Error as error:
            if not self._connection.broken and error.sqlstate is not None:
                raise
            if not self._was_committed(step):
                raise
        else:
            self._check_primary(term)

    def close(self) -> None:
        """Close the connection and end its transaction. `begin` reconnects."""
        close(self._connection)

    def interrupt(self) -> None:
        """Make the thread that waits for the database fail at once."""
        interrupt(self._connection)

    def _begin(self) -> tuple[Connection, Head]:
        connection = self._connection
        begin_write(connection)
        return connection, read_checked_head(connection, self._fence, lock=True)

    def _was_committed(self, step: Step) -> bool:
        """Return whether the commit of *step*, which was not acknowledged, took effect.

        A transaction of *step* that is still running holds the row lock, so that `_begin` waits
        for its end.
        """
        try:
            with convert_exceptions(self._location):
                self._reconnect()
                connection, head = self._begin()
                ids = read_related_ids(connection, step.change.revision)
                self.rollback()
        except RegistryUnusable as error:
            raise RegistryOutcomeUnknown(
                str(self._location),
                "was lost while it made the change durable",
                str(error),
            ) from None
        if ids is not None and step.id == ids[0]:
            return True
        # If the step was not committed, its predecessor is the last change, or precedes the
        # change of the same revision.
        if step.previous_id not in (head.change_id, ids and ids[1]):
            raise RegistryOutcomeUnknown(
                str(self._location),
                "was lost while it made the change durable, and has another history now",
            )
        return False

    def _check_primary(self, term: Term) -> None:
        """Check after a commit at *term* that no other connection has seen a later term.

        A promoted primary lacks the later commits of the former one.

        Raises:
            RegistryOutcomeUnknown: there is a later term.
        """
        try:
            self._fence.check_term(term, self._connection)
        except DatabaseRejected as error:
            raise RegistryOutcomeUnknown(
                str(self._location),
                "was replaced by a later primary while it made the change durable",
                str(error),
            ) from None

    def _reconnect(self) -> None:
        close(self._connection)
        self._connection = connect(self._location)
