"""Fixtures for the tests of the Python client."""

from collections.abc import AsyncIterator

import pytest
from sidecheck import Client
from support.clients import FACES, connect
from support.running import RunningServer


@pytest.fixture
async def emptied(shared_server: RunningServer) -> AsyncIterator[RunningServer]:
    """Return a server whose registry is empty, and empty it again."""
    yield shared_server
    async with Client(shared_server.address, timeout=120) as client:
        for server in ("other", "weather"):
            await client.delete_all(server)


@pytest.fixture(params=FACES)
async def client(request: pytest.FixtureRequest, emptied: RunningServer) -> AsyncIterator[Client]:
    """Return a client of each face in turn, connected to a server with no tools."""
    async with connect(request.param, emptied.address, timeout=120) as connected:
        yield connected
