"""The proxy over Streamable HTTP, as a process before a real server."""

import json
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from support.http_mcp_server import SESSION, HttpMcpServer, http_mcp_server
from support.http_proxy import ACCEPT, INITIALIZE, META, SECONDS, HttpProxied, codes, proxied


@pytest.fixture(scope="module")
def server() -> Iterator[HttpMcpServer]:
    """Yield a server of the module."""
    with http_mcp_server() as running:
        yield running


def test_a_session_passes(server: HttpMcpServer) -> None:
    """Headers, bodies and status codes are equal; other paths and the end of the session too."""
    server.requests.clear()
    with proxied(server, "--enforce") as proxy:
        proxy.initialize()
        listed = proxy.post("tools/list", {}, 2, {"authorization": "Bearer x"})
        called = proxy.call(3, do="nothing")
        response = proxy.client.get(proxy.url.replace("/mcp", "/.well-known/oauth?a=b"))
        ended = proxy.client.delete(proxy.url)
        err = proxy.end()

    assert ["echo"] == [tool["name"] for tool in listed.json()["result"]["tools"]]
    assert {"n": 1} == called.json()["result"]["structuredContent"]
    assert ("oauth", 200) == (response.text, ended.status_code)
    assert [] == codes(err)
    listing = next(request for request in server.requests if b"tools/list" in request[3])
    assert "Bearer x" == listing[2]["authorization"]
    assert SESSION == listing[2]["mcp-session-id"]


def test_an_invalid_call_does_not_reach_the_server(server: HttpMcpServer) -> None:
    """The response has the violations; an invalid result is replaced."""
    server.requests.clear()
    with proxied(server, "--enforce") as proxy:
        proxy.initialize()
        rejected = proxy.call(2, do=5)
        replaced = proxy.call(3, do="break")
        err = proxy.end()

    assert "do: expected a string, found 5" in rejected.json()["result"]["content"][0]["text"]
    assert replaced.json()["result"]["isError"]
    assert [1, None, 3] == [message.get("id") for message in server.messages()]
    assert [
        "client->server tools/call echo TYPE /params/arguments/do error, rejected",
        "server->client tools/call echo TYPE /result/structuredContent/n error, rejected",
    ] == codes(err)


def test_events_pass_as_they_come(server: HttpMcpServer) -> None:
    """Line ends are uniform; invalid messages in a stream are removed."""
    with proxied(server, "--enforce") as proxy:
        proxy.initialize()
        direct = httpx.post(server.url, json=_call("stream"), headers=ACCEPT, timeout=SECONDS)
        through = proxy.call(2, do="stream")
        stream = proxy.client.get(proxy.url)
        err = proxy.end()

    assert "text/event-stream" in through.headers["content-type"]
    assert direct.content.replace(b"\r\n", b"\n") == through.content
    changed = b'id: 7\ndata: {"jsonrpc":"2.0","method":"notifications/tools/list_changed"}\n\n'
    assert b": hello\n\n" + changed == stream.content
    assert ["server->client notifications/message ENUM /params/level error, rejected"] == [
        code for code in codes(err) if "ENUM" in code
    ]


def _call(do: str) -> Any:
    params = {"name": "echo", "arguments": {"do": do}}
    return {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params}


@pytest.mark.parametrize(
    ("headers", "fault"),
    [
        pytest.param({}, "", id="as they should be"),
        pytest.param({"mcp-method": "tools/list"}, "Mcp-Method differs", id="another method"),
        pytest.param({"mcp-name": "other"}, "Mcp-Name differs", id="another name"),
        pytest.param({"mcp-name": "=?base64?ZWNobw==?="}, "", id="a name in Base64"),
        pytest.param({"mcp-name": "=?base64?!?="}, "Mcp-Name is not valid", id="broken Base64"),
        pytest.param({"mcp-param-r": "south"}, "Mcp-Param-R differs", id="another argument"),
        pytest.param({"mcp-param-r": ""}, "Mcp-Param-R differs", id="an empty argument"),
    ],
)
def test_headers_are_compared_with_the_message(
    proxy_without_sessions: HttpProxied, headers: dict[str, str], fault: str
) -> None:
    """Since 2026-07-28 headers repeat parts of the message; -32020 names the mismatch."""
    params = {"name": "echo", "arguments": {"region": "north"}, **META}
    own = {
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": "tools/call",
        "mcp-name": "echo",
        "mcp-param-r": "north",
    }
    response = proxy_without_sessions.post("tools/call", params, headers={**own, **headers})
    error = response.json().get("error", {"message": "", "code": 0})

    assert (400 if fault else 200, -32020 if fault else 0) == (
        response.status_code,
        error["code"],
    )
    assert fault in error["message"]


@pytest.mark.parametrize(
    ("method", "params", "status", "code"),
    [
        pytest.param("tools/list", {}, 400, -32602, id="no version"),
        pytest.param(
            "tools/list",
            {"_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}},
            400,
            -32602,
            id="no capabilities",
        ),
        pytest.param("ping", META, 404, -32601, id="a method of earlier versions"),
        pytest.param("initialize", META, 404, -32601, id="the handshake of earlier versions"),
    ],
)
def test_errors_have_the_status_of_their_version(
    proxy_without_sessions: HttpProxied, method: str, params: Any, status: int, code: int
) -> None:
    """Since 2026-07-28, the HTTP status tells the kind of error."""
    headers = {"mcp-protocol-version": "2026-07-28", "mcp-method": method}
    response = proxy_without_sessions.post(method, params, headers=headers)

    assert (status, code) == (response.status_code, response.json()["error"]["code"])
    assert 2 == response.json()["id"]


def test_errors_of_earlier_versions_have_200(server: HttpMcpServer) -> None:
    """The specification gave them no status of their own."""
    with proxied(server, "--enforce") as proxy:
        proxy.initialize()
        response = proxy.post("server/discover", {})

    assert (200, -32601) == (response.status_code, response.json()["error"]["code"])


@pytest.fixture(scope="module")
def proxy_without_sessions(server: HttpMcpServer) -> Iterator[HttpProxied]:
    """Yield a proxy that enforces headers and nothing about results, for single requests."""
    with proxied(server, "--messages", "enforce", "--results", "off") as proxy:
        yield proxy


@pytest.mark.parametrize(
    ("headers", "allowed"),
    [
        ({}, True),
        ({"origin": "http://localhost:3000"}, True),
        ({"origin": "https://allowed.example"}, True),
        ({"origin": "https://evil.example"}, False),
        ({"origin": "null"}, False),
        ({"host": "evil.example"}, False),
    ],
)
def test_pages_of_other_origins_are_rejected(
    server: HttpMcpServer, headers: dict[str, str], allowed: bool
) -> None:
    """A page with a host name that resolves to this machine is rejected too."""
    with proxied(server, "--allow-origin", "https://allowed.example") as proxy:
        response = proxy.post("initialize", INITIALIZE, 1, headers)

    assert (200 if allowed else 403) == response.status_code


def test_a_request_that_is_rejected_may_come_again(server: HttpMcpServer) -> None:
    """It may add credentials; its id counts only after the server accepts it."""
    with proxied(server, "--enforce") as proxy:
        proxy.initialize()
        refused = proxy.call(2, do="refuse")
        again = proxy.call(2, do="nothing")
        err = proxy.end()

    assert (401, "Bearer") == (refused.status_code, refused.headers["www-authenticate"])
    assert (200, []) == (again.status_code, codes(err))


def test_a_server_that_is_absent_or_breaks_off(server: HttpMcpServer) -> None:
    """Each request has an answer."""
    with proxied(server, url="http://127.0.0.1:9/mcp") as proxy:
        absent = proxy.post("initialize", INITIALIZE, 1)
    with proxied(server) as proxy:
        proxy.initialize()
        cut = proxy.call(2, do="cut")
        after = proxy.call(3)
        err = proxy.end()

    assert (502, 1, -32603) == (
        absent.status_code,
        absent.json()["id"],
        absent.json()["error"]["code"],
    )
    error = json.loads(cut.text.removeprefix("data: "))
    assert (2, -32603) == (error["id"], error["error"]["code"])
    assert 200 == after.status_code
    assert "server->client UPSTREAM_UNAVAILABLE error, rejected" in codes(err)


def test_a_failed_request_for_tools_is_repeated(server: HttpMcpServer) -> None:
    """The next call is validated as soon as the server lists its tools."""
    with proxied(server, "--enforce") as proxy:
        proxy.initialize()
        server.breaks_listings = True
        failed = proxy.call(2, do="nothing").json()
        server.breaks_listings = False
        called = proxy.call(3, do="nothing").json()

    assert "not validated by Sidecheck: TOOLS_NOT_LISTED" == failed["error"]["message"]
    assert {"n": 1} == called["result"]["structuredContent"]


def test_a_stream_that_breaks_off_without_a_session(proxy_without_sessions: HttpProxied) -> None:
    """It cannot be resumed, so the proxy ends it with a response."""
    params = {"name": "echo", "arguments": {"do": "cut"}, **META}
    headers = {"mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": "echo"}
    response = proxy_without_sessions.post("tools/call", params, 5, headers)
    error = json.loads(response.text.removeprefix("data: "))

    assert (5, -32603) == (error["id"], error["error"]["code"])


def test_a_response_to_another_request(proxy_without_sessions: HttpProxied) -> None:
    """The open request still has exactly one response."""
    params = {"name": "echo", "arguments": {"do": "misname"}, **META}
    headers = {"mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": "echo"}
    response = proxy_without_sessions.post("tools/call", params, 5, headers).json()

    assert (
        5,
        'the server answered with id "another", a string; the request has the id 5, a number',
    ) == (response["id"], response["error"]["message"])


def test_a_message_over_the_limit(server: HttpMcpServer) -> None:
    """It is refused before it is read as a whole."""
    with proxied(server, "--enforce", "--max-message-bytes", "2000") as proxy:
        large = proxy.call(2, do="x" * 2000)
        answer = proxy.call(3, do="large")
        small = proxy.post("initialize", INITIALIZE, 1)

    assert (413, 502, 200) == (large.status_code, answer.status_code, small.status_code)


def test_a_record_has_both_sides(server: HttpMcpServer, tmp_path: Any) -> None:
    """`lint-messages` accepts it."""
    record = tmp_path / "record.jsonl"
    with proxied(server, "--record", str(record)) as proxy:
        proxy.initialize()
        proxy.call(2, do="stream")
        proxy.end()
    lines = [json.loads(line) for line in record.read_text().splitlines()]

    assert ["client", "server", "client", "client", "server", "server"] == [
        line["direction"].split("-")[0] for line in lines
    ]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--upstream", "http://h/mcp", "--", "server"], "give either -- COMMAND or --upstream"),
        ([], "give either -- COMMAND or --upstream"),
        (["--upstream", "http://h/mcp", "--listen", "8080"], '--listen 8080: expected "host:port"'),
        (["--upstream", "ftp://h/mcp"], "--upstream ftp://h/mcp: expected an URL of http or https"),
        (
            ["--upstream", "http://h/mcp", "--certificate", "c.pem"],
            "--certificate and --private-key belong together",
        ),
    ],
)
def test_a_wrong_command_line(options: list[str], expected: str) -> None:
    """The message names the expected form."""
    run = subprocess.run(
        [sys.executable, "-m", "sidecheck_server", "proxy", *options],
        capture_output=True,
        text=True,
        check=False,
    )

    assert 2 == run.returncode
    assert expected in run.stderr
