"""Reads of a registry's tables that reject old, damaged and unknown data.

They raise the exceptions of psycopg, and `RegistryUnusable` for a rejected database.
"""

from collections.abc import Iterable
from itertools import chain
from typing import Final

from sidecheck_server.registry import RegistryUnusable
from sidecheck_server.registry.definitions import Binding
from sidecheck_server.registry.location import PostgresLocation
from sidecheck_server.registry.postgres.connection import Connection
from sidecheck_server.registry.postgres.fencing import Fence
from sidecheck_server.registry.postgres.migration import check_layout
from sidecheck_server.registry.postgres.statements import read_head, read_layout, read_snapshot
from sidecheck_server.registry.postgres.steps import Head, Snapshot
from sidecheck_server.registry.reads import find_altered

__all__ = ["check_definitions", "read_checked_head", "read_checked_snapshot"]

_NO_REVISION: Final = "is damaged: it has no revision; restore it from a backup"


def read_checked_snapshot(connection: Connection, fence: Fence) -> Snapshot:
    """Return the whole content of the database.

    Raises:
        RegistryUnusable: the database has no registry of this release's layout, or a damaged one.
        DatabaseRejected: *fence* rejects its term, which is older or of another cluster.
    """
    location = fence.location
    check_layout(read_layout(connection), location)
    snapshot = read_snapshot(connection, fence.columns)
    if snapshot is None:
        raise RegistryUnusable(str(location), _NO_REVISION)
    fence.check_term(snapshot.head.term, connection)
    check_definitions(chain(snapshot.bindings, snapshot.superseded), location)
    return snapshot


def read_checked_head(connection: Connection, fence: Fence, *, lock: bool = False) -> Head:
    """Return the state; with *lock*, locked until the transaction ends.

    Raises:
        RegistryUnusable: there is no registry of this release's layout.
        DatabaseRejected: *fence* rejects the term, which is older or of another cluster.
    """
    head = read_head(connection, fence.columns, lock=lock)
    if head is None:
        raise RegistryUnusable(str(fence.location), _NO_REVISION)
    fence.check_term(head.term, connection)
    check_layout(head.layout, fence.location)
    return head


def check_definitions(bindings: Iterable[Binding], location: PostgresLocation) -> None:
    """Check the definitions of *bindings*, which were read at *location*.

    Raises:
        RegistryUnusable: a definition does not match its digest.
    """
    altered = find_altered(bindings)
    if altered is not None:
        raise RegistryUnusable(
            str(location),
            f"is damaged: a definition of revision {altered.revision} does not have the digests "
            "and the name that it was registered with; restore the database from a backup",
        )
