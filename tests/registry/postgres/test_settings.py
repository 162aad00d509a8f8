"""Databases whose encoding or settings are other than those of a new one."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from sidecheck_server.registry import RegistryUnusable
from sidecheck_server.registry.location import PostgresLocation
from sidecheck_server.registry.postgres import migration
from support.definitions import define_tool
from support.registry_replicas import Replicas, wait_until
from support.running_postgres import RunningPostgres

NAMES = ("a", "日本", "\\x41", "'\"", "\0")


@pytest.mark.parametrize("encoding", ["SQL_ASCII", "LATIN1", "EUC_JP"])
def test_the_encoding_of_the_database_does_not_matter(replicas: Replicas, encoding: str) -> None:
    database = f"{replicas.database}_{encoding.lower()}"
    replicas.server.execute(
        f"CREATE DATABASE {database} ENCODING '{encoding}' LOCALE 'C' TEMPLATE template0"
    )
    replicas.location = PostgresLocation(replicas.server.uri(database))
    migration.migrate(replicas.location)

    check_all_is_shared(replicas)


@pytest.mark.parametrize(
    "setting",
    [
        "bytea_output = 'escape'",
        "client_encoding = 'LATIN1'",
        "DateStyle = 'German'",
        "default_transaction_isolation = 'serializable'",
        "search_path = 'nowhere'",
        "standard_conforming_strings = off",
        "TimeZone = 'Asia/Kathmandu'",
    ],
)
def test_settings_do_not_matter(replicas: Replicas, setting: str) -> None:
    """They concern the encoding of texts, bytes and times, and the schema."""
    replicas.execute(f"ALTER DATABASE {replicas.database} SET {setting}")

    check_all_is_shared(replicas)


def check_all_is_shared(replicas: Replicas) -> None:
    """Check that two replicas know what each registers and removes, and another one, too."""
    pair = [replicas.open(), replicas.open()]
    server = "sé"
    pair[0].register(server, [define_tool(name) for name in NAMES], keep=None)
    for number, name in enumerate(NAMES):
        changed = define_tool(name, {"description": "\\"})
        assert pair[number % 2].register(server, [changed], keep=None).revision == number + 2
    assert pair[1].delete(server, NAMES[1:4]).deleted == tuple(sorted(NAMES[1:4]))
    replicas.await_equality(*pair)

    assert ["\0", "a"] == [tool.name for tool in pair[0].page(None, None, 9, 9999)[0]]
    late = replicas.open()
    replicas.await_equality(late, *pair)
    assert replicas.changes[pair[0]] == list(late.take_history())
    assert replicas.events == []


def test_a_database_that_is_read_only_by_default(replicas: Replicas) -> None:
    """Operators set this on a nearly full disk; it can be read and followed."""
    writer = replicas.open()
    writer.register("s", [define_tool("a")], keep=None)
    replicas.execute(f"ALTER DATABASE {replicas.database} SET default_transaction_read_only = on")
    replica = replicas.open()
    with pytest.raises(RegistryUnusable, match="is read-only, by its settings or as a standby"):
        replica.register("s", [define_tool("b")], keep=None)
    replicas.server.execute(
        f"ALTER DATABASE {replicas.database} RESET default_transaction_read_only"
    )
    assert replica.register("s", [define_tool("b")], keep=None).revision == 2

    replicas.await_equality(writer, replica)
    assert replicas.events == []


def test_migrations_that_race_in_a_serializable_database(postgres: RunningPostgres) -> None:
    """Each sees what those before it have done."""
    database = postgres.create_database(is_migrated=False)
    postgres.execute(
        f"ALTER DATABASE {database} SET default_transaction_isolation = 'serializable'"
    )
    location = PostgresLocation(postgres.uri(database))
    with ThreadPoolExecutor(8) as threads:
        results = list(threads.map(migration.migrate, [location] * 8))

    assert {after for _, after in results} == {migration.LAYOUT}


def test_a_row_that_no_server_has_written(replicas: Replicas) -> None:
    """It is reported; later changes are followed once it is repaired."""
    replica = replicas.open()
    with replica._exclusively():
        replicas.execute(
            "INSERT INTO sidecheck.change SELECT 1, gen_random_uuid(), meta.change_id, 's',"
            " ARRAY[NULL]::bytea[], 0 FROM sidecheck.meta;"
            "UPDATE sidecheck.meta SET revision = 1,"
            " change_id = (SELECT id FROM sidecheck.change)"
        )
    wait_until(lambda: replicas.events)
    [event] = replicas.events
    with pytest.raises(RegistryUnusable, match="cannot be followed; report this"):
        replica.delete("s", None)
    replicas.execute("UPDATE sidecheck.change SET unbound = '{}'")
    wait_until(lambda: replica.revision == 1)

    assert "cannot be followed; report this (AttributeError)" in str(event)
    wait_until(lambda: len(replicas.events) == 2)


def test_a_name_that_is_not_text(replicas: Replicas) -> None:
    """It differs from the name in the definition."""
    replicas.open().register("s", [define_tool("a")], keep=None)
    replicas.execute(r"UPDATE sidecheck.tool SET name = '\xff'")
    with pytest.raises(RegistryUnusable, match="is damaged: a definition of revision 1"):
        replicas.open()
