"""Registries whose database is away, slow, set back or damaged, while they run."""

import signal
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from threading import current_thread, main_thread
from typing import Any

import psycopg
import pytest
from sidecheck_server.registry import RegistryOutcomeUnknown, RegistryUnusable
from sidecheck_server.registry.definitions import Definition
from sidecheck_server.registry.postgres import connection
from sidecheck_server.registry.postgres.connection import Connection
from sidecheck_server.registry.postgres.registry import PostgresRegistry
from sidecheck_server.registry.postgres.steps import Reconnected, RejectedDatabase, Unreachable
from support.definitions import define_tool
from support.registry_replicas import Replicas, wait_until
from support.running_postgres import RunningPostgres, installed_binaries

A, B, C = map(define_tool, "abc")


def kinds(replicas: Replicas) -> list[type[object]]:
    return [type(event) for event in replicas.events]


@pytest.fixture(scope="module")
def fragile_postgres() -> Iterator[RunningPostgres]:
    """Return a server that tests may kill, and start again."""
    running = RunningPostgres(installed_binaries()["wheel"])
    yield running
    running.close()


@pytest.fixture
def fragile(fragile_postgres: RunningPostgres) -> Iterator[Replicas]:
    """Return the replicas of that server."""
    with ExitStack() as stack:
        yield Replicas(fragile_postgres, stack)


def test_connections_that_the_database_ends_are_replaced(replicas: Replicas) -> None:
    """No write fails, no change is missed, and nothing stays unreachable."""
    writer, follower = replicas.open(), replicas.open()
    for number in range(5):
        assert replicas.end_connections() >= 2
        writer.register("s", [define_tool(f"t{number}")], keep=None)
        replicas.await_equality(writer, follower)

    replicas.await_equality(writer, follower)
    # A connection that was ended again while it was being made may have been reported.
    event_kinds = kinds(replicas)
    wait_until(lambda: kinds(replicas).count(Unreachable) == kinds(replicas).count(Reconnected))
    assert set(event_kinds) <= {Unreachable, Reconnected}


def test_a_database_that_is_killed(fragile: Replicas) -> None:
    """Reads go on, writes fail at once and change nothing; all catch up when it is back."""
    replica, second_replica = fragile.open(), fragile.open()
    replica.register("s", [A], keep=None)
    fragile.server.kill()
    with pytest.raises(RegistryUnusable, match="cannot be reached") as raised:
        replica.register("s", [B], keep=None)
    assert type(raised.value) is RegistryUnusable
    wait_until(lambda: kinds(fragile).count(Unreachable) == 2)
    with pytest.raises(RegistryUnusable, match="cannot be reached"):
        replica.delete("s", None)
    assert (1, 1, A) == (
        replica.revision,
        replica.count(),
        replica.page("s", None, 9, 999)[0][0].definition,
    )
    age = replica.age_seconds
    wait_until(lambda: replica.age_seconds > max(age, 1.5))
    age = replica.age_seconds

    fragile.server.start()
    wait_until(lambda: kinds(fragile).count(Reconnected) == 2)
    second_replica.register("s", [C], keep=None)
    fragile.await_equality(replica, second_replica)
    assert (2, 2) == (replica.revision, replica.count())
    wait_until(lambda: replica.age_seconds < age)
    assert kinds(fragile).count(Unreachable) == 2


def test_a_stopped_database_makes_calls_fail(
    fragile: Replicas, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The kernel still acknowledges packets for the stopped processes."""
    monkeypatch.setattr(Connection, "answer_seconds", 0.7)
    monkeypatch.setattr(connection, "_CONNECT_SECONDS", 2)
    replica, second_replica = fragile.open(), fragile.open()
    replica.register("s", [A], keep=None)
    wait_until(lambda: second_replica.revision == 1)
    with fragile.server.paused():
        with pytest.raises(RegistryUnusable, match="does not answer"):
            replica.register("s", [B], keep=None)
        wait_until(lambda: kinds(fragile).count(Unreachable) == 2)
        wait_until(lambda: replica.age_seconds > 0.7)
        assert replica.find("s", "a") is not None
    wait_until(lambda: kinds(fragile).count(Reconnected) == 2)
    replica.register("s", [C], keep=None)

    fragile.await_equality(replica, second_replica)
    assert [A, C] == [tool.definition for tool in second_replica.page("s", None, 9, 999)[0]]


def lose_answer(
    monkeypatch: pytest.MonkeyPatch, before: Callable[[Connection], None], *, commits: bool
) -> None:
    """Let the next commit, if it *commits* at all, have no answer, after *before*."""
    execute = Connection.execute
    is_lost: list[bool] = []

    def lossy(self: Connection, query: Any, *values: Any, **options: Any) -> Any:
        if query != "COMMIT" or is_lost or self.info.transaction_status.name != "INTRANS":
            return execute(self, query, *values, **options)
        if execute(self, "SHOW transaction_read_only").fetchone() == ("on",):
            return execute(self, query, *values, **options)  # of a follower
        is_lost.append(True)
        before(self)
        if commits:
            execute(self, query)
        self.close()
        raise psycopg.OperationalError("connection lost")

    monkeypatch.setattr(Connection, "execute", lossy)


def test_a_commit_whose_answer_is_lost_has_happened(
    replicas: Replicas, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The database knows its outcome, so it is acknowledged, and made once."""
    replica, second_replica = replicas.open(), replicas.open()
    lose_answer(monkeypatch, lambda _: None, commits=True)
    assert replica.register("s", [A], keep=None).revision == 1
    replica.register("s", [B], keep=None)

    replicas.await_equality(replica, second_replica)
    assert [1, 2] == [change.revision for change in replicas.changes[replica]]


def test_a_commit_that_was_lost_has_not_happened(
    replicas: Replicas, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The registry is unchanged, and the error says so."""
    replica = replicas.open()
    lose_answer(monkeypatch, lambda _: None, commits=False)
    with pytest.raises(RegistryUnusable) as raised:
        replica.register("s", [A], keep=None)

    assert type(raised.value) is RegistryUnusable
    assert replica.register("s", [B], keep=None).revision == 1
    assert replicas.execute("SELECT count(*) FROM sidecheck.tool") == [(1,)]


def test_a_commit_whose_outcome_cannot_be_known(
    fragile: Replicas, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error says that it is unknown; reads show it once the database is back."""
    replica = fragile.open()
    execute = Connection.execute

    def commit_and_kill(self: Connection, query: Any, *values: Any, **options: Any) -> Any:
        result = execute(self, query, *values, **options)
        if query == "COMMIT" and current_thread() is main_thread():  # not that of the follower
            fragile.server.kill()
            self.close()
            raise psycopg.OperationalError("connection lost")
        return result

    with monkeypatch.context() as patch:
        patch.setattr(Connection, "execute", commit_and_kill)
        with pytest.raises(RegistryOutcomeUnknown, match="while it made the change durable"):
            replica.register("s", [A], keep=None)
    wait_until(lambda: Unreachable in kinds(fragile))
    fragile.server.start()
    # The follower may have seen it before the database was killed.
    wait_until(lambda: replica.revision == 1 and replica._follower.fault is None)

    assert replica.register("s", [A], keep=None).revision == 1
    assert [1] == [change.revision for change in fragile.changes[replica]]


def test_another_writer_that_does_not_end(replicas: Replicas) -> None:
    """Writes fail after a timeout; reads of the replicas are not affected."""
    replica, second_replica = replicas.open(), replicas.open()
    with replicas.server.connect(replicas.database) as holding:
        holding.execute("BEGIN")
        holding.execute("SELECT * FROM sidecheck.meta FOR UPDATE")
        with pytest.raises(RegistryUnusable, match="is locked by writes of other servers"):
            replica.register("s", [A], keep=None)
        holding.execute("ROLLBACK")
    replica.register("s", [A], keep=None)

    replicas.await_equality(replica, second_replica)
    assert replicas.events == []


def test_a_write_that_is_interrupted(replicas: Replicas) -> None:
    """Ctrl-C interrupts a command: nothing has changed, and the next write succeeds."""
    replica = replicas.open()
    with replicas.server.connect(replicas.database) as holding, ThreadPoolExecutor(1) as threads:
        holding.execute("BEGIN")
        holding.execute("SELECT * FROM sidecheck.meta FOR UPDATE")
        waiting = (
            "SELECT pid FROM pg_stat_activity"
            " WHERE wait_event_type = 'Lock' AND datname = current_database()"
        )

        def interrupt() -> None:
            wait_until(lambda: replicas.execute(waiting))
            signal.pthread_kill(main_thread().ident or 0, signal.SIGINT)

        interrupting = threads.submit(interrupt)
        with pytest.raises(KeyboardInterrupt):
            replica.register("s", [A], keep=None)
        interrupting.result()
        holding.execute("ROLLBACK")

    assert replica.register("s", [B], keep=None).revision == 1


def test_a_database_that_is_set_back(fragile: Replicas) -> None:
    """Servers that have seen later revisions reject it until their next start."""
    replica, second_replica = fragile.open(), fragile.open()
    replica.register("s", [A], keep=None)
    dump = fragile.server.run("pg_dump", "-Fc", "-d", fragile.server.uri(fragile.database))
    (fragile.server.folder / "dump").write_bytes(dump)
    replica.register("s", [B], keep=None)
    replica.register("t", [B], keep=None)
    fragile.await_equality(replica, second_replica)
    fragile.server.run(
        *("pg_restore", "--clean", "--single-transaction"),
        *("-d", fragile.server.uri(fragile.database), str(fragile.server.folder / "dump")),
    )
    wait_until(lambda: kinds(fragile).count(RejectedDatabase) == 2)
    for opened in (replica, second_replica):
        with pytest.raises(
            RegistryUnusable, match="is at revision 1, and this server has seen revision 3"
        ):
            opened.register("u", [C], keep=None)
        assert (3, 3) == (opened.count(), opened.revision)

    started = fragile.open()
    assert started.register("u", [C], keep=None).revision == 2
    assert started.count() == 2
    assert (3, 0) == (replica.count(), replica.reloads)


@pytest.mark.parametrize(
    ("times", "is_written"), [pytest.param(1, True, id="twice"), pytest.param(99, False, id="on")]
)
def test_a_history_that_ends_while_it_is_read(
    replicas: Replicas, monkeypatch: pytest.MonkeyPatch, times: int, is_written: bool
) -> None:
    """A write reads it again, and then fails; it is never made on what reads do not see."""
    replica = replicas.open()
    replica.register("s", [A], keep=None)
    forget = (
        "UPDATE sidecheck.meta SET revision = revision + 2, change_id = gen_random_uuid();"
        "DELETE FROM sidecheck.change"
    )
    reload = PostgresRegistry._reload
    left = [*range(times)]

    def reload_and_forget(self: PostgresRegistry, connection: Connection) -> None:
        reload(self, connection)
        if left:
            left.pop()
            replicas.execute(forget)

    with monkeypatch.context() as patch:
        patch.setattr(PostgresRegistry, "_reload", reload_and_forget)
        with replica._exclusively():
            replicas.execute(forget)
        if is_written:
            assert replica.register("s", [B], keep=None).revision == 6
            assert replica.find("s", "b") is not None
        else:
            with pytest.raises(RegistryUnusable, match="keeps too little history to be followed"):
                replica.register("s", [B], keep=None)
    replica.register("s", [C], keep=None)
    replicas.await_equality(replica, replicas.open())


def test_a_definition_that_is_not_that_of_its_digest(replicas: Replicas) -> None:
    """It is not followed, and no server starts with it."""
    writer, follower = replicas.open(), replicas.open()
    writer.register("s", [A], keep=None)
    wait_until(lambda: follower.revision == 1)
    writer.register("s", [Definition("sha256:0", "b", B.json, (), "in", None, "")], keep=None)
    wait_until(lambda: Unreachable in kinds(replicas))
    [event] = replicas.events

    assert isinstance(event, Unreachable)
    assert "is damaged: a definition of revision 2 does not have the digests" in event.detail
    assert follower.revision == 1
    with pytest.raises(RegistryUnusable, match="is damaged"):
        follower.register("s", [C], keep=None)
    with pytest.raises(RegistryUnusable, match="is damaged"):
        replicas.open()
