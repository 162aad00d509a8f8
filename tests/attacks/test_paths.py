"""Paths under enforcement: messages reach the endpoint alone, and all of them are validated."""

from typing import Any

import httpx
import pytest
from support.http_mcp_server import HttpMcpServer
from support.http_proxy import HttpProxied, call, post, proxied


@pytest.mark.parametrize("path", ["/mcp/", "/MCP", "/%6dcp", "//mcp"])
def test_other_spellings_of_the_path_are_validated(
    server: HttpMcpServer, enforced: HttpProxied, path: str
) -> None:
    """Servers may take them for the path."""
    url = httpx.URL(enforced.url.removesuffix("/mcp")).copy_with(raw_path=path.encode())
    response = post(enforced, call(do=5), url=url)

    assert response.json()["result"]["isError"]
    assert [] == server.messages()


OTHER_PATHS = {
    404: [
        *("POST /mcp/x", "POST /mcp/%23x", "POST /mcp;x", "POST /mcp%3bx"),
        *("POST /x/%2e%2e/mcp", "POST /mcp%25252f", "POST /other%2fpath", "POST /token/x"),
        *("POST /sse", "GET /sse", "GET /mcp/x", "GET /", "GET /register", "POST /openedx"),
        *("POST /.well-known/x", "GET /.well-known", "PUT /token", "PUT /opened%2f..%2fmcp"),
    ],
    200: [
        *("POST /token", "POST /register", "POST /revoke", "POST /authorize", "GET /authorize?a=b"),
        *("GET /.well-known/oauth-protected-resource/mcp", "OPTIONS /token"),
        *("POST /opened", "GET /opened/"),
    ],
    405: ["PUT /mcp", "PATCH /mcp/"],
}
"""Requests under enforcement with ``--allow-path /opened/``, by their status."""


def test_under_enforcement_other_paths_are_listed(server: HttpMcpServer) -> None:
    """An unlisted path may reach the server's handler of messages."""
    statuses: dict[int, list[str]] = {status: [] for status in OTHER_PATHS}
    with proxied(server, "--enforce", "--allow-path", "/opened/") as proxy:
        origin = httpx.URL(proxy.url.removesuffix("/mcp"))
        for request in (request for group in OTHER_PATHS.values() for request in group):
            method, path = request.split(" ")
            server.requests.clear()
            url = origin.copy_with(raw_path=path.encode())
            status = proxy.client.request(method, url, content=b"a=b").status_code
            assert (200 == status) is bool(server.requests), request
            statuses[status].append(request)

    assert OTHER_PATHS == statuses


@pytest.mark.parametrize(("message", "status"), [(call(), 404), ([call()], 404), ({"a": 1}, 200)])
def test_a_message_for_another_path(
    server: HttpMcpServer, enforced: HttpProxied, message: Any, status: int
) -> None:
    """A message there would not be validated; other bodies are forwarded."""
    origin = enforced.url.removesuffix("/mcp")
    response = post(enforced, message, url=f"{origin}/token")

    assert status == response.status_code
