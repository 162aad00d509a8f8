"""Follower: the thread that keeps reads up to date with the database."""

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
    convert_exceptions,
    interrupt,
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
"""Range of the random pause between polls, which keeps replicas from polling in step."""

_MOST_FAILURES: Final = 3
"""Consecutive failures of established connections before the failure is reported."""


class Follower:
    """Polls the database on a separate connection in a separate thread.

    A notification triggers a poll at once. Notifications may be lost, in a pooler or on a dead
    connection, so the follower also polls every second.
    """

    def __init__(
        self,
        location: PostgresLocation,
        poll: Callable[[Connection], int],
        report: ReportEvent,
    ) -> None:
        """Prepare to call *poll*, which updates reads and returns the revision."""
        self._location = location
        self._poll = poll
        self._report = report
        #: The reported reason why the database cannot be followed, or None.
        self._fault: RegistryUnusable | None = None
        #: Kinds of events reported since the last successful poll.
        self._reported: set[type[Unreachable | RejectedDatabase]] = set()
        self._current_at = monotonic()
        self._connection: Connection | None = None
        self._closing = Lock()
        self._stopped = Event()
        self._thread = Thread(target=self._run, name="sidecheck-registry", daemon=True)

    @property
    def fault(self) -> RegistryUnusable | None:
        """The reason why the database cannot be followed, or None."""
        return self._fault

    @property
    def age_seconds(self) -> float:
        """Seconds since reads were last known to be current."""
        return monotonic() - self._current_at

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def stop(self, seconds: float) -> None:
        """Stop the thread, and wait up to *seconds* for its end. May be called again."""
        with self._closing:
            self._stopped.set()
            interrupt(self._connection)
        if self._thread.is_alive():
            self._thread.join(seconds)

    def _run(self) -> None:
        failures = 0
        while not self._stopped.is_set():
            try:
                self._follow()
                failures = 0
            except Exception as error:  # noqa: BLE001 - the thread must survive every fault
                fault = self._convert_error(error)
                failures += 1
                was_connected = self._connection is not None
                self._close()
                # A closed connection is not reported if the next one works.
                if self._stopped.is_set() or (was_connected and failures < _MOST_FAILURES):
                    continue
                self._report_fault(fault)
                self._stopped.wait(uniform(*_POLL_SECONDS))  # noqa: S311 - nothing secret
        self._close()

    def _follow(self) -> None:
        """Poll, and wait for a notification or the end of the pause.

        Raises:
            RegistryUnusable: the connection or the tables are unusable.
        """
        if self._connection is None:
            self._listen()
        connection = self._connection
        assert connection is not None
        with convert_exceptions(self._location):
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
        with convert_exceptions(self._location):
            connection.execute(f"LISTEN {CHANNEL}")

    def _convert_error(self, error: Exception) -> RegistryUnusable:
        if isinstance(error, RegistryUnusable):
            return error
        return RegistryUnusable(
            str(self._location), "cannot be followed; report this", type(error).__name__
        )

    def _close(self) -> None:
        with self._closing:
            connection, self._connection = self._connection, None
        close(connection)

    def _report_fault(self, fault: RegistryUnusable) -> None:
        """Set *fault*, and report the first of its kind since the last success."""
        self._fault = fault
        event = RejectedDatabase if isinstance(fault, DatabaseRejected) else Unreachable
        if event not in self._reported:
            self._reported.add(event)
            self._report(event(str(fault)))
