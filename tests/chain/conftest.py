"""Fixtures of the chain."""

from collections.abc import AsyncIterator, Iterator
from contextlib import closing

import pytest
from sidecheck_server.cli.in_process import InProcessWorker
from sidecheck_server.core.limits import Limits
from sidecheck_server.registry.sqlite import open_registry
from sidecheck_server.services.container import ServiceOptions, Services, create_services
from support.running import RunningServer


@pytest.fixture
async def services() -> AsyncIterator[Services]:
    """Yield services over an empty registry."""
    with closing(open_registry(None)) as registry:
        limits = Limits()
        options = ServiceOptions(256 << 20)
        yield create_services(registry, InProcessWorker(limits).run, limits, options)


@pytest.fixture(scope="session")
def chain_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """Yield a server whose registry is the chain's own."""
    running = RunningServer(tmp_path_factory.mktemp("chain"))
    yield running
    running.close()
