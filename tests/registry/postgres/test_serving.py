"""A service on PostgreSQL: how it starts, with several processes, and a commit that is lost."""

import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import psycopg
import pytest
from sidecheck import Client, SidecheckError
from sidecheck_server.config.settings import Settings
from sidecheck_server.registry.postgres.connection import Connection
from sidecheck_server.registry.postgres.migration import LAYOUT
from sidecheck_server.server.service import running_service
from support.registry_fleet import CALL_SECONDS, Fleet, Writers
from support.registry_replicas import wait_until
from support.running_postgres import RunningPostgres, installed_binaries

_MIGRATE = "sidecheck registry migrate --registry postgresql:///"

TOOL = {"name": "a", "inputSchema": {"type": "object"}}


@pytest.fixture(scope="module", params=installed_binaries())
def each_postgres(request: pytest.FixtureRequest) -> Iterator[RunningPostgres]:
    """Return a server of each PostgreSQL that is installed, which tests may kill."""
    running = RunningPostgres(installed_binaries()[request.param], is_durable=True)
    yield running
    running.close()


def test_a_server_does_not_start_on_tables_of_another_layout(
    each_postgres: RunningPostgres,
) -> None:
    """The error is one sentence with a remedy."""
    databases = [each_postgres.create_database(is_migrated=number > 0) for number in range(3)]
    for database, change in zip(databases[1:], ("- 1", "+ 1"), strict=True):
        each_postgres.execute(
            f"UPDATE sidecheck.schema_version SET version = version {change}", database
        )

    def serve(database: str) -> tuple[int, str]:
        flags = ("--listen", "127.0.0.1:0", "--registry", each_postgres.uri(database))
        done = subprocess.run(
            [sys.executable, "-m", "sidecheck_server", "serve", *flags],
            capture_output=True,
            text=True,
            check=False,
        )
        return done.returncode, done.stderr

    with ThreadPoolExecutor() as threads:
        ends = list(threads.map(serve, databases))
    faults = (
        f"no registry yet; run `{_MIGRATE}{databases[0]}`",
        (
            f"a registry of layout {LAYOUT - 1}, and this release needs layout {LAYOUT}; "
            f"run `{_MIGRATE}{databases[1]}`"
        ),
        (
            f"a registry of layout {LAYOUT + 1}, and this release reads layout {LAYOUT}; use the "
            "release that migrated it, or a later one"
        ),
    )

    assert ends == [
        (1, f"Error: postgresql:///{database} has {fault}\n")
        for database, fault in zip(databases, faults, strict=True)
    ]


def test_several_processes_follow(each_postgres: RunningPostgres, tmp_path: Path) -> None:
    """They follow changes of another server, also after the database was killed."""
    with closing(Fleet(each_postgres, tmp_path, [(), ("--processes", "2")])) as fleet:
        writers = Writers(fleet)
        writers.go_on()
        each_postgres.kill()
        fleet.await_age(2)
        fleet.check_health()
        wait_until(lambda: len(writers.errors) >= 4)
        each_postgres.start()
        writers.seconds_until_equal()
        acknowledged = writers.finish()

        def served() -> set[tuple[str, str]]:
            with fleet.client(1) as client:
                return {(tool.server, tool.name) for tool in client.list()}

        # The system gives connections to processes at random: 16 miss one in 32,768 runs.
        for _ in range(16):
            wait_until(lambda: served() == acknowledged)
        assert {(tool.server, tool.name) for tool in fleet.listed()} == acknowledged
    assert {error.reason for error in writers.errors} == {"REGISTRY_UNUSABLE"}


@pytest.mark.parametrize("is_made", [True, False])
@pytest.mark.parametrize("deletes", [True, False])
async def test_an_unknown_outcome_is_reported_to_the_caller(
    each_postgres: RunningPostgres, monkeypatch: pytest.MonkeyPatch, *, deletes: bool, is_made: bool
) -> None:
    """The database is killed at a commit; the caller may repeat the change."""
    location = each_postgres.uri(each_postgres.create_database())
    settings = Settings.model_validate(
        {"listen": "127.0.0.1:0", "workers": 1, "registry": location}
    )
    execute = Connection.execute
    losses = 0

    def lose(self: Connection, query: Any, *values: Any, **options: Any) -> Any:
        nonlocal losses
        if query != "COMMIT" or execute(self, "SHOW transaction_read_only").fetchone() == ("on",):
            return execute(self, query, *values, **options)  # or of the follower
        if is_made:
            execute(self, query)
        losses += 1
        each_postgres.kill()
        self.close()
        raise psycopg.OperationalError("connection lost")

    async with (
        running_service(settings) as server,
        Client(server.addresses[0], timeout=CALL_SECONDS) as client,
    ):

        async def change() -> list[str]:
            if deletes:
                return list((await client.delete("s", ["a"])).deleted)
            return [outcome.action for outcome in (await client.register("s", [TOOL])).outcomes]

        if deletes:
            await client.register("s", [TOOL])
        with monkeypatch.context() as patch:
            patch.setattr(Connection, "execute", lose)
            with pytest.raises(SidecheckError, match="it is unknown whether") as raised:
                await change()
        each_postgres.start()
        repeated: list[str] | None = None
        while repeated is None:
            with suppress(SidecheckError):  # until the follower is connected again
                repeated = await change()
        listed = [tool.name async for tool in client.list()]
        revision = (await client.info()).registry_revision

    error = raised.value
    assert (error.reason, error.status.name) == ("REGISTRY_UNUSABLE", "UNAVAILABLE")
    assert error.metadata == {"outcome": "unknown"}
    # The client of gRPC did not try again, and learn that nothing has changed.
    assert losses == 1
    effects = (["a"], []) if deletes else (["created"], ["unchanged"])
    assert repeated == effects[is_made]
    assert (listed, revision) == (([], 2) if deletes else (["a"], 1))
