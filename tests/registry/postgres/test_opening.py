"""Which databases a registry opens: layouts, migrations, rights, what errors say; and its end."""

import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import psycopg
import pytest
from sidecheck_server.registry import RegistryUnusable
from sidecheck_server.registry.location import PostgresLocation
from sidecheck_server.registry.opening import open_registry
from sidecheck_server.registry.postgres import migration
from sidecheck_server.registry.postgres.registry import PostgresRegistry
from sidecheck_server.registry.postgres.steps import Unreachable
from support.definitions import define_tool
from support.registry_replicas import Replicas, wait_until
from support.running_postgres import RunningPostgres
from support.shared_material import REPOSITORY

A, B = map(define_tool, "ab")
LAYOUT = migration.LAYOUT


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        pytest.param(
            "DROP SCHEMA sidecheck CASCADE",
            r"has no registry yet; run `sidecheck registry migrate --registry postgresql:///test\d+`",
            id="none",
        ),
        pytest.param(
            f"INSERT INTO sidecheck.schema_version VALUES ({LAYOUT + 1}, 'later')",
            f"has a registry of layout {LAYOUT + 1}, and this release reads layout {LAYOUT}; use",
            id="later",
        ),
        pytest.param(
            "UPDATE sidecheck.schema_version SET version = version - 1",
            f"has a registry of layout {LAYOUT - 1}, and this release needs layout {LAYOUT}; run "
            "`sidecheck registry migrate",
            id="older",
        ),
    ],
)
def test_tables_of_another_layout(replicas: Replicas, statement: str, message: str) -> None:
    """The start fails; a running server continues to read, and does not write."""
    running = replicas.open()
    running.register("s", [A], keep=None)
    is_changed = False
    while not is_changed:
        with suppress(psycopg.errors.DeadlockDetected):  # with a follower
            replicas.execute(statement)
            is_changed = True
    with pytest.raises(RegistryUnusable, match=message):
        replicas.open()
    with pytest.raises(RegistryUnusable):
        running.register("s", [B], keep=None)
    wait_until(lambda: Unreachable in map(type, replicas.events))

    assert running.count() == 1


def test_migrations_that_race(postgres: RunningPostgres) -> None:
    """Exactly one process runs each of them."""
    database = postgres.create_database(is_migrated=False)
    location = PostgresLocation(postgres.uri(database))
    with ThreadPoolExecutor(8) as threads:
        results = list(threads.map(migration.migrate, [location] * 8))

    assert {after for _, after in results} == {LAYOUT}
    assert postgres.execute("SELECT count(*) FROM sidecheck.schema_version", database) == [
        (LAYOUT,)
    ]
    assert migration.migrate(location) == (LAYOUT, LAYOUT)


@pytest.mark.parametrize("layout", range(LAYOUT))
def test_every_layout_can_be_migrated(postgres: RunningPostgres, layout: int) -> None:
    """The layouts are migrated one after the other, from none to the last."""
    database = postgres.create_database(is_migrated=False)
    location = PostgresLocation(postgres.uri(database))
    migration.migrate(location, layout)

    assert migration.migrate(location) == (layout, LAYOUT)
    opened = open_registry(location)
    assert opened.register("s", [A], keep=None).revision == 1
    opened.close()


def test_a_migration_that_fails_changes_nothing(
    postgres: RunningPostgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A database of a later release is not changed either."""
    database = postgres.create_database(is_migrated=False)
    location = PostgresLocation(postgres.uri(database))
    text = migration.migrations()[1][1] + "SELECT 1 / 0;"
    with monkeypatch.context() as patch:
        patch.setattr(migration, "migrations", lambda: {1: ("broken", text)})
        with pytest.raises(RegistryUnusable, match="division by zero"):
            migration.migrate(location)
    assert postgres.execute("SELECT to_regnamespace('sidecheck')", database) == [(None,)]
    migration.migrate(location)
    postgres.execute("INSERT INTO sidecheck.schema_version VALUES (99, '')", database)
    with pytest.raises(RegistryUnusable, match="layout 99"):
        migration.migrate(location)


def test_a_role_with_the_documented_rights(replicas: Replicas) -> None:
    """Can do all that a server does, and no more."""
    page = (REPOSITORY / "docs" / "operations" / "postgres.md").read_text()
    grants = page.split("connected to that database:")[1].split("```")[1].removeprefix("sql")
    role = f"server_{replicas.database}"
    replicas.execute(f"CREATE ROLE {role} LOGIN")
    replicas.execute(grants.replace(" TO sidecheck;", f" TO {role};"))
    limited = replicas.server.uri(replicas.database).replace("postgres@", f"{role}@")
    replicas.location = PostgresLocation(limited)
    replica, second_replica = replicas.open(1e-6), replicas.open(1e-6)
    for number in range(16):
        replica.register("s", [define_tool(f"t{number}")], keep=frozenset())
    replicas.await_equality(replica, second_replica)

    assert (16, 1) == (second_replica.revision, second_replica.count())
    assert len(replicas.open().take_history()) == 1
    with psycopg.connect(limited) as connected, pytest.raises(psycopg.errors.InsufficientPrivilege):
        connected.execute("UPDATE sidecheck.meta SET epoch = gen_random_uuid()")
    replicas.execute(f"REVOKE INSERT ON sidecheck.change FROM {role}")
    with pytest.raises(RegistryUnusable, match="denies this role what it needs"):
        replica.delete("s", None)
    assert (16, 1) == (replica.revision, replica.count())


@pytest.mark.parametrize(
    ("uri", "message"),
    [
        ("postgresql://me:s3cret@127.0.0.1:1/db", "cannot be reached, or does not answer"),
        ("postgres://me:s3cret@127.0.0.1:s3cret/db", "cannot be reached"),
        ("postgresql://me:12/s3cret@127.0.0.1:1/db", "postgresql://… cannot be reached"),
        ("postgresql://me:12@s3cret@127.0.0.1:1/db", "postgresql://… cannot be reached"),
        ("postgresql://me:12?s3cret@127.0.0.1:1/db", "postgresql://… cannot be reached"),
        ("postgresql://me:s3cret", "postgresql://… cannot be reached"),
        ("postgresql://me:s3cret@[::/db", "is not a usable connection URI"),
        ("postgresql://127.0.0.1/db?password=s3cret&port=1", "cannot be reached"),
        ("postgresql://127.0.0.1/db?s3cret=s3cret", "is not a usable connection URI"),
    ],
)
def test_no_message_has_a_password(uri: str, message: str) -> None:
    """Messages have no part of a malformed URI or of its parameters."""
    location = PostgresLocation(uri)
    with pytest.raises(RegistryUnusable, match=message) as raised:
        open_registry(location)

    assert "s3cret" not in f"{raised.value}{raised.value.fault}{location}{location!r}"


def test_the_packages_are_an_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without them, the error names the extra."""
    monkeypatch.setitem(sys.modules, "sidecheck_server.registry.postgres.registry", None)
    with pytest.raises(RegistryUnusable, match=r"pip install 'psycopg\[binary\]>=3\.3\.9,<3\.4'"):
        open_registry(PostgresLocation("postgresql:///db"))


def test_a_registry_is_closed_at_once(replicas: Replicas) -> None:
    """Its follower ends, and so do its connections."""
    replica = replicas.open()
    replica.close()

    assert isinstance(replica, PostgresRegistry)
    assert not replica._follower._thread.is_alive()
    wait_until(lambda: replicas.end_connections() == 0)
    with pytest.raises(RegistryUnusable, match="is closed"):
        replica.register("s", [A], keep=None)
