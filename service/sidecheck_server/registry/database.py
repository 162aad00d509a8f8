"""The SQLite database of a registry: its file, its lock, its transactions.

The database is written in one transaction for each change, and read once, when it is opened;
all lookups use the `Catalogue`. A file is in WAL mode with synchronous=FULL, so that SQLite
syncs a commit to the disk before it returns
(https://www.sqlite.org/pragma.html#pragma_synchronous). With locking_mode=EXCLUSIVE it is
locked while it is open; the operating system releases the lock when the process ends.

No exception of `sqlite3` leaves this module.
"""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from itertools import chain
from pathlib import Path
from random import uniform
from time import sleep
from typing import Any, TypeVar

from sidecheck_server.core.types import Document
from sidecheck_server.registry import RegistryInUse, RegistryUnusable
from sidecheck_server.registry.catalogue import Catalogue
from sidecheck_server.registry.definitions import Binding, Change, Definition, Interned
from sidecheck_server.registry.reads import find_altered

__all__ = [
    "FORMAT",
    "Database",
    "FileIdentity",
    "create_tables",
    "delete_names",
    "insert_bindings",
    "read_bindings",
    "read_revision",
    "write_revision",
]

Value = TypeVar("Value")

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
        protocol_version TEXT NOT NULL,
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
)
_SELECT_DOCUMENTS = "SELECT server, name, uri, json FROM document ORDER BY server, name, position"
_SELECT_TOOLS = (
    "SELECT server, name, revision, digest, json, input_schema_digest, output_schema_digest,"
    " protocol_version FROM tool"
)
_DELETE_TOOLS = "DELETE FROM tool WHERE server = ? AND name IN"
_INSERT_TOOLS = (
    "INSERT INTO tool (server, name, revision, digest, json, input_schema_digest,"
    " output_schema_digest, protocol_version) VALUES"
)
_INSERT_DOCUMENTS = "INSERT INTO document (server, name, position, uri, json) VALUES"

#: Rows in one statement. The sqlite3 module releases the interpreter lock in every call and
#: waits 5 ms to get it back from a busy thread, so that a large registration with one statement
#: for each tool would take minutes. The values of a batch stay far below SQLite's bound of
#: 32,766 (https://www.sqlite.org/limits.html).
_BATCH = 1000


def create_tables(connection: sqlite3.Connection) -> None:
    """Create the tables of a registry at revision 0 in an empty database."""
    for statement in _TABLES:
        connection.execute(statement)


def read_revision(connection: sqlite3.Connection) -> int | None:
    """Return the revision, or None if the database has none."""
    row = connection.execute("SELECT revision FROM registry").fetchone()
    return None if row is None else int(row[0])


def write_revision(connection: sqlite3.Connection, revision: int) -> None:
    """Set the revision to *revision*."""
    connection.execute("UPDATE registry SET revision = ?", (revision,))


def read_bindings(connection: sqlite3.Connection) -> list[Binding]:
    """Return all bindings, in any order. Equal texts and documents share one object."""
    interned = Interned()
    documents: dict[tuple[str, str], list[Document]] = {}
    for server, name, uri, json in _rows(connection, _SELECT_DOCUMENTS):
        documents.setdefault((server, name), []).append(interned.get(Document(uri, json)))
    return [
        Binding(
            interned.get(server),
            Definition(
                digest,
                name,
                json,
                tuple(documents.get((server, name), ())),
                interned.get(input_schema),
                interned.get(output_schema),
                interned.get(version),
            ),
            revision,
        )
        for server, name, revision, digest, json, input_schema, output_schema, version in _rows(
            connection, _SELECT_TOOLS
        )
    ]


def delete_names(connection: sqlite3.Connection, server: str, names: Sequence[str]) -> None:
    """Delete the bindings of *names* in the namespace of *server*, if they exist."""
    for batch in _batches(names):
        marks = ", ".join("?" * len(batch))
        connection.execute(f"{_DELETE_TOOLS} ({marks})", (server, *batch))


def insert_bindings(connection: sqlite3.Connection, bindings: Sequence[Binding]) -> None:
    """Insert *bindings*, whose names are not bound."""
    tools = [
        (
            binding.server,
            binding.name,
            binding.revision,
            binding.definition.digest,
            binding.definition.json,
            binding.definition.input_schema_digest,
            binding.definition.output_schema_digest,
            binding.definition.protocol_version,
        )
        for binding in bindings
    ]
    documents = [
        (binding.server, binding.name, position, document.uri, document.json)
        for binding in bindings
        for position, document in enumerate(binding.definition.documents)
    ]
    _insert(connection, _INSERT_TOOLS, tools)
    _insert(connection, _INSERT_DOCUMENTS, documents)


def _insert(
    connection: sqlite3.Connection, statement: str, rows: Sequence[tuple[object, ...]]
) -> None:
    for batch in _batches(rows):
        marks = ", ".join(f"({', '.join('?' * len(row))})" for row in batch)
        connection.execute(f"{statement} {marks}", tuple(chain.from_iterable(batch)))


def _rows(connection: sqlite3.Connection, query: str) -> Iterator[tuple[Any, ...]]:
    # Closed explicitly: the traceback of an exception may keep the cursor alive, which would
    # keep the file locked.
    with closing(connection.execute(query)) as cursor:
        yield from cursor


def _batches(items: Sequence[Value]) -> Iterator[Sequence[Value]]:
    """Yield *items* in order, in batches for one statement."""
    for start in range(0, len(items), _BATCH):
        yield items[start : start + _BATCH]


class FileIdentity:
    """Identities of the database file and its write-ahead log at the time of creation.

    The class looks files up and never opens them, since POSIX releases the locks of a process
    when it closes any descriptor of the file.
    """

    def __init__(self, path: Path) -> None:
        """Record the identities of the files.

        Raises:
            OSError: one of them does not exist.
        """
        # SQLite names the log after the target of a symbolic link.
        self._paths = (path.absolute(), Path(f"{path.resolve()}-wal"))
        self._identities = [_identify(path) for path in self._paths]

    def changed_file(self) -> Path | None:
        """Return the path whose file was replaced or removed, or None."""
        for path, identity in zip(self._paths, self._identities, strict=True):
            try:
                same = _identify(path) == identity
            except OSError:
                same = False
            if not same:
                return path
        return None


def _identify(path: Path) -> tuple[int, int]:
    status = path.stat()
    return status.st_dev, status.st_ino


#: Application id of a registry in SQLite's file format, "ScRg"
#: (https://www.sqlite.org/fileformat2.html, section 1.3).
_APPLICATION = 0x53635267
#: The format of the tables that this release reads and writes, stored as user_version.
FORMAT = 2
#: The first SQLite with STRICT tables (https://www.sqlite.org/stricttables.html).
_OLDEST_SQLITE = (3, 37, 0)
#: Attempts to lock the file, and the range of seconds between them. Two processes that start
#: at the same time may both fail; with random pauses, one of them succeeds.
_ATTEMPTS = 6
_PAUSE = (0.01, 0.05)
#: Maximum characters of a server's name in a message.
_MAX_NAME_CHARACTERS = 128
#: Messages for failures that an operator can repair, by SQLite's primary code
#: (https://www.sqlite.org/rescode.html).
_FAILURES = {
    sqlite3.SQLITE_CANTOPEN: "cannot be opened; name a file, not a folder, "
    "that this server may read and write",
    sqlite3.SQLITE_CORRUPT: "is damaged; restore it from a copy",
    sqlite3.SQLITE_FULL: "cannot grow: the disk is full; make room",
    sqlite3.SQLITE_IOERR: "cannot be written or read: an error of the disk, or no room on it; "
    "check the disk",
    sqlite3.SQLITE_NOTADB: "is not a SQLite database; "
    "name a registry, or a file that does not exist yet",
    sqlite3.SQLITE_READONLY: "is read-only; let this server write to it and to its folder",
}


class Database:
    """An open database, locked exclusively. Not thread-safe."""

    def __init__(self, path: Path | None) -> None:
        """Open the file at *path*, which is created if absent, or a database in memory.

        Raises:
            RegistryInUse: a connection in this or another process has the file open.
            RegistryUnusable: the file is not a registry; its content is unchanged.
        """
        self._files: FileIdentity | None = None
        self._lost_file: Path | None = None
        self._location = "the registry in memory" if path is None else str(path)
        if sqlite3.sqlite_version_info < _OLDEST_SQLITE:
            raise RegistryUnusable(
                self._location,
                f"needs SQLite 3.37.0 or later; this is {sqlite3.sqlite_version}",
            )
        if path is not None and not path.parent.is_dir():
            raise RegistryUnusable(
                self._location,
                f"cannot be created: the folder {path.parent} does not exist; "
                "create it, or name a file in a folder that does",
            )
        for _ in range(_ATTEMPTS - 1):
            with suppress(RegistryInUse):
                self._open(path)
                return
            sleep(uniform(*_PAUSE))  # noqa: S311 - nothing secret about it
        self._open(path)

    def read(self) -> Catalogue:
        """Return the content of the database.

        Raises:
            RegistryUnusable: the database cannot be read, was not written by a registry, or
                has a definition that does not match its digest.
        """
        with self._convert_exceptions():
            revision = read_revision(self._connection)
            if revision is None:
                raise RegistryUnusable(
                    self._location, "is damaged: it has no revision; restore it from a copy"
                )
            bindings = read_bindings(self._connection)
        altered = find_altered(bindings)
        if altered is not None:
            raise RegistryUnusable(self._location, _describe_altered(altered, bindings))
        return Catalogue.of(revision, bindings)

    def write(self, change: Change) -> None:
        """Write *change* durably and atomically.

        Raises:
            RegistryUnusable: the change cannot be written, and the database is unchanged; or
                its file was replaced or removed, and this object can write no change.
        """
        self._check_files()
        rebound = [binding.name for binding in change.bound]
        with self._convert_exceptions(), self._transaction("IMMEDIATE"):
            delete_names(self._connection, change.server, [*change.unbound, *rebound])
            insert_bindings(self._connection, change.bound)
            write_revision(self._connection, change.revision)
        self._check_files()

    def close(self) -> None:
        """Close the file. May be called again."""
        self._files = None  # Closing deletes the log.
        with suppress(sqlite3.Error):
            self._connection.close()

    def _open(self, path: Path | None) -> None:
        """Connect to the database and prepare it, or leave nothing open."""
        with self._convert_exceptions():
            self._connection = sqlite3.connect(
                ":memory:" if path is None else path,
                timeout=0,  # SQLite would hold a lock while it waits.
                isolation_level=None,  # This module begins transactions explicitly.
                check_same_thread=False,  # The caller serializes access.
                cached_statements=0,  # Statements of batches are large and rarely equal.
            )
        try:
            with self._convert_exceptions():
                self._prepare()
            if path is not None:
                self._files = FileIdentity(path)
        except OSError as error:
            self.close()
            raise RegistryUnusable(self._location, f"cannot be opened: {error.strerror}") from error
        except BaseException:
            self.close()
            raise

    def _prepare(self) -> None:
        """Lock the database, check that it is a registry, and create missing tables."""
        execute = self._connection.execute
        # Set before the first read, so that no transaction releases the lock, and WAL needs
        # no shared memory
        # (https://www.sqlite.org/wal.html#use_of_wal_without_shared_memory).
        # POSIX releases the locks of a process when it closes any descriptor of the file,
        # so only SQLite may open the file while it is a registry.
        execute("PRAGMA locking_mode = EXCLUSIVE")
        with self._transaction("EXCLUSIVE"):
            empty = self._recognize()
            if not empty:
                self._inspect()
        execute("PRAGMA journal_mode = WAL")
        execute("PRAGMA synchronous = FULL")
        execute("PRAGMA fullfsync = ON")  # macOS syncs to the disk only with this.
        execute("PRAGMA foreign_keys = ON")
        if empty:
            with self._transaction("IMMEDIATE"):
                create_tables(self._connection)
                execute(f"PRAGMA application_id = {_APPLICATION}")
                execute(f"PRAGMA user_version = {FORMAT}")

    def _recognize(self) -> bool:
        """Return whether the database is empty; raise RegistryUnusable if not a registry."""
        application, format_, tables = (
            int(self._connection.execute(query).fetchone()[0])
            for query in (
                "PRAGMA application_id",
                "PRAGMA user_version",
                "SELECT count(*) FROM sqlite_schema",
            )
        )
        if (application, format_, tables) == (0, 0, 0):
            return True
        if application != _APPLICATION:
            raise RegistryUnusable(
                self._location,
                "is another program's SQLite database: its application_id is "
                f"{application:#010x}, a registry's is {_APPLICATION:#010x}; "
                "name a registry, or a file that does not exist yet",
            )
        if format_ != FORMAT:
            raise RegistryUnusable(
                self._location,
                f"is a registry of format {format_}, and this release reads "
                f"format {FORMAT}; use the release that wrote it, "
                "or name a file that does not exist yet",
            )
        return False

    def _inspect(self) -> None:
        """Raise RegistryUnusable if the database is damaged."""
        (state,) = self._connection.execute("PRAGMA quick_check(1)").fetchone()
        if state != "ok":
            raise RegistryUnusable(self._location, f"is damaged: {state}; restore it from a copy")
        if self._connection.execute("PRAGMA foreign_key_check").fetchone() is not None:
            raise RegistryUnusable(
                self._location,
                "is damaged: it has documents of tools that it lacks; restore it from a copy",
            )

    def _check_files(self) -> None:
        """Raise RegistryUnusable if a file was ever found replaced or removed."""
        if self._files is not None and self._lost_file is None:
            self._lost_file = self._files.changed_file()
        if self._lost_file is not None:
            raise RegistryUnusable(
                str(self._lost_file),
                "was deleted, moved or replaced while the server ran; no change is accepted "
                "until its file is restored and the server restarted",
            )

    @contextmanager
    def _transaction(self, kind: str) -> Iterator[None]:
        """Commit the changes of the block, or roll them back if it raises."""
        self._connection.execute(f"BEGIN {kind}")
        try:
            yield
            self._connection.execute("COMMIT")
        except BaseException:
            # SQLite rolls back by itself after some errors, so that this may fail.
            with suppress(sqlite3.Error):
                self._connection.execute("ROLLBACK")
            raise

    @contextmanager
    def _convert_exceptions(self) -> Iterator[None]:
        """Convert exceptions of SQLite to those of a registry."""
        try:
            yield
        except sqlite3.Error as error:
            # Errors of the sqlite3 module itself have no code. The lower byte of an extended
            # code is the primary code.
            code = getattr(error, "sqlite_errorcode", 0) & 0xFF
            if code == sqlite3.SQLITE_BUSY:
                raise RegistryInUse(
                    f"{self._location} is in use; a registry's file belongs to one server at a time"
                ) from error
            reason = _FAILURES.get(code, f"cannot be used: {error}")
            raise RegistryUnusable(self._location, reason) from error


def _describe_altered(altered: Binding, bindings: Sequence[Binding]) -> str:
    """Return the fault of a database in which *altered* has wrong digests."""
    names = sorted(binding.name for binding in bindings if binding.server == altered.server)
    shown = altered.server[:_MAX_NAME_CHARACTERS]
    return (
        f"is damaged: the definition of the server {shown!r} at position "
        f"{names.index(altered.name)}, in the order of names, does not have the digests and "
        "the name that it was registered with; restore the file from a copy, or delete it"
    )
