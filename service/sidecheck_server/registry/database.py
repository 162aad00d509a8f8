"""The SQLite database that a registry is kept in.

It is written in one transaction for each change and read once, when it is opened;
all questions are answered from the `Catalogue`. A file is in WAL mode with
synchronous=FULL, so that SQLite has synced a commit to the disk before it returns
(https://www.sqlite.org/pragma.html#pragma_synchronous). It is locked for as long as
it is open by locking_mode=EXCLUSIVE; the lock is the operating system's and goes with
the process, however that ends.

No exception of `sqlite3` leaves this module.
"""

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from itertools import chain
from pathlib import Path
from typing import Any, TypeVar

from sidecheck_server.core.words import Document
from sidecheck_server.registry import RegistryInUse, RegistryUnusable
from sidecheck_server.registry.catalogue import Catalogue
from sidecheck_server.registry.definitions import Binding, Definition

__all__ = ["Database"]

Value = TypeVar("Value")

#: Marks the file as a registry, in the place that SQLite's file format has for it
#: (https://www.sqlite.org/fileformat2.html, section 1.3.16): "ScRg".
_APPLICATION = 0x53635267
#: The format that this release reads and writes, kept as the user version.
_FORMAT = 1
#: The first SQLite with STRICT tables (https://www.sqlite.org/stricttables.html).
_OLDEST_SQLITE = (3, 37, 0)
#: Seconds to wait for the lock, which another process that finds the file in use
#: holds for the moment it takes to find out.
_PATIENCE = 0.2

#: What to say of the failures that an operator can mend, by SQLite's primary code.
_FAILURES = {
    sqlite3.SQLITE_CANTOPEN: "cannot be opened; name a file, not a folder, "
    "that this server may read and write",
    sqlite3.SQLITE_CORRUPT: "is damaged; restore it from a copy",
    sqlite3.SQLITE_FULL: "cannot grow: the disk is full; make room",
    sqlite3.SQLITE_NOTADB: "is not a SQLite database; "
    "name a registry, or a file that does not exist yet",
    sqlite3.SQLITE_READONLY: "is read-only; let this server write to it and to its folder",
}

#: Rows in one statement: well below SQLite's bound of 32,766 parameters
#: (https://www.sqlite.org/limits.html).
_BATCH = 1000

_DELETE_TOOLS = "DELETE FROM tool WHERE server = ? AND name IN"
_INSERT_TOOLS = (
    "INSERT INTO tool (server, name, revision, digest, json, input_schema_digest,"
    " output_schema_digest) VALUES"
)
_INSERT_DOCUMENTS = "INSERT INTO document (server, name, position, uri, json) VALUES"
_TABLES = (
    """CREATE TABLE registry (
        row INTEGER PRIMARY KEY CHECK (row = 1),
        revision INTEGER NOT NULL
    ) STRICT""",
    "INSERT INTO registry (row, revision) VALUES (1, 0)",
    """CREATE TABLE tool (
        server TEXT NOT NULL,
        name TEXT NOT NULL,
        revision INTEGER NOT NULL,
        digest TEXT NOT NULL,
        json BLOB NOT NULL,
        input_schema_digest TEXT NOT NULL,
        output_schema_digest TEXT,
        PRIMARY KEY (server, name)
    ) STRICT""",
    """CREATE TABLE document (
        server TEXT NOT NULL,
        name TEXT NOT NULL,
        position INTEGER NOT NULL,
        uri TEXT NOT NULL,
        json BLOB NOT NULL,
        PRIMARY KEY (server, name, position),
        FOREIGN KEY (server, name) REFERENCES tool (server, name) ON DELETE CASCADE
    ) STRICT""",
    f"PRAGMA application_id = {_APPLICATION}",
    f"PRAGMA user_version = {_FORMAT}",
)


class Database:
    """An open database, held for this object alone. Not for two threads at a time."""

    def __init__(self, path: Path | None) -> None:
        """Open the file at *path*, which is created if absent, or a database in memory.

        Raises:
            RegistryInUse: another connection, in this process or another, has it open.
            RegistryUnusable: it cannot be a registry; it is as it was before.
        """
        self._place = "the registry in memory" if path is None else str(path)
        if sqlite3.sqlite_version_info < _OLDEST_SQLITE:
            raise RegistryUnusable(
                f"SQLite is {sqlite3.sqlite_version}; a registry needs 3.37.0 or later"
            )
        if path is not None and not path.parent.is_dir():
            raise RegistryUnusable(
                f"{path}: the folder {path.parent} does not exist; "
                "create it, or name a file in a folder that does"
            )
        with self._own_exceptions():
            self._connection = sqlite3.connect(
                ":memory:" if path is None else path,
                timeout=_PATIENCE,
                isolation_level=None,  # transactions begin where this module says
                check_same_thread=False,  # the caller sees to one thread at a time
                cached_statements=0,  # those of batches are large and seldom the same
            )
        try:
            with self._own_exceptions():
                self._prepare()
        except BaseException:
            self.close()
            raise

    def read(self) -> Catalogue:
        """Return what the database holds."""
        same = _Pool()
        documents: dict[tuple[str, str], list[Document]] = {}
        with self._own_exceptions():
            for server, name, uri, json in self._rows(
                "SELECT server, name, uri, json FROM document ORDER BY server, name, position"
            ):
                document = same.one(Document(uri, json))
                documents.setdefault((server, name), []).append(document)
            bindings = [
                Binding(
                    same.one(server),
                    Definition(
                        digest,
                        name,
                        json,
                        tuple(documents.get((server, name), ())),
                        same.one(input_schema),
                        same.one(output_schema),
                    ),
                    revision,
                )
                for server, name, revision, digest, json, input_schema, output_schema in self._rows(
                    "SELECT server, name, revision, digest, json, input_schema_digest,"
                    " output_schema_digest FROM tool"
                )
            ]
            return Catalogue.of(self._number("SELECT revision FROM registry"), bindings)

    def write(
        self, revision: int, server: str, unbound: Iterable[str], bound: Sequence[Binding]
    ) -> None:
        """Take the names *unbound* out of *server*, put *bound* in, durably and all or nothing.

        Raises:
            RegistryUnusable: it cannot be done; the database is as it was before.
        """
        replaced = (*unbound, *(binding.name for binding in bound))
        with self._own_exceptions(), self._transaction("IMMEDIATE"):
            for names in _batches(replaced):
                marks = ", ".join("?" * len(names))
                self._connection.execute(f"{_DELETE_TOOLS} ({marks})", (server, *names))
            self._insert(
                _INSERT_TOOLS,
                [
                    (
                        server,
                        binding.name,
                        binding.revision,
                        binding.definition.digest,
                        binding.definition.json,
                        binding.definition.input_schema_digest,
                        binding.definition.output_schema_digest,
                    )
                    for binding in bound
                ],
            )
            self._insert(
                _INSERT_DOCUMENTS,
                [
                    (server, binding.name, position, document.uri, document.json)
                    for binding in bound
                    for position, document in enumerate(binding.definition.documents)
                ],
            )
            self._connection.execute("UPDATE registry SET revision = ?", (revision,))

    def close(self) -> None:
        """Let go of the file. May be called again."""
        with suppress(sqlite3.Error):
            self._connection.close()

    def _prepare(self) -> None:
        """Lock the database, see that it is a registry, and make it one if it is empty."""
        execute = self._connection.execute
        # Set before anything is read, so that no transaction lets go of the lock
        # again, and WAL needs no shared memory
        # (https://www.sqlite.org/wal.html#use_of_wal_without_shared_memory).
        # POSIX locks fall with the first descriptor of the file that the process
        # closes, so nothing here may open the file but SQLite, which knows.
        execute("PRAGMA locking_mode = EXCLUSIVE")
        with self._transaction("EXCLUSIVE"):
            empty = self._recognize()
            if not empty:
                self._inspect()
        execute("PRAGMA journal_mode = WAL")
        execute("PRAGMA synchronous = FULL")
        execute("PRAGMA fullfsync = ON")  # macOS reaches the disk only so
        execute("PRAGMA foreign_keys = ON")
        if empty:
            with self._transaction("IMMEDIATE"):
                for statement in _TABLES:
                    execute(statement)

    def _recognize(self) -> bool:
        """Return whether the database is empty; raise RegistryUnusable if not a registry."""
        application = self._number("PRAGMA application_id")
        found = self._number("PRAGMA user_version")
        tables = self._number("SELECT count(*) FROM sqlite_schema")
        if (application, found, tables) == (0, 0, 0):
            return True
        if application != _APPLICATION:
            raise RegistryUnusable(
                f"{self._place} is another program's SQLite database: its application_id is "
                f"{application:#010x}, a registry's is {_APPLICATION:#010x}; "
                "name a registry, or a file that does not exist yet"
            )
        if found != _FORMAT:
            raise RegistryUnusable(
                f"{self._place} is a registry of format {found}, and this release reads format "
                f"{_FORMAT}; use the release that wrote it, or name a file that does not exist yet"
            )
        return False

    def _inspect(self) -> None:
        """Raise RegistryUnusable if the database is damaged."""
        (state,) = self._connection.execute("PRAGMA quick_check(1)").fetchone()
        if state != "ok":
            raise RegistryUnusable(f"{self._place} is damaged: {state}; restore it from a copy")
        if self._connection.execute("PRAGMA foreign_key_check").fetchone() is not None:
            raise RegistryUnusable(
                f"{self._place} is damaged: it has documents of tools that it lacks; "
                "restore it from a copy"
            )

    def _insert(self, statement: str, rows: Sequence[tuple[object, ...]]) -> None:
        for batch in _batches(rows):
            marks = ", ".join(f"({', '.join('?' * len(row))})" for row in batch)
            self._connection.execute(f"{statement} {marks}", tuple(chain.from_iterable(batch)))

    def _rows(self, query: str) -> Iterator[tuple[Any, ...]]:
        # A cursor that an exception keeps alive would keep the file locked.
        with closing(self._connection.execute(query)) as cursor:
            yield from cursor

    def _number(self, query: str) -> int:
        row = self._connection.execute(query).fetchone()
        if row is None:
            raise RegistryUnusable(f"{self._place} is damaged: it has no revision")
        return int(row[0])

    @contextmanager
    def _transaction(self, kind: str) -> Iterator[None]:
        """Commit what the block does, or undo it if it raises."""
        self._connection.execute(f"BEGIN {kind}")
        try:
            yield
            self._connection.execute("COMMIT")
        except BaseException:
            # After some errors SQLite has rolled back by itself.
            with suppress(sqlite3.Error):
                self._connection.execute("ROLLBACK")
            raise

    @contextmanager
    def _own_exceptions(self) -> Iterator[None]:
        """Turn what SQLite raises into the exceptions of a registry."""
        try:
            yield
        except sqlite3.Error as error:
            # The lower byte is the primary code (https://www.sqlite.org/rescode.html).
            code = getattr(error, "sqlite_errorcode", 0) & 0xFF
            if code == sqlite3.SQLITE_BUSY:
                raise RegistryInUse(
                    f"{self._place} is in use; a registry's file belongs to one server at a time"
                ) from error
            reason = _FAILURES.get(code, f"cannot be used: {error}")
            raise RegistryUnusable(f"{self._place} {reason}") from error


def _batches(items: Sequence[Value]) -> Iterator[Sequence[Value]]:
    """Yield *items* in order, as many at a time as one statement takes.

    The sqlite3 module lets go of the interpreter in every call, and has to wait for it
    again while other threads are busy, by default 5 ms a time: with a statement for
    each tool, a large registration would take minutes beside a busy event loop.
    """
    for start in range(0, len(items), _BATCH):
        yield items[start : start + _BATCH]


class _Pool:
    """Hands out one object for all equal ones."""

    def __init__(self) -> None:
        self._known: dict[object, object] = {}

    def one(self, value: Value) -> Value:
        """Return the first value that equals *value* and was handed in."""
        return self._known.setdefault(value, value)  # type: ignore[return-value]
