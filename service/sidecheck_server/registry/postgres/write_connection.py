"""The connection that a server writes on: transactions one after the other, durable or not made."""

import psycopg

from sidecheck_server.registry import RegistryOutcomeUnknown, RegistryUnusable
from sidecheck_server.registry.postgres.connection import (
    Connection,
    close,
    connect,
    own_exceptions,
    wake,
)
from sidecheck_server.registry.postgres.fencing import DatabaseRejected, Fence
from sidecheck_server.registry.postgres.statements import begin_write, read_related_ids
from sidecheck_server.registry.postgres.steps import Head, Step, Term
from sidecheck_server.registry.postgres.verified_reads import read_checked_head

__all__ = ["WriteConnection"]


class WriteConnection:
    """Begins and ends the transactions of writes, on another connection if the last one broke.

    One thread at a time may use it, but for `interrupt`. It raises the exceptions of psycopg.
    """

    def __init__(self, fence: Fence, connection: Connection) -> None:
        """Use *connection*, to the location of *fence*, for as long as it lasts."""
        self._fence = fence
        self._location = fence.location
        self._connection = connection

    def begin(self) -> tuple[Connection, Head]:
        """Begin a transaction that no other write runs beside; return the state, locked.

        A connection that was idle may have ended without notice, or lead to a primary that is
        none any more; then there is another.
        """
        if not self._connection.closed:
            try:
                return self._begin()
            except psycopg.OperationalError:
                if not self._connection.broken:
                    raise
            except DatabaseRejected:
                pass  # a new connection may lead to the primary that took over
        self._reconnect()
        return self._begin()

    def rollback(self) -> None:
        """End the transaction without effect."""
        self._connection.execute("ROLLBACK")

    def commit(self, step: Step, term: Term) -> None:
        """End the transaction of *step*, which was begun at *term*, and make it durable.

        Raises:
            psycopg.Error: it was not made.
            RegistryOutcomeUnknown: it may have been made, or may yet be.
        """
        try:
            self._connection.execute("COMMIT")
        except psycopg.Error as error:
            if not self._connection.broken and error.sqlstate is not None:
                raise
            if not self._was_made(step):
                raise
        else:
            self._check_primary(term)

    def close(self) -> None:
        """Close the connection, and with it the transaction. `begin` makes another."""
        close(self._connection)

    def interrupt(self) -> None:
        """Let the thread that waits for the database fail at once."""
        wake(self._connection)

    def _begin(self) -> tuple[Connection, Head]:
        connection = self._connection
        begin_write(connection)
        return connection, read_checked_head(connection, self._fence, lock=True)

    def _was_made(self, step: Step) -> bool:
        """Return whether *step* was made, though nobody said so.

        Whatever is left of its transaction holds the lock that this one waits for.
        """
        try:
            with own_exceptions(self._location):
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
        # Otherwise the state is still that before it, or another change followed that.
        if step.previous_id not in (head.change_id, ids and ids[1]):
            raise RegistryOutcomeUnknown(
                str(self._location),
                "was lost while it made the change durable, and has another history now",
            )
        return False

    def _check_primary(self, term: Term) -> None:
        """Check that no other connection has seen a later term than *term*, of a commit.

        The primary that took over does not have what was committed at the former one since.

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
