"""Caches under attack: their memory is bounded, and registered tools stay compiled."""

from pathlib import Path

import pytest
from resilience.caches import resident_bytes, send_schemas
from support.running import RunningServer

pytestmark = [pytest.mark.server, pytest.mark.slow]

_MEMORY = 4 << 20
_OTHER = 48 << 20
"""What requests on their way and the allocator may add to the caches."""


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
