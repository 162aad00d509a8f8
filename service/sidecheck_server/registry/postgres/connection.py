"""Connections to PostgreSQL with bounded waits, and conversion of their errors."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from os import dup
from time import monotonic
from typing import Any, Final, TypeVar

import psycopg
from psycopg import errors
from psycopg.abc import PQGen
from psycopg.waiting import Ready

from sidecheck_server.registry import RegistryUnusable
from sidecheck_server.registry.location import PostgresLocation

__all__ = ["ANSWER_SECONDS", "Connection", "close", "connect", "convert_exceptions", "interrupt"]

Result = TypeVar("Result")

ANSWER_SECONDS: Final = 5.0
"""Maximum seconds without an answer of the database; a transaction may take longer."""

_CONNECT_SECONDS: Final = 3
"""Maximum seconds to connect to each host."""

#: Messages for failures that an operator can repair, by the classes of psycopg, which are named
#: for SQL states (https://www.postgresql.org/docs/current/errcodes-appendix.html).
_FAILURES: Final[tuple[tuple[tuple[type[psycopg.Error], ...], str], ...]] = (
    (
        (errors.InsufficientPrivilege,),
        "denies this role what it needs; grant it as docs/operations/postgres.md says",
    ),
    (
        (errors.UndefinedTable, errors.UndefinedColumn, errors.InvalidSchemaName),
        "lacks tables of the registry; restore it from a backup",
    ),
    (
        (errors.ReadOnlySqlTransaction,),
        "is read-only, by its settings or as a standby; make it writable, or name the primary",
    ),
    (
        (errors.LockNotAvailable,),
        "is locked by writes of other servers; try again",
    ),
    (
        (errors.DiskFull, errors.OutOfMemory),
        "has no room left, on its disk or in its memory; make room",
    ),
    (
        (errors.QueryCanceled, errors.IdleInTransactionSessionTimeout),
        "took too long, and ended the transaction; try again",
    ),
)


class Connection(psycopg.Connection[tuple[Any, ...]]):
    """A connection that fails if the database is silent for `answer_seconds`.

    Timeouts of the database do not expire while its process is stopped, and those of the kernel
    do not either, since it still acknowledges packets. After a failure the connection can only
    be closed.
    """

    #: None for no limit.
    answer_seconds: float | None = ANSWER_SECONDS

    def wait(
        self,
        gen: PQGen[Result],
        interval: float = 0.1,
        timeout: float | None = None,
    ) -> Result:
        """Wait for *gen*, for *timeout* seconds or until the database is silent."""
        if timeout is None and self.answer_seconds is not None:
            gen = _unless_silent(gen, self.answer_seconds)
        return super().wait(gen, interval, timeout)


def connect(location: PostgresLocation) -> Connection:
    """Connect to the database at *location*, in autocommit mode.

    Statements are not prepared, so that the connection may pass through any pooler.

    Raises:
        RegistryUnusable: the database cannot be reached, or rejects the connection.
    """
    with convert_exceptions(location):
        return Connection.connect(
            location.uri,
            autocommit=True,
            prepare_threshold=None,
            client_encoding="utf-8",  # The default is that of the database, which may have none.
            connect_timeout=_CONNECT_SECONDS,
            fallback_application_name="sidecheck",
            # The kernel detects within 25 seconds that the peer of an idle connection is gone.
            keepalives_idle=10,
            keepalives_interval=5,
            keepalives_count=3,
        )


def close(connection: psycopg.Connection[Any] | None) -> None:
    """Close *connection* in any state, without waiting for the database."""
    if connection is not None:
        with suppress(psycopg.Error):
            connection.close()


def interrupt(connection: Connection | None) -> None:
    """Make the thread that waits for *connection* fail; close it afterwards."""
    if connection is None or connection.closed:
        return
    with suppress(psycopg.Error, OSError), socket.socket(fileno=dup(connection.fileno())) as peer:
        peer.shutdown(socket.SHUT_RDWR)


def _unless_silent(gen: PQGen[Result], seconds: float) -> PQGen[Result]:
    """Run *gen* until its end, or until the socket is not ready for *seconds*.

    Raises:
        psycopg.OperationalError: the socket was not ready for *seconds*.
    """
    ready_at = monotonic()
    try:
        awaited = next(gen)
        while True:
            ready = yield awaited
            if ready != Ready.NONE:
                ready_at = monotonic()
            elif monotonic() - ready_at >= seconds:
                raise psycopg.OperationalError(f"no answer for {seconds:g} seconds")
            awaited = gen.send(ready)
    except StopIteration as ended:
        result: Result = ended.value
        return result


@contextmanager
def convert_exceptions(location: PostgresLocation) -> Iterator[None]:
    """Convert exceptions of psycopg to those of a registry."""
    try:
        yield
    except psycopg.Error as error:
        detail = _describe_detail(error) if location.is_unambiguous else ""
        raise RegistryUnusable(str(location), _describe_fault(error), detail) from None


def _describe_fault(error: psycopg.Error) -> str:
    for kinds, fault in _FAILURES:
        if isinstance(error, kinds):
            return fault
    if isinstance(error, psycopg.ProgrammingError) and error.sqlstate is None:
        return "is not a usable connection URI; expected postgresql://user@host:port/database"
    if isinstance(error, psycopg.OperationalError):
        return "cannot be reached, or does not answer; check that it runs, the URI and the password"
    return "cannot be used"


def _describe_detail(error: psycopg.Error) -> str:
    """Return the primary message of the database, which has no values."""
    if isinstance(error, psycopg.ProgrammingError) and error.sqlstate is None:
        return ""  # The message about an unreadable URI may quote any part of it.
    text = error.diag.message_primary or str(error)
    return " ".join(text.split())[:300]
