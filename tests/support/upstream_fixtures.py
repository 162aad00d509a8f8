"""Fixtures of an MCP server over HTTP, for tests of proxies before it."""

from collections.abc import Iterator

import pytest
from support.http_mcp_server import HttpMcpServer, http_mcp_server

__all__ = ["server", "upstream"]


@pytest.fixture(scope="module")
def upstream() -> Iterator[HttpMcpServer]:
    """Yield the server of the module."""
    with http_mcp_server() as running:
        yield running


@pytest.fixture
def server(upstream: HttpMcpServer) -> Iterator[HttpMcpServer]:
    """Yield the server without an `answer` and without requests."""
    upstream.requests.clear()
    yield upstream
    upstream.answer = None
