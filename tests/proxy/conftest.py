"""Fixtures of the tests of the proxy."""

from collections.abc import Iterator

import pytest
from support.stdio_proxy import Proxy


@pytest.fixture
def proxy() -> Iterator[Proxy]:
    """Yield a proxy that audits."""
    running = Proxy()
    running.shake_hands()
    with running.process:
        yield running
        running.process.kill()
