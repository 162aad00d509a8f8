"""Sidecheck and MCP servers, for many Envoys."""

from collections.abc import Iterator

import pytest
from support.gateway import Gateway, ext_proc_settings, running_gateway
from support.http_mcp_server import HttpMcpServer, http_mcp_server
from support.running import RunningServer


@pytest.fixture(scope="session")
def sidecheck(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """Return a Sidecheck whose policies are those of the routes."""
    running = RunningServer(tmp_path_factory.mktemp("sidecheck"), **ext_proc_settings())
    yield running
    running.close()


@pytest.fixture(scope="session")
def scripted() -> Iterator[HttpMcpServer]:
    """Return a server that does what its tool is called."""
    with http_mcp_server() as server:
        yield server


@pytest.fixture(scope="module")
def gateway(
    sidecheck: RunningServer,
    scripted: HttpMcpServer,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Gateway]:
    """Return a session through an Envoy that enforces everything."""
    with running_gateway(tmp_path_factory.mktemp("envoy"), scripted, sidecheck) as running:
        running.begin()
        running.received()
        running.envoy.entries(3)
        yield running
