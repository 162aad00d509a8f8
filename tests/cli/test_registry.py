"""`sidecheck registry`: migrations and states of real databases and files."""

import json
import os
import re
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from sidecheck_server.cli import sidecheck
from sidecheck_server.registry.postgres.migration import LAYOUT
from sidecheck_server.registry.sqlite import open_registry
from support.definitions import define_tool
from support.registry_replicas import Replicas, wait_until
from support.running_postgres import RunningPostgres, installed_binaries

A, B = map(define_tool, "ab")


def run(*words: str, **environment: str) -> Result:
    """Run the command here; an exception of its own is the test's."""
    return CliRunner().invoke(
        sidecheck, ["registry", *words], env=environment, catch_exceptions=False
    )


def outcome_of(*words: str, **environment: str) -> tuple[int, str, str]:
    """Return how the command exits and what it says."""
    result = run(*words, **environment)
    return result.exit_code, result.stdout, result.stderr


@pytest.mark.parametrize("installation", sorted(installed_binaries()))
def test_a_database_is_migrated_once(installation: str) -> None:
    """The second time, nothing is to be done."""
    postgres = RunningPostgres(installed_binaries()[installation])
    try:
        database = postgres.create_database(is_migrated=False)
        uri = postgres.uri(database)
        migrated = outcome_of("migrate", "--registry", uri)
        before = postgres.execute("SELECT epoch, revision FROM sidecheck.meta", database)
        again = outcome_of("migrate", "--registry", uri)

        assert (0, f"layout {LAYOUT}: migrated from an empty database\n", "") == migrated
        assert (0, f"layout {LAYOUT}: nothing to migrate\n", "") == again
        assert before == postgres.execute("SELECT epoch, revision FROM sidecheck.meta", database)
    finally:
        postgres.close()


def test_two_migrations_at_once(postgres: RunningPostgres) -> None:
    """The one waits for the other; both succeed, and the tables are made once."""
    database = postgres.create_database(is_migrated=False)
    command = [sys.executable, "-m", "sidecheck_server", "registry", "migrate"]
    waiting = (
        "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted AND database ="
        " (SELECT oid FROM pg_database WHERE datname = current_database())"
    )
    with postgres.connect(database) as holding:
        holding.execute("SELECT pg_advisory_lock(x'53635267'::bigint)")
        started = [
            subprocess.Popen(
                command,
                env={**os.environ, "SIDECHECK_REGISTRY": postgres.uri(database)},
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
            )
            for _ in range(2)
        ]
        try:
            wait_until(lambda: postgres.execute(waiting, database) == [(2,)])
        except AssertionError:
            for process in started:
                process.kill()
            raise
    outcomes = [(process.communicate()[0], process.returncode) for process in started]

    expected = f"layout {LAYOUT}: migrated from an empty database\n".encode()
    assert [(expected, 0)] * 2 == outcomes
    assert [(LAYOUT,)] == postgres.execute(
        "SELECT count(*) FROM sidecheck.schema_version", database
    )


def test_the_status_of_a_database(replicas: Replicas) -> None:
    """Servers may use it at the same time; the JSON has all fields."""
    writer = replicas.open()
    writer.register("s", [A, B], keep=None)
    writer.delete("s", ["a"])
    writer.register("t", [A], keep=None)
    location = ("--registry", replicas.location.uri)
    [(epoch,)] = replicas.execute("SELECT epoch FROM sidecheck.meta")
    code, text, error = outcome_of("status", *location, SIDECHECK_REGISTRY_QUOTAS__TOOLS="1")
    content = json.loads(run("status", *location, "--format", "json").stdout)

    size = A.stored_size + B.stored_size
    assert content.pop("age_seconds") >= 0
    assert {
        "registry": str(replicas.location),
        "kind": "postgresql",
        "identity": f"layout {LAYOUT}, epoch {epoch}",
        "revision": 3,
        "history_since": 1,
        "tools": 2,
        "servers": 2,
        "bytes": size,
        "exceeded_quotas": [],
    } == content
    assert (
        0,
        (
            f"registry         {replicas.location}\n"
            "kind             postgresql\n"
            f"identity         layout {LAYOUT}, epoch {epoch}\n"
            "revision         3\n"
            "history since    1\n"
            "age seconds      …\n"
            "tools            2\n"
            "servers          2\n"
            f"bytes            {size}\n"
            "exceeded quotas  tools\n"
        ),
        "",
    ) == (code, re.sub(r"(?<=age seconds      )\d+\.\d+", "…", text), error)


def test_the_status_of_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file has no history."""
    monkeypatch.chdir(tmp_path)
    with closing(open_registry(tmp_path / "tools.db")) as registry:
        registry.register("s", [A, B], keep=None)

    assert (
        0,
        (
            "registry         tools.db\n"
            "kind             file\n"
            "identity         format 2\n"
            "revision         1\n"
            "history since    none\n"
            "age seconds      0.0\n"
            "tools            2\n"
            "servers          1\n"
            f"bytes            {A.stored_size + B.stored_size}\n"
            "exceeded quotas  none\n"
        ),
        "",
    ) == outcome_of("status", "--registry", "tools.db")
