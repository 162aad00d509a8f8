"""SQL statements of a registry's tables, and conversion of their rows to bindings.

The functions raise the exceptions of psycopg. The caller begins and ends transactions, except for
`begin_write` and `reading`. Names are qualified with their schema, so that they do not depend on
the search path. Settings are local to a transaction, so that a pooler may be in between. Bytes are
sent in binary, since their text form depends on settings of the database.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import chain
from typing import Any, Final
from uuid import UUID

from sidecheck_server.core.types import Document
from sidecheck_server.registry.definitions import Binding, Change, Definition, Interned
from sidecheck_server.registry.postgres.connection import Connection
from sidecheck_server.registry.postgres.steps import Head, Snapshot, Step, Term

__all__ = [
    "CHANNEL",
    "SYSTEM",
    "TIMELINE",
    "begin_write",
    "compact",
    "read_head",
    "read_layout",
    "read_related_ids",
    "read_snapshot",
    "read_steps",
    "read_value",
    "reading",
    "write_step",
]


CHANNEL: Final = "sidecheck_registry"
"""Channel on which each write notifies followers of its revision."""

SYSTEM: Final = "(pg_control_system()).system_identifier"
"""The system identifier of the cluster."""

TIMELINE: Final = "CASE WHEN NOT pg_is_in_recovery() THEN pg_walfile_name(pg_current_wal_lsn()) END"
"""Name of the WAL file that a primary writes; it begins with the timeline, in 8 digits.

The control file is not used: after a promotion its last checkpoint has the former timeline.
"""

#: The timeouts end the transaction of a client that is gone or stopped, since it locks out other
#: servers. A commit is durable before it is acknowledged, even if that is not the default. The
#: access mode stays the default, since an operator may set it to read-only when a disk fills up.
_BEGIN_WRITE: Final = """
    BEGIN ISOLATION LEVEL READ COMMITTED;
    SET LOCAL lock_timeout = '4s';
    SET LOCAL statement_timeout = '30s';
    SET LOCAL idle_in_transaction_session_timeout = '10s';
    SELECT set_config('synchronous_commit', 'on', true)
        WHERE current_setting('synchronous_commit') = 'off';
"""
_HEAD: Final = "(SELECT max(version) FROM sidecheck.schema_version), epoch, revision, change_id"
_SELECT_STEPS: Final = (
    "SELECT revision, id, previous_id, server, unbound FROM sidecheck.change"
    " WHERE revision > %s ORDER BY revision"
)
_SELECT_TOOLS: Final = (
    "SELECT server, revision, until IS NULL, digest, name, json, input_schema_digest,"
    " output_schema_digest, protocol_version, document_uris, documents FROM sidecheck.tool"
)
_UNBIND: Final = (
    "UPDATE sidecheck.tool SET until = %b WHERE until IS NULL AND sha256(server) = sha256(%b)"
    " AND sha256(name) = ANY (SELECT sha256(unbound) FROM unnest(%b::bytea[]) AS unbound)"
)
_BIND: Final = (
    "COPY sidecheck.tool (server, name, revision, digest, json, input_schema_digest,"
    " output_schema_digest, protocol_version, document_uris, documents)"
    " FROM STDIN WITH (FORMAT BINARY)"
)
_BIND_TYPES: Final = (
    *("bytea", "bytea", "int8", "text", "bytea", "text", "text", "text", "bytea[]", "bytea[]"),
)
_INSERT_STEP: Final = (
    "INSERT INTO sidecheck.change (revision, id, previous_id, server, unbound, bytes)"
    " VALUES (%b, %b, %b, %b, %b::bytea[], %b)"
)
_UPDATE_HEAD: Final = "UPDATE sidecheck.meta SET revision = %s, change_id = %s"
_LAST_REVISION_TO_DELETE: Final = """
    SELECT coalesce(max(revision), 0) FROM (
        SELECT revision, made_at, sum(bytes) OVER (ORDER BY revision DESC) AS bytes_since
        FROM sidecheck.change
    ) AS history
    WHERE revision < (SELECT revision FROM sidecheck.meta) AND (
        revision <= (SELECT revision FROM sidecheck.meta) - %s
        OR bytes_since > %s
        OR made_at < now() - make_interval(secs => %s)
    )
"""

_ROWS: Final = 2000
"""Rows of tools in one fetch."""


def read_layout(connection: Connection) -> int | None:
    """Return the version of the layout of the tables, or None if there is no registry."""
    row = _fetch_first(connection, "SELECT to_regclass('sidecheck.schema_version') IS NOT NULL")
    if not row[0]:
        return None
    layout = _fetch_first(connection, "SELECT max(version) FROM sidecheck.schema_version")[0]
    return None if layout is None else int(layout)


def read_value(connection: Connection, expression: str) -> object:
    """Return the value of *expression*."""
    return _fetch_first(connection, f"SELECT {expression}")[0]


def read_head(connection: Connection, term_columns: str, *, lock: bool = False) -> Head | None:
    """Return the state; with *lock*, locked until the transaction ends.

    *term_columns* are the expressions for `SYSTEM` and `TIMELINE`. They are read every time
    rather than once for a connection, because the server behind a pooler may change.
    """
    statement = f"SELECT {_HEAD}, {term_columns} FROM sidecheck.meta"  # noqa: S608 - of constants
    row = connection.execute(f"{statement} FOR UPDATE" if lock else statement).fetchone()
    if row is None:
        return None
    layout, epoch, revision, change_id, system, file = row
    term = Term(system, None if file is None else int(file[:8], 16))
    return Head(layout, epoch, revision, change_id, term)


def begin_write(connection: Connection) -> None:
    """Begin a transaction for a write."""
    connection.execute(_BEGIN_WRITE)


@contextmanager
def reading(connection: Connection) -> Iterator[None]:
    """Run the block in a read-only transaction with one snapshot."""
    connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
    yield
    connection.execute("COMMIT")


def read_steps(connection: Connection, after: int) -> list[Step]:
    """Return the steps after the revision *after*, in order."""
    rows = _fetch_all(connection, _SELECT_STEPS, (after,))
    tools = _fetch_all(connection, f"{_SELECT_TOOLS} WHERE revision > %s", (after,)) if rows else []
    interned = Interned()
    return _build_steps(rows, (_binding(row, interned) for row in tools))


def read_snapshot(connection: Connection, term: str) -> Snapshot | None:
    """Return the whole registry, or None. Equal texts share one object."""
    with reading(connection):
        head = read_head(connection, term)
        if head is None:
            return None
        bindings: list[Binding] = []
        superseded: list[Binding] = []
        interned = Interned()
        with connection.cursor("sidecheck_tools", binary=True) as cursor:
            cursor.itersize = _ROWS
            for row in cursor.execute(_SELECT_TOOLS):
                (bindings if row[2] else superseded).append(_binding(row, interned))
        rows = _fetch_all(connection, _SELECT_STEPS, (0,))
    return Snapshot(head, bindings, superseded, _build_steps(rows, chain(bindings, superseded)))


def write_step(connection: Connection, step: Step) -> None:
    """Write the change of *step*; followers are notified when it is committed."""
    change = step.change
    server = change.server.encode()
    rebound = (binding.name for binding in change.bound)
    unbound = [name.encode() for name in (*change.unbound, *rebound)]
    rows = [_row(binding) for binding in change.bound]
    size = sum(binding.definition.stored_size for binding in change.bound)
    with connection.cursor() as cursor:
        cursor.execute(_UNBIND, (change.revision, server, unbound))
        if rows:
            with cursor.copy(_BIND) as copy:
                copy.set_types(_BIND_TYPES)
                for row in rows:
                    copy.write_row(row)
        names = [name.encode() for name in change.unbound]
        values = (change.revision, step.id, step.previous_id, server, names, size)
        cursor.execute(_INSERT_STEP, values)
        cursor.execute(_UPDATE_HEAD, (change.revision, step.id))
        cursor.execute("SELECT pg_notify(%s, %s)", (CHANNEL, str(change.revision)))


def read_related_ids(connection: Connection, revision: int) -> tuple[UUID, UUID] | None:
    """Return the ids of the change of *revision* and of its predecessor, if kept."""
    statement = "SELECT id, previous_id FROM sidecheck.change WHERE revision = %s"
    return connection.execute(statement, (revision,)).fetchone()


def compact(connection: Connection, *, steps: int, size: int, seconds: float) -> None:
    """Delete all but the last *steps*, *size* bytes and *seconds* of history."""
    newest = _fetch_first(connection, _LAST_REVISION_TO_DELETE, (steps, size, seconds))
    connection.execute("DELETE FROM sidecheck.change WHERE revision <= %s", newest)
    connection.execute(
        "DELETE FROM sidecheck.tool WHERE until IS NOT NULL AND revision <= %s", newest
    )


def _build_steps(rows: Iterable[tuple[Any, ...]], bindings: Iterable[Binding]) -> list[Step]:
    """Return the steps of *rows*; *bindings* include the bindings that they created."""
    by_revision: dict[int, list[Binding]] = {}
    for binding in bindings:
        by_revision.setdefault(binding.revision, []).append(binding)
    return [
        Step(
            previous_id,
            Change(
                revision,
                _text(server),
                tuple(map(_text, unbound)),
                tuple(sorted(by_revision.get(revision, ()), key=_name)),
                id=id_,
            ),
        )
        for revision, id_, previous_id, server, unbound in rows
    ]


def _name(binding: Binding) -> str:
    return binding.name


def _row(binding: Binding) -> tuple[object, ...]:
    definition = binding.definition
    return (
        binding.server.encode(),
        definition.name.encode(),
        binding.revision,
        definition.digest,
        definition.json,
        definition.input_schema_digest,
        definition.output_schema_digest,
        definition.protocol_version,
        [document.uri.encode() for document in definition.documents],
        [document.json for document in definition.documents],
    )


def _binding(row: tuple[Any, ...], interned: Interned) -> Binding:
    server, revision, _, digest, name, json, input_schema, output_schema, version, *documents = row
    return Binding(
        interned.get(_text(server)),
        Definition(
            digest,
            _text(name),
            json,
            tuple(
                interned.get(Document(_text(uri), text))
                for uri, text in zip(*documents, strict=True)
            ),
            interned.get(input_schema),
            interned.get(output_schema),
            interned.get(version),
        ),
        revision,
    )


def _text(value: bytes) -> str:
    """Return the text of *value*; replaced invalid UTF-8 fails the digest check."""
    return value.decode("utf-8", "replace")


def _fetch_first(connection: Connection, statement: str, values: tuple[object, ...] = ()) -> Any:
    """Return the first row of a statement that always returns one."""
    row = connection.execute(statement, values).fetchone()
    assert row is not None
    return row


def _fetch_all(
    connection: Connection, statement: str, values: tuple[object, ...]
) -> list[tuple[Any, ...]]:
    with connection.cursor(binary=True) as cursor:
        return cursor.execute(statement, values).fetchall()
