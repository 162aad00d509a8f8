"""The tables of a registry's database, and the bindings as their rows.

The functions raise the exceptions of `sqlite3`; transactions are up to the caller.
"""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from itertools import chain
from typing import Any, TypeVar

from sidecheck_server.core.types import Document
from sidecheck_server.registry.definitions import Binding, Definition

__all__ = [
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

#: Rows in one statement. The sqlite3 module releases the interpreter lock in every call
#: and waits for it again, 5 ms each beside a busy thread; with a statement for each tool, a
#: large registration would take minutes beside a busy event loop. Their
#: values stay far below SQLite's bound of 32,766 (https://www.sqlite.org/limits.html).
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
    interned = _Interned()
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
    # A cursor that an exception's traceback keeps alive would keep the file locked.
    with closing(connection.execute(query)) as cursor:
        yield from cursor


def _batches(items: Sequence[Value]) -> Iterator[Sequence[Value]]:
    """Yield *items* in order, as many at a time as one statement takes."""
    for start in range(0, len(items), _BATCH):
        yield items[start : start + _BATCH]


class _Interned:
    """Maps equal values to one object."""

    def __init__(self) -> None:
        self._values: dict[object, object] = {}

    def get(self, value: Value) -> Value:
        """Return the first value passed in that equals *value*."""
        return self._values.setdefault(value, value)  # type: ignore[return-value]
