"""Follower: the thread that keeps what is read up to date with the database."""

from collections.abc import Callable
from random import uniform
from threading import Event, Lock, Thread
from time import monotonic
from typing import Final

from sidecheck_server.registry import RegistryUnusable
from sidecheck_server.registry.location import PostgresLocation
from sidecheck_server.registry.postgres.connection import (
    Connection,
    close,
    connect,
    own_exceptions,
    wake,
)
from sidecheck_server.registry.postgres.fencing import DatabaseRejected
from sidecheck_server.registry.postgres.statements import CHANNEL
from sidecheck_server.registry.postgres.steps import (
    Reconnected,
    RejectedDatabase,
    ReportEvent,
    Unreachable,
)

__all__ = ["Follower"]

_POLL_SECONDS: Final = (0.8, 1.2)
"""Between polls, at random, so that the replicas do not poll all at once."""

_MOST_FAILURES: Final = 3
"""Connections in a row that may fail after they were made, before that is reported."""


class Follower:
    """Polls the database, on a connection and in a thread of its own.

    Notifications make it poll at once. They are a hint, and may be lost: a pooler between does
    not pass them on, and nobody says that a connection is gone. So it polls every second too.
    """

    def __init__(
        self,
        location: PostgresLocation,
        poll: Callable[[Connection], int],
        report: ReportEvent,
    ) -> None:
        """Prepare to call *poll*, which returns the revision."""
        self._location = location
        self._poll = poll
        self._report = report
        #: Why the database cannot be followed, once that was reported.
        self._fault: RegistryUnusable | None = None
        #: The events of faults that were reported since the database was followed.
        self._reported: set[type[Unreachable | RejectedDatabase]] = set()
        self._current_at = monotonic()
        self._connection: Connection | None = None
        self._closing = Lock()
        self._stopped = Event()
        self._thread = Thread(target=self._run, name="sidecheck-registry", daemon=True)

    @property
    def fault(self) -> RegistryUnusable | None:
        """Why the database cannot be followed, if it cannot."""
        return self._fault

    @property
    def age_seconds(self) -> float:
        """The time since what is read was known to be current."""
        return monotonic() - self._current_at

    def start(self) -> None:
        """Begin to follow."""
        self._thread.start()

    def stop(self, seconds: float) -> None:
        """Stop following, and wait up to *seconds* for it. May be called again."""
        with self._closing:
            self._stopped.set()
            wake(self._connection)
        if self._thread.is_alive():
            self._thread.join(seconds)

    def _run(self) -> None:
        failures = 0
        while not self._stopped.is_set():
            try:
                self._follow()
                failures = 0
            except Exception as error:  # noqa: BLE001 - nobody else would go on to follow
                fault = self._fault_of(error)
                failures += 1
                was_connected = self._connection is not None
                self._close()
                # Connections that were ended are no news if the next one works.
                if self._stopped.is_set() or (was_connected and failures < _MOST_FAILURES):
                    continue
                self._note(fault)
                self._stopped.wait(uniform(*_POLL_SECONDS))  # noqa: S311 - nothing secret
        self._close()

    def _follow(self) -> None:
        """Poll, and wait for the next time.

        Raises:
            RegistryUnusable: the connection cannot be used any more, or the tables.
        """
        if self._connection is None:
            self._listen()
        connection = self._connection
        assert connection is not None
        with own_exceptions(self._location):
            began = monotonic()
            revision = self._poll(connection)
            if self._fault is not None:
                self._fault = None
                self._reported.clear()
                self._report(Reconnected(round(self.age_seconds, 3), revision))
            self._current_at = began
            if not self._stopped.is_set():
                seconds = uniform(*_POLL_SECONDS)  # noqa: S311 - nothing secret
                for _ in connection.notifies(timeout=seconds, stop_after=1):
                    pass

    def _listen(self) -> None:
        connection = connect(self._location)
        with self._closing:
            self._connection = connection
        with own_exceptions(self._location):
            connection.execute(f"LISTEN {CHANNEL}")

    def _fault_of(self, error: Exception) -> RegistryUnusable:
        if isinstance(error, RegistryUnusable):
            return error
        return RegistryUnusable(
            str(self._location), "cannot be followed; report this", type(error).__name__
        )

    def _close(self) -> None:
        with self._closing:
            connection, self._connection = self._connection, None
        close(connection)

    def _note(self, fault: RegistryUnusable) -> None:
        """Remember *fault*, and report it if it is the first of its kind."""
        self._fault = fault
        event = RejectedDatabase if isinstance(fault, DatabaseRejected) else Unreachable
        if event not in self._reported:
            self._reported.add(event)
            self._report(event(str(fault)))
