"""Three servers on a database, under writers, while parts of them are killed or stopped.

After each fault, no registration that was acknowledged is lost, and all servers list the same.
A report of ``--junitxml`` in the family xunit1 has figures: how long that took, how many
registrations were acknowledged, and how many failed.
"""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TypeAlias

import pytest
from support.registry_fleet import CALL_SECONDS, Fleet, Writers
from support.registry_replicas import wait_until
from support.running_postgres import PostgresAddress, RunningPostgres, installed_binaries
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
    """Servers serve their copy, report its age, and catch up later."""
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
    """Writers continue at other servers, and the restarted server has all tools."""
    fleet.kill(1)
    writers.go_on(10)
    fleet.restart(1)

    check(fleet, writers, record, "UNAVAILABLE", "DEADLINE_EXCEEDED")
    assert writers.errors


def test_connections_are_ended(fleet: Fleet, writers: Writers, record: Record) -> None:
    """Connections of listeners and of writers are ended repeatedly."""
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
    """All its processes stop for ten seconds, while the kernel acknowledges packets."""
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
    """Servers reject it until their restart, and then have equal contents."""
    uri = fleet.postgres.uri(fleet.database)
    dump = fleet.postgres.folder / "fleet.dump"
    dump.write_bytes(fleet.postgres.run("pg_dump", "-Fc", "-d", uri))
    writers.go_on(10)
    script = dump.with_suffix(".sql")
    script.write_bytes(fleet.postgres.run("pg_restore", "--clean", "--file=-", str(dump)))
    page = (REPOSITORY / "docs" / "operations" / "postgres.md").read_text()
    lock = page.split("--command='")[1].split("'")[0]
    fleet.postgres.run(
        *("psql", "--single-transaction", "--set=ON_ERROR_STOP=1", f"--dbname={uri}"),
        *(f"--command={lock}", f"--file={script}"),
    )
    [(revision,)] = state = fleet.postgres.execute(
        "SELECT revision FROM sidecheck.meta", fleet.database
    )
    for server in fleet.servers:
        fault = f"is at revision {revision}, and this server has seen revision "
        assert fault in server.wait_for("registry.rejected")["detail"]
    wait_until(lambda: len(writers.errors) >= 3)
    fleet.check_health()
    served: set[tuple[str, str]] = set()  # the last ones may be at their own server alone
    for number in range(len(fleet.servers)):
        with fleet.client(number) as client:
            served.update((tool.server, tool.name) for tool in client.list())
    assert {tool for written in writers.acknowledged for tool in tuple(written)} <= served
    assert fleet.postgres.execute("SELECT revision FROM sidecheck.meta", fleet.database) == state
    restored = [len(written) for written in writers.acknowledged]

    for number in range(len(fleet.servers)):
        fleet.kill(number)
    for number in range(len(fleet.servers)):
        fleet.restart(number)
    record("seconds until equal", writers.seconds_until_equal())
    acknowledged = writers.finish()
    listed = {(tool.server, tool.name) for tool in fleet.listed()}
    after = {
        tool
        for written, length in zip(writers.acknowledged, restored, strict=True)
        for tool in written[length:]
    }

    record("acknowledged", len(acknowledged))
    record("gone with the backup", len(acknowledged - listed))
    record("errors", len(writers.errors))
    assert after <= listed <= acknowledged
    assert acknowledged - listed
    reasons = {"REGISTRY_UNUSABLE", "UNAVAILABLE", "DEADLINE_EXCEEDED"}
    assert {error.reason for error in writers.errors} <= reasons
    fleet.await_no_age()


@pytest.mark.parametrize("binaries", installed_binaries())
def test_a_former_primary_comes_back(binaries: str, tmp_path: Path, record: Record) -> None:
    """It returns at the address after a promotion: nothing is lost or added."""
    with ExitStack() as stack:
        former = RunningPostgres(installed_binaries()[binaries], is_durable=True)
        stack.callback(former.close)
        address = PostgresAddress(former)
        fleet = Fleet(former, tmp_path, [()] * 3, address)
        stack.callback(fleet.close)
        writers = Writers(fleet)
        writers.go_on()
        primary = RunningPostgres(
            installed_binaries()[binaries], is_durable=True, source=former, is_standby=True
        )
        stack.callback(primary.close)
        wait_until(lambda: former.execute("SELECT 1 FROM pg_stat_replication"))
        former.replicate_synchronously(is_on=True)
        writers.go_on()
        former.kill()
        primary.promote()
        address.lead_to(primary)
        writers.go_on()

        former.replicate_synchronously(is_on=False)
        former.start()
        state = "SELECT revision, change_id FROM sidecheck.meta"
        before = former.execute(state, fleet.database)
        address.lead_to(former)
        primary.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()",
            fleet.database,
        )
        for server in fleet.servers:
            fault = "is on timeline 1, and this server has seen timeline 2"
            assert fault in server.wait_for("registry.rejected")["detail"]
        refused = len(writers.errors) + 3
        wait_until(lambda: len(writers.errors) >= refused)
        fleet.await_age(3)
        fleet.check_health()
        assert former.execute(state, fleet.database) == before
        address.lead_to(primary)

        check(fleet, writers, record, "REGISTRY_UNUSABLE")
        assert any(fault in str(error) for error in writers.errors)
