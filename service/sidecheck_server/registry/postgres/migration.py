"""Layout of the tables: numbered files of SQL, each run once, forward only.

Each file runs in a separate transaction that also records its number, under a lock. So a
migration may be interrupted, and several may start concurrently.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files
from typing import Final

from sidecheck_server.registry import RegistryUnusable
from sidecheck_server.registry.location import PostgresLocation
from sidecheck_server.registry.postgres.connection import (
    Connection,
    close,
    connect,
    convert_exceptions,
)
from sidecheck_server.registry.postgres.statements import read_layout

__all__ = ["LAYOUT", "check_layout", "migrate", "migrations"]

_LOCK: Final = 0x53635267
"""Key of the advisory lock: "ScRg", the application id of a registry's file."""

#: READ COMMITTED, so that the effect of the migration that held the lock is visible.
_BEGIN: Final = f"BEGIN ISOLATION LEVEL READ COMMITTED; SELECT pg_advisory_xact_lock({_LOCK});"
_CREATE_SCHEMA: Final = """
    CREATE SCHEMA sidecheck;
    COMMENT ON SCHEMA sidecheck IS 'Registry of Sidecheck.';
"""
_CREATE_VERSIONS: Final = """
    CREATE TABLE sidecheck.schema_version (
        version integer PRIMARY KEY,
        name text NOT NULL,
        migrated_at timestamptz NOT NULL DEFAULT now()
    );
    COMMENT ON TABLE sidecheck.schema_version IS 'The migrations that were run.';
"""


def migrations() -> dict[int, tuple[str, str]]:
    """Return the name and the text of each migration, by the layout that it creates."""
    folder = files("sidecheck_server.registry.postgres") / "migrations"
    texts = {file.name: file.read_text("utf-8") for file in folder.iterdir()}
    return {
        int(name[:4]): (name.removesuffix(".sql"), texts[name])
        for name in sorted(texts)
        if name.endswith(".sql")
    }


LAYOUT: Final = max(migrations())
"""The layout that this release reads and writes."""


def check_layout(layout: int | None, location: PostgresLocation) -> None:
    """Check that the tables at *location* have the *layout* of this release.

    Raises:
        RegistryUnusable: they have another; the message has the remedy.
    """
    command = f"run `sidecheck registry migrate --registry {location}`"
    if layout is None:
        raise RegistryUnusable(str(location), f"has no registry yet; {command}")
    if layout < LAYOUT:
        raise RegistryUnusable(
            str(location),
            f"has a registry of layout {layout}, and this release needs layout {LAYOUT}; {command}",
        )
    if layout > LAYOUT:
        raise RegistryUnusable(
            str(location),
            f"has a registry of layout {layout}, and this release reads layout {LAYOUT}; use the "
            "release that migrated it, or a later one",
        )


def migrate(location: PostgresLocation, target: int = LAYOUT) -> tuple[int, int]:
    """Migrate to the layout *target*; return the old and the new layout.

    The old layout is 0 if there was none. Migrations may run concurrently.

    Raises:
        RegistryUnusable: the database cannot be reached or changed, or a later release has
            migrated it.
    """
    connection = connect(location)
    # Unbounded, since the lock may be held by another migration, and large tables take long.
    connection.answer_seconds = None
    try:
        with convert_exceptions(location):
            before = layout = read_layout(connection) or 0
            if layout > LAYOUT:
                check_layout(layout, location)
            while layout < target:
                layout = _run_next(connection)
            return before, layout
    finally:
        close(connection)


def _run_next(connection: Connection) -> int:
    """Run the next migration, unless a concurrent one did; return the layout after it."""
    with _locked(connection):
        if connection.execute("SELECT to_regnamespace('sidecheck')").fetchone() == (None,):
            connection.execute(_CREATE_SCHEMA)
        layout = read_layout(connection)
        if layout is None:
            if connection.execute("SELECT to_regclass('sidecheck.schema_version')").fetchone() == (
                None,
            ):
                connection.execute(_CREATE_VERSIONS)
            layout = 0
        if layout >= LAYOUT:
            return layout
        name, text = migrations()[layout + 1]
        connection.execute(text.encode())
        connection.execute(
            "INSERT INTO sidecheck.schema_version (version, name) VALUES (%s, %s)",
            (layout + 1, name),
        )
        return layout + 1


@contextmanager
def _locked(connection: Connection) -> Iterator[None]:
    """Run the block in a transaction that excludes other migrations."""
    connection.execute(_BEGIN)
    yield
    connection.execute("COMMIT")
