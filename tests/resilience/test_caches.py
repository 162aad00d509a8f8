"""Caches under attack: their memory is bounded, and registered tools stay compiled."""

from pathlib import Path

import pytest
from resilience.caches import resident_bytes, send_schemas
from support.running import RunningServer

pytestmark = [pytest.mark.server, pytest.mark.slow]

_MEMORY = 4 << 20
_OTHER = 48 << 20
"""Memory of requests in flight and of the allocator beyond the caches, in bytes."""

_GAPS = 16 << 20
"""A quarter of the memory of the schemas of the second round, if the cache kept all."""


def test_distinct_schemas_stay_within_the_memory_of_the_caches(tmp_path: Path) -> None:
    """Without eviction, these schemas take over a hundred megabytes."""
    server = RunningServer(tmp_path, SIDECHECK_MEMORY_BYTES=str(_MEMORY))
    try:
        before = resident_bytes(server)
        sent = send_schemas(server, 20, patterns=True) + send_schemas(server, 400, patterns=False)
        after = resident_bytes(server)
    finally:
        server.close()

    assert sent > 1 << 20
    assert after - before < _MEMORY + _OTHER


@pytest.mark.long
def test_full_caches_do_not_grow(tmp_path: Path) -> None:
    """After the caches are full, twice as many schemas add fragmentation only."""
    server = RunningServer(tmp_path, SIDECHECK_MEMORY_BYTES=str(_MEMORY))
    try:
        send_schemas(server, 200, patterns=False)
        full = resident_bytes(server)
        send_schemas(server, 400, patterns=False, first=200)
        after = resident_bytes(server)
    finally:
        server.close()

    assert after - full < _GAPS
