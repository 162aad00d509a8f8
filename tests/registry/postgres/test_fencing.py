"""Databases that come back older, or as others, at the address that servers connect to."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from threading import current_thread, main_thread
from typing import Any, TypeAlias

import pytest
from sidecheck_server.registry import RegistryOutcomeUnknown, RegistryUnusable
from sidecheck_server.registry.location import PostgresLocation
from sidecheck_server.registry.opening import open_registry
from sidecheck_server.registry.postgres.connection import Connection
from sidecheck_server.registry.postgres.registry import PostgresRegistry
from sidecheck_server.registry.postgres.steps import (
    Reconnected,
    RegistryEvent,
    RejectedDatabase,
    TermUnreadable,
    Unreachable,
)
from support.definitions import define_tool
from support.registry_replicas import Replicas, wait_until
from support.running_postgres import PostgresAddress, RunningPostgres, installed_binaries

A, B, C, D = map(define_tool, "abcd")

StartServer: TypeAlias = Callable[..., RunningPostgres]


def _is_older(replica: PostgresRegistry, age: float) -> bool:
    return replica.age_seconds > age


class Site:
    """Replicas that connect to an address, and the servers that it may lead to."""

    def __init__(self, binaries: Path, stack: ExitStack) -> None:
        self._binaries = binaries
        self._stack = stack
        self.first = self.start()
        self.replicas = Replicas(self.first, stack)
        self.database = self.replicas.database
        self._address = PostgresAddress(self.first)
        self.replicas.location = PostgresLocation(self._address.uri(self.database))

    def start(self, **options: Any) -> RunningPostgres:
        """Start a server."""
        server = RunningPostgres(self._binaries, **options)
        self._stack.callback(server.close)
        return server

    def start_standby(self, source: RunningPostgres) -> RunningPostgres:
        """Start a standby that has what *source* has."""
        standby = self.start(source=source, is_standby=True)
        wait_until(lambda: self.revision(standby) == self.revision(source))
        return standby

    def revision(self, server: RunningPostgres) -> int:
        """Return the revision of the registry at *server*."""
        [(revision,)] = server.execute("SELECT revision FROM sidecheck.meta", self.database)
        return int(revision)

    def move(self, before: RunningPostgres, after: RunningPostgres) -> None:
        """Let the address lead to *after*, and end the connections to *before*."""
        self._address.lead_to(after)
        self.replicas.end_connections(before)

    def count(self, kind: type[RegistryEvent]) -> int:
        """Return how many events of *kind* the replicas have reported."""
        return [type(event) for event in self.replicas.events].count(kind)

    def check_rejected(self, replicas: list[PostgresRegistry], message: str) -> None:
        """Check that *replicas* refuse their database, as *message* says, and serve what it had."""
        revisions = [(replica.revision, replica.count()) for replica in replicas]
        wait_until(lambda: self.count(RejectedDatabase) == len(replicas))
        for event in self.replicas.events:
            if isinstance(event, RejectedDatabase):
                assert message in event.detail
        for replica in replicas:
            with pytest.raises(RegistryUnusable, match=message) as raised:
                replica.register("refused", [D], keep=None)
            assert "restart all servers to accept this one" in raised.value.fault
            age = replica.age_seconds
            wait_until(partial(_is_older, replica, age))
        assert revisions == [(replica.revision, replica.count()) for replica in replicas]

    def check_recovered(self, *replicas: PostgresRegistry) -> None:
        """Check that *replicas* write again, each of them, and that none was set back."""
        wait_until(lambda: self.count(Reconnected) == len(replicas))
        expected = {binding.name for binding in replicas[0].page(None, None, 99, 1 << 20)[0]}
        for number, replica in enumerate(replicas):
            tool = define_tool(f"recovered{number}")
            replica.register("s", [tool], keep=None)
            expected.add(tool.name)
            names = {binding.name for binding in replica.page(None, None, 99, 1 << 20)[0]}
            assert names == expected
        self.replicas.await_equality(*replicas)
        assert [0] * len(replicas) == [replica.reloads for replica in replicas]


@pytest.fixture(params=installed_binaries())
def site(request: pytest.FixtureRequest) -> Iterator[Site]:
    """Return a site of each PostgreSQL that is installed."""
    with ExitStack() as stack:
        yield Site(installed_binaries()[request.param], stack)


def write_elsewhere(server: RunningPostgres, database: str, revision: int) -> None:
    """Register tools at *server* by a replica that has seen no other, until *revision*."""
    replica = open_registry(PostgresLocation(server.uri(database)))
    while replica.revision < revision:
        replica.register("elsewhere", [define_tool(f"t{replica.revision}")], keep=None)
    replica.close()


@pytest.mark.parametrize("revision", [1, 9])
def test_a_former_primary(site: Site, revision: int) -> None:
    """It is rejected, even after writes to it, until the promoted primary is back."""
    replica, second_replica = site.replicas.open(), site.replicas.open()
    replica.register("s", [A], keep=None)
    standby = site.start_standby(site.first)
    site.first.kill()
    standby.promote()
    site.move(standby, standby)
    wait_until(lambda: site.count(Reconnected) == 2)
    for tool in (B, C):
        second_replica.register("s", [tool], keep=None)
    site.replicas.await_equality(replica, second_replica)
    site.replicas.events.clear()

    site.first.start()
    write_elsewhere(site.first, site.database, revision)
    site.move(standby, site.first)
    site.check_rejected(
        [replica, second_replica], "is on timeline 1, and this server has seen timeline 2"
    )
    assert site.revision(site.first) == revision
    site.move(site.first, standby)

    site.check_recovered(replica, second_replica)
    assert {"a", "b", "c"} < {binding.name for binding in second_replica.page("s", None, 9, 999)[0]}


def test_a_connection_that_stayed_at_a_former_primary(site: Site) -> None:
    """It is replaced once another replica has seen the promoted primary."""
    replica = site.replicas.open()
    replica.register("s", [A], keep=None)
    standby = site.start_standby(site.first)
    standby.promote()
    site._address.lead_to(standby)

    # That of the follower, which listens.
    def has_followed() -> bool:
        # The connection of the follower is the one whose last statement is not a write.
        site.first.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN%'"
            " OR query LIKE '%pg_walfile_name%' AND query NOT LIKE '%FOR UPDATE%'"
            " AND pid <> pg_backend_pid()"
        )
        return replica._fence._seen.timeline == 2

    wait_until(has_followed)
    replica.register("s", [B], keep=None)

    assert (1, 2) == (site.revision(site.first), site.revision(standby))
    assert replica.revision == 2


def test_a_write_at_a_primary_that_is_replaced_meanwhile(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is not acknowledged: the promoted primary lacks it."""
    replica = site.replicas.open()
    replica.register("s", [A], keep=None)
    standby = site.start_standby(site.first)
    standby.execute("SELECT pg_wal_replay_pause()")
    execute = Connection.execute

    def replace_and_commit(self: Connection, query: Any, *values: Any, **options: Any) -> Any:
        if query == "COMMIT" and current_thread() is main_thread():  # not that of the follower
            standby.promote()
            site._address.lead_to(standby)
            follower = replica._follower._connection
            assert follower is not None
            follower.cancel_safe()
            site.first.execute(f"SELECT pg_terminate_backend({follower.info.backend_pid})")
            wait_until(lambda: replica._fence._seen.timeline == 2)
        return execute(self, query, *values, **options)

    with monkeypatch.context() as patch:
        patch.setattr(Connection, "execute", replace_and_commit)
        with pytest.raises(RegistryOutcomeUnknown, match="was replaced by a later primary"):
            replica.register("s", [B], keep=None)

    assert (2, 1, 1) == (site.revision(site.first), site.revision(standby), replica.revision)
    assert replica.register("s", [B], keep=None).revision == 2
    assert site.revision(standby) == 2


def test_a_standby_has_no_timeline(site: Site) -> None:
    """It is read at the start, and is read-only; once it is promoted, it is written."""
    writer = site.replicas.open()
    writer.register("s", [A], keep=None)
    standby = site.start_standby(site.first)
    site.move(site.first, standby)
    replica = site.replicas.open()
    assert replica.count() == 1
    for registry in (writer, replica):
        with pytest.raises(RegistryUnusable, match="is read-only, by its settings or as a standby"):
            registry.register("s", [B], keep=None)
    wait_until(lambda: site.count(Unreachable) == 2)
    standby.promote()

    site.check_recovered(writer, replica)
    assert site.count(RejectedDatabase) == 0


def test_another_cluster(site: Site) -> None:
    """It is rejected, though it has the same registry at the same revision."""
    replica, second_replica = site.replicas.open(), site.replicas.open()
    replica.register("s", [A], keep=None)
    site.replicas.await_equality(replica, second_replica)
    cluster = site.start()
    assert cluster.create_database(is_migrated=False) == site.database
    dump = cluster.folder / "dump"
    dump.write_bytes(site.first.run("pg_dump", "-Fc", "-d", site.first.uri(site.database)))
    cluster.run("pg_restore", "-d", cluster.uri(site.database), str(dump))
    assert site.revision(cluster) == 1

    site.move(site.first, cluster)
    site.check_rejected(
        [replica, second_replica], "belongs to another PostgreSQL cluster than this server has seen"
    )
    site.move(cluster, site.first)

    site.check_recovered(replica, second_replica)


@pytest.mark.parametrize(
    ("revision", "message"),
    [
        pytest.param(1, "is at revision 1, and this server has seen revision 3", id="older"),
        pytest.param(3, "has another change of revision 3 than this server has seen", id="as old"),
        pytest.param(
            6, "has another change of revision 3 than this server has seen", id="written since"
        ),
    ],
)
@pytest.mark.parametrize("reads_term", [True, False])
def test_a_restored_copy(site: Site, revision: int, message: str, *, reads_term: bool) -> None:
    """It is rejected: it lacks the last seen change, on any timeline."""
    if not reads_term:
        forbid_terms(site)
    replica, second_replica = site.replicas.open(), site.replicas.open()
    replica.register("s", [A], keep=None)
    copy = site.start(source=site.first)
    for tool in (B, C):
        replica.register("s", [tool], keep=None)
    site.replicas.await_equality(replica, second_replica)
    write_elsewhere(copy, site.database, revision)

    site.move(site.first, copy)
    site.check_rejected([replica, second_replica], message)
    site.move(copy, site.first)

    site.check_recovered(replica, second_replica)


def forbid_terms(site: Site) -> str:
    """Let the replicas of *site* have a role without the functions of the term; return it."""
    role = f"limited_{site.database}"
    site.replicas.execute(f"CREATE ROLE {role} LOGIN; GRANT USAGE ON SCHEMA sidecheck TO {role}")
    site.replicas.execute(f"GRANT ALL ON ALL TABLES IN SCHEMA sidecheck TO {role}")
    for function in ("pg_control_system()", "pg_walfile_name(pg_lsn)"):
        site.replicas.execute(f"REVOKE EXECUTE ON FUNCTION {function} FROM PUBLIC")
    uri = site.replicas.location.uri.replace("postgres@", f"{role}@")
    site.replicas.location = PostgresLocation(uri)
    return role


def test_a_role_without_rights(site: Site) -> None:
    """Each server reports the missing grants once at its start, and otherwise works."""
    role = forbid_terms(site)
    replica = site.replicas.open()
    replica.register("s", [A], keep=None)
    functions = ("pg_control_system()", "pg_walfile_name(pg_lsn)")
    assert site.replicas.events == [TermUnreadable(functions)]

    site.replicas.execute(f"GRANT EXECUTE ON FUNCTION {functions[0]} TO {role}")
    second_replica = site.replicas.open()
    assert site.replicas.events[1:] == [TermUnreadable(functions[1:])]
    site.replicas.execute(f"GRANT EXECUTE ON FUNCTION {functions[1]} TO {role}")
    last = site.replicas.open()
    last.register("s", [B], keep=None)

    site.replicas.await_equality(replica, second_replica, last)
    assert len(site.replicas.events) == 2
