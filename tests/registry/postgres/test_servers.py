"""Three servers on a database, under writers, while parts of them are killed or stopped.

After each fault, no registration that was acknowledged is lost, and all servers list the same.
A report of ``--junitxml`` in the family xunit1 has figures: how long that took, how many
registrations were acknowledged, and how many failed.
"""

from collections.abc import Callable, Iterator
from typing import TypeAlias

import pytest
from support.registry_fleet import CALL_SECONDS, Fleet, Writers
from support.registry_replicas import wait_until
from support.running_postgres import RunningPostgres, installed_binaries
from support.shared_material import REPOSITORY

Record: TypeAlias = Callable[[str, object], None]


@pytest.fixture(scope="module", params=installed_binaries())
def fleet(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Fleet]:
    """Return three servers on a database, of each PostgreSQL that is installed."""
    postgres = RunningPostgres(installed_binaries()[request.param], is_durable=True)
    try:
        fleet = Fleet(postgres, tmp_path_factory.mktemp("fleet"), [()] * 3)
        yield fleet
        fleet.close()
    finally:
        postgres.close()


@pytest.fixture
def record(request: pytest.FixtureRequest) -> Record:
    """Return a function that adds a figure to the report of the test."""
    return lambda name, value: request.node.user_properties.append((name, value))


@pytest.fixture
def writers(fleet: Fleet) -> Iterator[Writers]:
    """Return writers that have begun, on a registry that was empty; their tools are deleted."""
    writers = Writers(fleet)
    writers.go_on()
    yield writers
    writers.finish()
    with fleet.client(0) as client:
        for number in range(len(fleet.servers)):
            client.delete_all(f"s{number}", timeout=CALL_SECONDS)


def check(fleet: Fleet, writers: Writers, record: Record, *reasons: str) -> None:
    """Check that all servers have all that was acknowledged, and no more, once a fault is over.

    Calls that failed meanwhile had one of *reasons*.
    """
    record("seconds until equal", writers.seconds_until_equal())
    acknowledged = writers.finish()
    record("acknowledged", len(acknowledged))
    record("errors", len(writers.errors))
    listed = fleet.listed()

    assert acknowledged == {(tool.server, tool.name) for tool in listed}
    assert len(acknowledged) == len(listed) == len({tool.revision for tool in listed})
    assert {error.reason for error in writers.errors} <= set(reasons)
    assert {error.status.name for error in writers.errors} <= {"UNAVAILABLE"}
    fleet.await_no_age()


def test_the_database_is_killed(fleet: Fleet, writers: Writers, record: Record) -> None:
    """Servers serve what they have, say how old it is, and catch up when it is back."""
    fleet.postgres.kill()
    fleet.await_age(3)
    for server in fleet.servers:
        assert server.wait_for("registry.unreachable")["level"] == "warning"
    fleet.check_health()
    wait_until(lambda: len(writers.errors) >= 3)
    fleet.postgres.start()

    check(fleet, writers, record, "REGISTRY_UNUSABLE")
    for server in fleet.servers:
        assert server.wait_for("registry.reconnected")["seconds"] > 3


def test_a_server_is_killed(fleet: Fleet, writers: Writers, record: Record) -> None:
    """In the middle of writes; those go on at others, and it comes back with all of them."""
    fleet.kill(1)
    writers.go_on(10)
    fleet.restart(1)

    check(fleet, writers, record, "UNAVAILABLE", "DEADLINE_EXCEEDED")
    assert writers.errors


def test_connections_are_ended(fleet: Fleet, writers: Writers, record: Record) -> None:
    """Those of listeners and of writers alike, again and again."""
    for _ in range(10):
        writers.go_on(1)
        ended = fleet.postgres.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()",
            fleet.database,
        )
        assert len(ended) >= 3

    check(fleet, writers, record, "REGISTRY_UNUSABLE")


def test_the_database_is_stopped(fleet: Fleet, writers: Writers, record: Record) -> None:
    """With all its processes for ten seconds, while the kernel answers in their place."""
    with fleet.postgres.paused():
        fleet.await_age(11)
        wait_until(lambda: len(writers.errors) >= 3)
        for server in fleet.servers:
            server.wait_for("registry.unreachable")
        fleet.check_health()

    check(fleet, writers, record, "REGISTRY_UNUSABLE")
    for server in fleet.servers:
        while server.wait_for("registry.reconnected")["seconds"] < 10:
            pass  # of a fault before


def test_an_older_backup_is_restored(fleet: Fleet, writers: Writers, record: Record) -> None:
    """Under writers; what was registered since the backup is gone at every server alike."""
    before = {tool for written in writers.acknowledged for tool in tuple(written)}
    uri = fleet.postgres.uri(fleet.database)
    dump = fleet.postgres.folder / "fleet.dump"
    dump.write_bytes(fleet.postgres.run("pg_dump", "-Fc", "-d", uri))
    writers.go_on(10)
    lost = {tool for written in writers.acknowledged for tool in tuple(written)}
    script = dump.with_suffix(".sql")
    script.write_bytes(fleet.postgres.run("pg_restore", "--clean", "--file=-", str(dump)))
    page = (REPOSITORY / "docs" / "operations" / "postgres.md").read_text()
    lock = page.split("--command='")[1].split("'")[0]
    fleet.postgres.run(
        *("psql", "--single-transaction", "--set=ON_ERROR_STOP=1", f"--dbname={uri}"),
        *(f"--command={lock}", f"--file={script}"),
    )
    restored = [len(written) for written in writers.acknowledged]
    record("seconds until equal", writers.seconds_until_equal())
    for server in fleet.servers:
        server.wait_for("registry.reloaded")
    acknowledged = writers.finish()
    listed = {(tool.server, tool.name) for tool in fleet.listed()}
    # What was under way in the restore may have been acknowledged before it.
    after = {
        tool
        for written, count in zip(writers.acknowledged, restored, strict=True)
        for tool in written[count + 1 :]
    }

    record("acknowledged", len(acknowledged))
    record("gone with the backup", len(acknowledged - listed))
    record("errors", len(writers.errors))
    assert before | after <= listed <= acknowledged
    assert lost - listed
    for server in fleet.servers:
        [count] = server.series("sidecheck_registry_reloads_total").values()
        assert count >= 1
    assert {error.reason for error in writers.errors} <= {"REGISTRY_UNUSABLE"}
    fleet.await_no_age()
