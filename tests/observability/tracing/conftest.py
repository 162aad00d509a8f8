"""Servers that export their spans."""

from collections.abc import Iterator

import pytest
from support.traced_server import Caller, TracedServer, traced_server


@pytest.fixture(scope="session")
def traced(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TracedServer]:
    """Return a server that all tests of a process share; each makes traces of its own."""
    with traced_server(tmp_path_factory.mktemp("traced"), SIDECHECK_GATEWAYS="ext_mcp") as running:
        yield running


@pytest.fixture
def caller() -> Caller:
    """Return the first span of a trace."""
    return Caller.new()
