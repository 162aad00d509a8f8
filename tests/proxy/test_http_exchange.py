"""HTTP itself through the proxy: headers, paths, bodies and status codes."""

import json
import subprocess
import sys
from typing import Any

import httpx
import pytest
from starlette.requests import Request
from starlette.responses import Response
from support.http_mcp_server import HttpMcpServer
from support.http_proxy import CALL_HEADERS, INITIALIZE, HttpProxied, call, post

NOT_JSON = '{"jsonrpc":"2.0","id":2,"method":"tools/call","a":NaN}'


def received(server: HttpMcpServer, name: str) -> list[bytes]:
    """Return the values of a header in the last request that the server got."""
    return [value for key, value in server.raw_headers[-1] if key == name.encode()]


def test_cookies_are_separate_for_each_client(server: HttpMcpServer, audited: HttpProxied) -> None:
    """A cookie for one client is not sent for another client."""

    async def answer(request: Request, body: bytes) -> Response | None:
        response = Response("{}", media_type="application/json")
        response.set_cookie("a", "1")
        response.set_cookie("b", "2")
        return response

    server.answer = answer
    first = post(audited)
    server.answer = None
    audited.client.cookies.clear()
    post(audited)

    assert ["a=1; Path=/; SameSite=lax", "b=2; Path=/; SameSite=lax"] == first.headers.get_list(
        "set-cookie"
    )
    assert [] == received(server, "cookie")


@pytest.mark.parametrize(
    ("sent", "name", "expected"),
    [
        ([("cookie", "a=1"), ("cookie", "b=2")], "cookie", [b"a=1", b"b=2"]),
        ([("x-name", b"caf\xc3\xa9")], "x-name", [b"caf\xc3\xa9"]),
        ([("connection", "x-hop"), ("x-hop", "1")], "x-hop", []),
        ([("te", "trailers")], "te", []),
        ([("x-forwarded-for", "10.0.0.1")], "x-forwarded-for", [b"10.0.0.1"]),
        ([("authorization", "Bearer a")], "authorization", [b"Bearer a"]),
        ([("accept-encoding", "br")], "accept-encoding", [b"identity"]),
    ],
)
def test_headers_reach_the_server(
    server: HttpMcpServer, audited: HttpProxied, sent: Any, name: str, expected: list[bytes]
) -> None:
    """Byte for byte and as often as they were sent, but for those of one connection."""
    response = post(audited, headers=sent)

    assert (200, expected) == (response.status_code, received(server, name))


@pytest.mark.parametrize("name", ["mcp-name", "mcp-method", "mcp-protocol-version"])
def test_a_repeated_header_does_not_match(
    server: HttpMcpServer, enforced: HttpProxied, name: str
) -> None:
    """The server may read another value than the first."""
    response = post(enforced, headers=[(name, CALL_HEADERS[name])])

    assert (400, -32020) == (response.status_code, response.json()["error"]["code"])
    assert [] == server.messages()


@pytest.mark.parametrize(
    ("headers", "message"),
    [
        pytest.param({"mcp-name": "echo"}, call(), id="no version"),
        pytest.param({"mcp-protocol-version": "2025-11-25"}, call(), id="an older version"),
        pytest.param({**CALL_HEADERS, "mcp-name": b"caf\xe9"}, call(name="café"), id="not ASCII"),
        pytest.param(
            CALL_HEADERS, '{"jsonrpc":"2.0","id":2,"method":"tools/call","a":NaN}', id="NaN"
        ),
        pytest.param(CALL_HEADERS, "[" * 20_000, id="deep"),
    ],
)
def test_headers_that_cannot_be_trusted(
    server: HttpMcpServer, enforced: HttpProxied, headers: Any, message: Any
) -> None:
    """The version may be missing, and the body may not be JSON: an error, and no call."""
    content = message if isinstance(message, str) else json.dumps(message)
    response = enforced.client.post(enforced.url, content=content, headers=headers)

    assert response.status_code in {200, 400}
    assert "error" in response.json()
    assert [] == server.messages()


@pytest.mark.parametrize(
    ("path", "target"),
    [
        ("/mcp", "/mcp?key=of%20upstream"),
        ("/mcp?a=%2F", "/mcp?key=of%20upstream&a=%2F"),
        ("/MCP/", "/MCP/?key=of%20upstream"),
        ("//%6dcp", "//%6dcp?key=of%20upstream"),
        ("/other%2Fpath?a", "/other%2Fpath?a"),
    ],
)
def test_targets_reach_the_server(
    server: HttpMcpServer, audited: HttpProxied, path: str, target: str
) -> None:
    """Byte for byte; to its own path, the query of --upstream is added."""
    origin = audited.url.removesuffix("/mcp")
    audited.client.get(httpx.URL(origin).copy_with(raw_path=path.encode()))

    assert target == server.targets[-1]


@pytest.mark.parametrize(
    ("location", "expected"),
    [
        ("{origin}/mcp/?a=b", "/mcp/?a=b"),
        ("/mcp/", "/mcp/"),
        ("https://elsewhere.example/mcp", None),
    ],
)
def test_redirections(
    server: HttpMcpServer, enforced: HttpProxied, location: str, expected: str | None
) -> None:
    """Redirections within the server lead to the proxy; others are rejected."""
    place = location.format(origin=server.url.removesuffix("/mcp"))

    async def answer(request: Request, body: bytes) -> Response | None:
        return Response(status_code=307, headers={"location": place}) if b"/call" in body else None

    server.answer = answer
    response = post(enforced)

    assert (307 if expected else 502, expected) == (
        response.status_code,
        response.headers.get("location"),
    )


@pytest.mark.parametrize(
    ("method", "headers", "status"),
    [
        ("PUT", {}, 405),
        ("PATCH", {}, 405),
        ("POST", {"content-encoding": "gzip"}, 415),
        ("POST", {"x-name": b"caf\xe9"}, 400),
        ("TRACE", {}, 405),
        ("OPTIONS", {"origin": "http://localhost:1", "access-control-request-method": "POST"}, 200),
    ],
)
def test_requests_outside_the_transport(
    server: HttpMcpServer, enforced: HttpProxied, method: str, headers: Any, status: int
) -> None:
    """They do not carry messages; a preflight is forwarded to the server."""
    content = b"" if method == "OPTIONS" else json.dumps(call(do=5))
    response = enforced.client.request(method, enforced.url, content=content, headers=headers)

    assert status == response.status_code
    assert method == "OPTIONS" or [] == server.messages()


def test_connections_to_the_server_are_used_again(
    server: HttpMcpServer, audited: HttpProxied
) -> None:
    """One request after the other needs no connection of its own."""
    ports = set()

    async def answer(request: Request, body: bytes) -> Response | None:
        assert request.client is not None
        ports.add(request.client.port)
        return None

    server.answer = answer
    for _ in range(20):
        post(audited)

    # An idle connection is closed after 2 seconds, which may pass on a busy machine.
    assert len(ports) < 20


def test_an_address_in_use(audited: HttpProxied) -> None:
    """The error names the address."""
    address = audited.url.removeprefix("http://").removesuffix("/mcp")
    command = [sys.executable, "-m", "sidecheck_server", "proxy", "--listen", address]
    run = subprocess.run(
        [*command, "--upstream", "http://127.0.0.1:9/mcp"],
        capture_output=True,
        text=True,
        check=False,
    )

    assert 1 == run.returncode
    assert f"Error: {address}: Address already in use" in run.stderr


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"origin": "http://LOCALHOST:80"}, 200),
        ({"origin": "http://[::1]:3000"}, 200),
        ({"origin": "http://127.0.0.2"}, 200),
        ({"origin": "http://localhost.evil.example"}, 403),
        ({"origin": "http://localhost@evil.example"}, 403),
        ({"origin": "http://[::1"}, 403),
        ({"origin": ""}, 403),
        ({"host": "LOCALHOST:1"}, 200),
        ({"host": "[::1]:8808"}, 200),
        ({"host": "127.0.0.1.evil.example"}, 403),
        ({"host": "evil.example:127"}, 403),
        ({"host": "localhost."}, 200),
    ],
)
def test_callers(audited: HttpProxied, headers: Any, status: int) -> None:
    """The names of this machine are accepted in any spelling."""
    assert status == audited.post("initialize", INITIALIZE, 1, headers).status_code
