"""Fixtures for the tests of the Python client."""

from collections.abc import AsyncIterator

import pytest
from sidecheck import Client
from support.clients import CLIENT_KINDS, connect
from support.running import RunningServer


@pytest.fixture
async def emptied(shared_server: RunningServer) -> AsyncIterator[RunningServer]:
    """Yield a server with an empty registry, which is emptied again afterwards."""
    yield shared_server
    async with Client(shared_server.address, timeout=120) as client:
        for server in ("other", "weather"):
            await client.delete_all(server)


@pytest.fixture(params=CLIENT_KINDS)
async def client(request: pytest.FixtureRequest, emptied: RunningServer) -> AsyncIterator[Client]:
    """Yield a client of each kind, connected to a server without tools."""
    async with connect(request.param, emptied.address, timeout=120) as connected:
        yield connected
