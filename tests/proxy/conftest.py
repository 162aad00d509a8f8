"""Fixtures of the tests of the proxy: over stdio, and over HTTP before a server in the test."""

from collections.abc import Iterator

import pytest
from support.http_mcp_server import HttpMcpServer, http_mcp_server
from support.http_proxy import HttpProxied, proxied
from support.stdio_proxy import Proxy


@pytest.fixture
def proxy() -> Iterator[Proxy]:
    """Yield a proxy that audits."""
    running = Proxy()
    running.shake_hands()
    with running.process:
        yield running
        running.process.kill()


@pytest.fixture(scope="module")
def upstream() -> Iterator[HttpMcpServer]:
    """Yield a server of the module."""
    with http_mcp_server() as running:
        yield running


@pytest.fixture
def server(upstream: HttpMcpServer) -> Iterator[HttpMcpServer]:
    """Yield the server, as it is without an `answer`, and with no requests."""
    upstream.requests.clear()
    yield upstream
    upstream.answer = None


@pytest.fixture(scope="module")
def audited(upstream: HttpMcpServer) -> Iterator[HttpProxied]:
    """Yield a proxy that audits, for single requests."""
    with proxied(upstream, url=f"{upstream.url}?key=of%20upstream") as proxy:
        yield proxy


@pytest.fixture(scope="module")
def enforced(upstream: HttpMcpServer) -> Iterator[HttpProxied]:
    """Yield a proxy that enforces everything, for single requests."""
    with proxied(upstream, "--enforce") as proxy:
        yield proxy
