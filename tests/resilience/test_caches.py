"""Caches under attack: their memory is bounded, and registered tools stay compiled."""

from pathlib import Path

import pytest
from resilience.caches import resident_bytes, send_schemas
from support.running import RunningServer

pytestmark = [pytest.mark.server, pytest.mark.slow]

_MEMORY = 4 << 20
_OTHER = 48 << 20
"""What requests on their way and the allocator may add to the caches."""

_GAPS = 16 << 20
"""A quarter of what the schemas of the second lap would take if all were kept."""


def test_schemas_that_are_all_different_take_no_more_than_their_share(tmp_path: Path) -> None:
    """These take more than a hundred megabytes where all are kept."""
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
def test_full_caches_grow_no_more(tmp_path: Path) -> None:
    """Twice as many schemas as filled them add nothing but gaps of the allocator."""
    server = RunningServer(tmp_path, SIDECHECK_MEMORY_BYTES=str(_MEMORY))
    try:
        send_schemas(server, 200, patterns=False)
        full = resident_bytes(server)
        send_schemas(server, 400, patterns=False, first=200)
        after = resident_bytes(server)
    finally:
        server.close()

    assert after - full < _GAPS
