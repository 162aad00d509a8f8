"""Registries that share a PostgreSQL database, and their events."""

from collections.abc import Callable
from contextlib import ExitStack, closing
from time import monotonic, sleep

from sidecheck_server.registry.definitions import Change
from sidecheck_server.registry.location import PostgresLocation
from sidecheck_server.registry.opening import open_registry
from sidecheck_server.registry.postgres.registry import PostgresRegistry
from sidecheck_server.registry.postgres.steps import RegistryEvent
from sidecheck_server.registry.quotas import RegistryQuotas
from support.running_postgres import RunningPostgres

__all__ = ["Replicas", "wait_until"]

_WAIT_SECONDS = 180.0


def wait_until(is_met: Callable[[], object]) -> None:
    """Wait until *is_met* returns a true value."""
    deadline = monotonic() + _WAIT_SECONDS
    while not is_met():
        assert monotonic() < deadline
        sleep(0.005)


class Replicas:
    """Registries of one database, each with its events."""

    def __init__(self, server: RunningPostgres, stack: ExitStack) -> None:
        self._stack = stack
        self.server = server
        self.database = server.create_database()
        self.location = PostgresLocation(server.uri(self.database))
        self.events: list[RegistryEvent] = []
        self.changes: dict[PostgresRegistry, list[Change]] = {}

    def open(self, history_seconds: float = 3600, **quotas: int) -> PostgresRegistry:
        """Open a registry, which the test's end closes."""
        opened = open_registry(
            self.location, RegistryQuotas(**quotas), history_seconds, self.events.append
        )
        assert isinstance(opened, PostgresRegistry)
        self._stack.enter_context(closing(opened))
        changes = self.changes[opened] = []
        opened.subscribe(changes.append)
        return opened

    def execute(self, statement: str) -> list[tuple[object, ...]]:
        """Run *statement* in the database."""
        return self.server.execute(statement, self.database)

    def end_connections(self, server: RunningPostgres | None = None) -> int:
        """End the connections of all replicas in the database; return their number.

        *server* is the server of the connections, if it is not the default.
        """
        rows = (server or self.server).execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()",
            self.database,
        )
        return len(rows)

    def await_equality(self, *replicas: PostgresRegistry) -> None:
        """Wait until *replicas* have the same revision, and compare their contents."""
        wait_until(lambda: len({replica.revision for replica in replicas}) == 1)
        pages = [replica.page(None, None, 100_000, 1 << 40) for replica in replicas]
        assert pages.count(pages[0]) == len(pages)
