"""Fixtures of the tests of the proxy: over stdio, and over HTTP before a server in the test."""

from collections.abc import Iterator

import pytest
from support.http_mcp_server import HttpMcpServer
from support.http_proxy import HttpProxied, proxied
from support.stdio_proxy import Proxy
from support.upstream_fixtures import server, upstream

__all__ = ["server", "upstream"]


@pytest.fixture
def proxy() -> Iterator[Proxy]:
    """Yield a proxy that audits."""
    running = Proxy()
    running.shake_hands()
    with running.process:
        yield running
        running.process.kill()


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
