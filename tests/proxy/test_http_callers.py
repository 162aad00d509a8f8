"""Callers over HTTP by their Host and Origin headers, and the options that admit them."""

from collections.abc import Iterator

import pytest
from support.http_mcp_server import HttpMcpServer
from support.http_proxy import INITIALIZE, HttpProxied, proxied

HOSTS = ("nginx", "Host.Docker.Internal:8808", "[fd00::1]", "mcp.tools.svc.cluster.local")


@pytest.fixture(scope="module")
def named(upstream: HttpMcpServer) -> Iterator[HttpProxied]:
    """Yield a proxy that admits some callers."""
    options = [word for name in HOSTS for word in ("--allow-host", name)]
    with proxied(upstream, *options, "--allow-origin", "https://pages.example") as proxy:
        yield proxy


@pytest.mark.parametrize(
    ("header", "value", "option"),
    [
        ("host", "nginx", ""),
        ("host", "NGINX:8080", ""),
        ("host", "nginx.", ""),
        ("host", "host.docker.internal:8808", ""),
        ("host", "[fd00::1]:1", ""),
        ("host", "mcp.tools.svc.cluster.local", ""),
        ("host", "127.0.0.1:1", ""),
        ("host", "host.docker.internal:8809", "--allow-host NAME"),
        ("host", "host.docker.internal", "--allow-host NAME"),
        ("host", "nginx.evil.example", "--allow-host NAME"),
        ("host", "nginx:port", "--allow-host NAME"),
        ("origin", "https://pages.example", ""),
        ("origin", "https://evil.example", "--allow-origin ORIGIN"),
        ("origin", "http://nginx", "--allow-origin ORIGIN"),
    ],
)
def test_a_caller(
    server: HttpMcpServer, named: HttpProxied, header: str, value: str, option: str
) -> None:
    """The body and the log name the header and the option, and not the value."""
    response = named.post("initialize", INITIALIZE, 1, {header: value})
    if not option:
        assert 200 == response.status_code
        return
    note = f"the value of the {header.title()} header is not allowed ({option})"
    assert named.process.stderr is not None
    finding = named.process.stderr.readline()

    assert (403, note) == (response.status_code, response.json()["error"]["message"])
    assert finding.endswith(f"client->server: {note} (CALLER_NOT_ALLOWED, error, rejected)\n")
    assert value not in finding


def test_all_callers(server: HttpMcpServer) -> None:
    """A gateway in front checks them."""
    with proxied(server, "--allow-host", "*", "--allow-origin", "*") as proxy:
        headers = {"host": "any.example:1", "origin": "https://any.example"}

        assert 200 == proxy.post("initialize", INITIALIZE, 1, headers).status_code
