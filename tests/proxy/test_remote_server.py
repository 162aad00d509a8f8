"""A server over HTTP that the proxy serves over stdio."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from support.http_mcp_server import SESSION, HttpMcpServer
from support.http_proxy import META
from support.remote_proxy import RemoteProxy
from support.stdio_proxy import SECONDS


@contextmanager
def remote(
    url: str, *options: str, env: dict[str, str] | None = None, shakes_hands: bool = True
) -> Iterator[RemoteProxy]:
    """Run a proxy before the server at *url*."""
    proxy = RemoteProxy(url, *options, env=env)
    with proxy.process:
        try:
            if shakes_hands:
                proxy.shake_hands()
            yield proxy
        finally:
            proxy.process.kill()


def replies(status: int, **options: Any) -> Any:
    """Return what answers calls with *status*."""

    async def answer(_request: Request, body: bytes) -> Response | None:
        return Response(status_code=status, **options) if b"tools/call" in body else None

    return answer


@pytest.mark.parametrize("options", [[], ["--enforce"]], ids=["audit", "enforced"])
def test_a_session_has_its_headers(server: HttpMcpServer, options: list[str]) -> None:
    """Credentials go with every request, and the session ends with the input."""
    env = {"SIDECHECK_UPSTREAM_TOKEN": "of-the-user"}
    arguments = [*options, "--header", "X-Tenant: a:b"]
    with remote(server.url, *arguments, env=env) as proxy:
        proxy.call(2, do="nothing")
        response = proxy.receive()
        code, _, err = proxy.end()

    assert (2, {"n": 1}) == (response["id"], response["result"]["structuredContent"])
    assert 0 == code
    sent = [
        (
            method,
            headers.get("mcp-session-id"),
            headers.get("mcp-protocol-version"),
            headers["authorization"],
            headers["x-tenant"],
        )
        for method, _, headers, _ in server.requests
    ]
    first, *others = sent
    assert ("POST", None, None, "Bearer of-the-user", "a:b") == first
    assert {(SESSION, "2025-11-25", "Bearer of-the-user", "a:b")} == {
        request[1:] for request in others
    }
    assert "DELETE" == sent[-1][0]
    assert "of-the-user" not in err


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        pytest.param(
            replies(
                401, headers={"www-authenticate": 'Bearer error_description="of-the-user expired"'}
            ),
            "answered 401 Unauthorized: *** expired; "
            "check the token of SIDECHECK_UPSTREAM_TOKEN or --header",
            id="a token that expired",
        ),
        pytest.param(
            replies(404, content="Session not found", media_type="text/plain"),
            "answered 404 Not Found: Session not found; "
            "the session has ended; connect again, or use --reconnect",
            id="a session that ended",
        ),
        pytest.param(
            replies(500, content='{"error":"out of memory"}', media_type="application/json"),
            "answered 500 Internal Server Error: out of memory",
            id="a fault of the server",
        ),
        pytest.param(
            replies(301, headers={"location": "https://elsewhere.example/mcp?key=secret"}),
            "answered 301 Moved Permanently; give https://elsewhere.example/mcp as --upstream",
            id="a redirection",
        ),
        pytest.param(
            replies(200, content="<html>", media_type="text/html"),
            "answered with text/html, which is not a message of MCP; check --upstream",
            id="a page",
        ),
        pytest.param(
            replies(200, media_type="application/json"),
            "answered 200 without a message",
            id="nothing",
        ),
    ],
)
def test_a_refusal_has_words(server: HttpMcpServer, answer: Any, error: str) -> None:
    """They name the server, its reason and the remedy, without secrets."""
    env = {"SIDECHECK_UPSTREAM_TOKEN": "of-the-user"}
    with remote(server.url, env=env) as proxy:
        server.answer = answer
        proxy.call(2)
        refused = proxy.receive()
        server.answer = None
        proxy.call(3)
        answered = proxy.receive()

    host = server.url.split("/")[2]
    assert (2, f"the server at {host} {error}") == (refused["id"], refused["error"]["message"])
    assert (3, {"n": 1}) == (answered["id"], answered["result"]["structuredContent"])


def test_a_token_that_is_missing(server: HttpMcpServer) -> None:
    """The first response says how to give it, and a finding too."""
    server.answer = lambda _request, _body: _unauthorized()
    with remote(server.url, shakes_hands=False) as proxy:
        proxy.send({"id": 1, "method": "initialize", "params": {}})
        message = proxy.receive()["error"]["message"]
        _, _, err = proxy.end()

    host = server.url.split("/")[2]
    expected = (
        f"the server at {host} answered 401 Unauthorized; "
        "give a token by SIDECHECK_UPSTREAM_TOKEN or --header"
    )
    assert expected == message
    assert expected in err


async def _unauthorized() -> Response:
    return Response(status_code=401)


def test_a_server_that_is_absent() -> None:
    """Each request has an error in words, and the proxy goes on."""
    with remote("http://127.0.0.1:9/mcp", shakes_hands=False) as proxy:
        for id_ in (1, 2):
            proxy.send({"id": id_, "method": "ping"})
        messages = [proxy.receive() for _ in range(2)]

    assert {(1, _ABSENT), (2, _ABSENT)} == {
        (message["id"], message["error"]["message"]) for message in messages
    }


_ABSENT = "the server at 127.0.0.1:9 cannot be reached: Connection refused"


def test_an_error_of_the_server_passes(server: HttpMcpServer) -> None:
    """Its id may be null, because only one request is open on the exchange."""
    error = {"code": -32001, "message": "sign in again"}

    async def answer(_request: Request, body: bytes) -> Response | None:
        if b"tools/call" not in body:
            return None
        return JSONResponse({"jsonrpc": "2.0", "id": None, "error": error}, 400)

    with remote(server.url) as proxy:
        server.answer = answer
        proxy.call(2)
        response = proxy.receive()

    assert {"jsonrpc": "2.0", "id": 2, "error": error} == response


def test_a_redirection_within_the_server_is_followed(server: HttpMcpServer) -> None:
    """The method stays (RFC 9110, section 15.4)."""

    async def answer(request: Request, _body: bytes) -> Response | None:
        is_first = request.url.path == "/mcp" and not request.url.query
        return Response(status_code=307, headers={"location": "/mcp?to=it"}) if is_first else None

    server.answer = answer
    with remote(server.url) as proxy:
        proxy.call(2)
        response = proxy.receive()

    assert {"n": 1} == response["result"]["structuredContent"]


def test_requests_run_side_by_side(server: HttpMcpServer) -> None:
    """A call that waits for the client's answer does not stop that answer."""
    roots = {"jsonrpc": "2.0", "id": 9, "method": "roots/list"}

    async def answer(_request: Request, body: bytes) -> Response | None:
        message = json.loads(body) if body else {}
        if message.get("method") == "tools/call":
            server.parts.put(_event(roots))  # type: ignore[union-attr]
        if message.get("id") == 9:
            result = {"content": [{"type": "text", "text": str(len(message["result"]["roots"]))}]}
            response = {"jsonrpc": "2.0", "id": 2, "result": result}
            server.parts.put(_event(response))  # type: ignore[union-attr]
        return Response(status_code=202) if message.get("method") == "tools/call" else None

    import queue

    server.parts = queue.SimpleQueue()
    server.answer = answer
    try:
        with remote(server.url) as proxy:
            proxy.call(2)
            asked = proxy.receive()
            proxy.send({"id": 9, "result": {"roots": []}})
            response = proxy.receive()
    finally:
        server.parts.put(None)
        server.parts = None

    assert roots == asked
    assert (2, "0") == (response["id"], response["result"]["content"][0]["text"])


def _event(message: Any) -> bytes:
    return b"data: " + json.dumps(message).encode() + b"\n\n"


def test_a_stream_that_breaks_off_is_resumed(server: HttpMcpServer) -> None:
    """After its last event (2025-11-25, basic/transports, "Resumability and Redelivery")."""
    resumed: list[str | None] = []

    async def begin() -> Any:
        yield b"id: 7\nretry: 1\ndata:\n\n"

    async def end() -> Any:
        yield _event({"jsonrpc": "2.0", "id": 2, "result": {"content": []}})

    async def answer(request: Request, body: bytes) -> Response | None:
        if b"tools/call" in body:
            return StreamingResponse(begin(), media_type="text/event-stream")
        if request.method == "GET" and "last-event-id" in request.headers:
            resumed.append(request.headers["last-event-id"])
            return StreamingResponse(end(), media_type="text/event-stream")
        return Response(status_code=405) if request.method == "GET" else None

    server.answer = answer
    with remote(server.url) as proxy:
        proxy.call(2)
        response = proxy.receive()

    assert (2, {"content": []}) == (response["id"], response["result"])
    assert ["7"] == resumed


def test_a_stream_that_cannot_be_resumed(server: HttpMcpServer) -> None:
    """The request has an error."""
    with remote(server.url) as proxy:
        proxy.call(2, do="cut")
        response = proxy.receive()

    host = server.url.split("/")[2]
    words = f"the server at {host} ended the stream of the response before the response"
    assert (2, words) == (response["id"], response["error"]["message"])


def test_headers_mirror_a_message_of_2026_07_28(server: HttpMcpServer) -> None:
    """The listed schema names those of the arguments."""
    with remote(server.url, shakes_hands=False) as proxy:
        proxy.send({"id": 1, "method": "tools/list", "params": META})
        proxy.receive()
        arguments = {"region": "Île"}
        params = {"name": "echo", "arguments": arguments, **META}
        proxy.send({"id": 2, "method": "tools/call", "params": params})
        proxy.receive()

    headers = server.requests[-1][2]
    assert {
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": "tools/call",
        "mcp-name": "echo",
        "mcp-param-r": "=?base64?w45sZQ==?=",
    } == {name: value for name, value in headers.items() if name.startswith("mcp-")}


@pytest.mark.parametrize("options", [[], ["--enforce"]], ids=["audit", "enforced"])
def test_a_pretty_printed_response_is_one_line(server: HttpMcpServer, options: list[str]) -> None:
    """A message over stdio has no line breaks."""
    result = {"content": [{"type": "text", "text": "a\nb"}], "structuredContent": {"n": 1}}
    text = json.dumps({"jsonrpc": "2.0", "id": 2, "result": result}, indent=2)
    with remote(server.url, *options) as proxy:
        server.answer = replies(200, content=text, media_type="application/json")
        server.tools = [*server.tools]
        if options:
            server.answer = None
            proxy.send({"id": 3, "method": "tools/list"})
            proxy.receive()
            server.answer = replies(200, content=text, media_type="application/json")
        proxy.call(2)
        response = proxy.receive()

    assert (2, result) == (response["id"], response["result"])


def test_requests_before_the_end_of_the_input_have_responses(server: HttpMcpServer) -> None:
    """As `printf … | sidecheck proxy` expects."""
    proxy = RemoteProxy(server.url)
    initialize = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": _PARAMS}
    call = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "echo"}}
    lines = [initialize, {"jsonrpc": "2.0", "method": "notifications/initialized"}, call]
    text = "\n".join(json.dumps(line) for line in lines).encode()
    out, _ = proxy.process.communicate(text, timeout=SECONDS)

    messages = [json.loads(line) for line in out.splitlines()]
    assert [1, 2] == [message["id"] for message in messages if "id" in message]
    assert 0 == proxy.process.returncode


_PARAMS = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "client", "version": "1"},
}
