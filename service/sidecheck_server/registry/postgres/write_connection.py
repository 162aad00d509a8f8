"""The connection that a server writes on: transactions one after the other, durable or not made."""

import psycopg

from sidecheck_server.registry import RegistryOutcomeUnknown, RegistryUnusable
from sidecheck_server.registry.location import PostgresLocation
from sidecheck_server.registry.postgres.connection import (
    Connection,
    close,
    connect,
    own_exceptions,
    wake,
)
from sidecheck_server.registry.postgres.statements import begin_write, has_step, read_head
from sidecheck_server.registry.postgres.steps import Head, Step
from sidecheck_server.registry.postgres.verified_reads import read_checked_head

__all__ = ["WriteConnection"]


class WriteConnection:
    """Begins and ends the transactions of writes, on another connection if the last one broke.

    One thread at a time may use it, but for `interrupt`. It raises the exceptions of psycopg.
    """

    def __init__(self, location: PostgresLocation, connection: Connection) -> None:
        """Use *connection*, to *location*, for as long as it lasts."""
        self._location = location
        self._connection = connection

    def begin(self) -> tuple[Connection, Head]:
        """Begin a transaction that no other write runs beside; return the state, locked.

        A connection that was idle may have ended without notice; then there is another.
        """
        if not self._connection.closed:
            try:
                return self._begin()
            except psycopg.OperationalError:
                if not self._connection.broken:
                    raise
        self._reconnect()
        return self._begin()

    def rollback(self) -> None:
        """End the transaction without effect."""
        self._connection.execute("ROLLBACK")

    def commit(self, step: Step) -> None:
        """End the transaction, and make *step*, which it consists of, durable.

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

    def close(self) -> None:
        """Close the connection, and with it the transaction. `begin` makes another."""
        close(self._connection)

    def interrupt(self) -> None:
        """Let the thread that waits for the database fail at once."""
        wake(self._connection)

    def _begin(self) -> tuple[Connection, Head]:
        connection = self._connection
        begin_write(connection)
        return connection, read_checked_head(connection, self._location, lock=True)

    def _was_made(self, step: Step) -> bool:
        """Return whether *step* was made, though nobody said so.

        Whatever is left of its transaction holds the lock that this one waits for.
        """
        try:
            with own_exceptions(self._location):
                self._reconnect()
                begin_write(self._connection)
                read_head(self._connection, lock=True)
                was_made = has_step(self._connection, step)
                self.rollback()
                return was_made
        except RegistryUnusable as error:
            raise RegistryOutcomeUnknown(
                str(self._location),
                "was lost while it made the change durable",
                str(error),
            ) from None

    def _reconnect(self) -> None:
        close(self._connection)
        self._connection = connect(self._location)
