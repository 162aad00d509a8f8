"""Sessions that the server ends, with and without `--reconnect`."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from starlette.requests import Request
from starlette.responses import Response
from support.http_mcp_server import TOOL, HttpMcpServer
from support.http_proxy import INITIALIZE, HttpProxied, codes, proxied
from support.remote_proxy import RemoteProxy

_ENFORCED = pytest.mark.parametrize("options", [[], ["--enforce"]], ids=["audit", "enforced"])


class Sessions:
    """Sessions of a server, which ends them at will."""

    def __init__(self) -> None:
        self.ids: list[str] = []
        self.is_open = False
        #: Whether another session can be opened.
        self.opens = True
        #: Session and method of each message.
        self.messages: list[tuple[str | None, str]] = []

    def end(self) -> None:
        """End the session."""
        self.is_open = False

    async def answer(self, request: Request, body: bytes) -> Response | None:
        """Respond to a request, with 404 outside the present session."""
        message = json.loads(body) if body else {}
        id_ = request.headers.get("mcp-session-id")
        if request.method == "GET":
            return Response(status_code=405)
        self.messages.append((id_, message.get("method", request.method)))
        if message.get("method") == "initialize":
            if not self.opens:
                return Response(status_code=503)
            self.ids.append(f"session-{len(self.ids) + 1}")
            self.is_open = True
            return _initialized(message, self.ids[-1])
        is_present = self.is_open and id_ == self.ids[-1]
        return None if is_present else Response("Session not found", 404)


def _initialized(message: Any, id_: str) -> Response:
    result = {
        "protocolVersion": "2025-11-25",
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "scripted", "version": "1"},
    }
    text = json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result})
    return Response(text, headers={"mcp-session-id": id_}, media_type="application/json")


@pytest.fixture
def sessions(server: HttpMcpServer) -> Sessions:
    """Return the sessions of the server."""
    sessions = Sessions()
    server.answer = sessions.answer
    server.tools = [TOOL]
    return sessions


def shake_hands(proxy: HttpProxied) -> None:
    """Begin a session, and keep its id."""
    response = proxy.post("initialize", INITIALIZE, 1)
    proxy.client.headers["mcp-session-id"] = response.headers["mcp-session-id"]
    proxy.client.headers["mcp-protocol-version"] = "2025-11-25"
    proxy.client.post(proxy.url, json={"jsonrpc": "2.0", "method": "notifications/initialized"})


@_ENFORCED
def test_the_end_of_a_session_is_told(
    server: HttpMcpServer, sessions: Sessions, options: list[str]
) -> None:
    """By default the client gets the 404 as it is, and opens another session itself."""
    with proxied(server, *options) as proxy:
        shake_hands(proxy)
        proxy.call(2)
        sessions.end()
        response = proxy.call(3)

    assert (404, "Session not found") == (response.status_code, response.text)
    assert ["session-1"] == sessions.ids


def test_the_end_of_a_session_is_told_before_the_tools_are_listed(
    server: HttpMcpServer, sessions: Sessions
) -> None:
    """Although the proxy notices it first, when it lists the tools for the call."""
    with proxied(server, "--enforce") as proxy:
        shake_hands(proxy)
        sessions.end()
        response = proxy.call(2)

    assert (404, "Session not found") == (response.status_code, response.text)


@_ENFORCED
def test_a_session_is_renewed(
    server: HttpMcpServer, sessions: Sessions, options: list[str]
) -> None:
    """The client keeps its id; the call is sent again, with tools that are listed again."""
    with proxied(server, "--reconnect", *options) as proxy:
        shake_hands(proxy)
        first = proxy.call(2)
        sessions.end()
        server.tools = [{**TOOL, "inputSchema": _WITH_NUMBERS}]
        repeated = proxy.call(3)
        later = proxy.call(4, do=5)
        deleted = proxy.client.delete(proxy.url)
        err = proxy.end()

    assert [200] * 4 == [response.status_code for response in (first, repeated, later, deleted)]
    assert {"n": 1} == repeated.json()["result"]["structuredContent"]
    assert {"n": 1} == later.json()["result"]["structuredContent"]
    assert ["session-1", "session-2"] == sessions.ids
    assert ["server->client SESSION_RENEWED warning, passed"] == codes(err)
    renewal = sessions.messages.index((None, "initialize"), 1)
    assert ("session-2", "notifications/initialized") == sessions.messages[renewal + 1]
    assert {"session-2"} == {id_ for id_, _ in sessions.messages[renewal + 1 :]}


_WITH_NUMBERS = {"type": "object", "properties": {"do": {"type": "integer"}}}


def _never_opens(sessions: Sessions) -> None:
    sessions.opens = False


def _ends_at_once(sessions: Sessions) -> None:
    answer = sessions.answer

    async def reject_calls(request: Request, body: bytes) -> Response | None:
        if b"tools/call" in body:
            return Response("Session not found", 404)
        return await answer(request, body)

    sessions.answer = reject_calls  # type: ignore[method-assign]


@pytest.mark.parametrize("fault", [_never_opens, _ends_at_once])
def test_a_renewal_that_fails(
    server: HttpMcpServer, sessions: Sessions, fault: Callable[[Sessions], None]
) -> None:
    """The client gets the first 404, and no session is opened for it again."""
    with proxied(server, "--reconnect") as proxy:
        shake_hands(proxy)
        proxy.call(2)
        sessions.end()
        fault(sessions)
        server.answer = sessions.answer
        responses = [proxy.call(id_) for id_ in (3, 4)]

    assert [(404, "Session not found")] * 2 == [
        (response.status_code, response.text) for response in responses
    ]
    assert len(sessions.ids) <= 2


@_ENFORCED
def test_a_session_is_renewed_over_stdio(
    server: HttpMcpServer, sessions: Sessions, options: list[str]
) -> None:
    """Without `--reconnect`, the words of the error name it."""
    called = {}
    for option in ("", "--reconnect"):
        proxy = RemoteProxy(server.url, *options, *([option] if option else []))
        with proxy.process:
            proxy.shake_hands()
            proxy.call(2)
            proxy.receive()
            sessions.end()
            proxy.call(3)
            called[option] = proxy.receive()
            _, rest, err = proxy.end()
        assert [] == rest
        assert bool(option) == ("SESSION_RENEWED" in err)

    assert "the session has ended; connect again, or use --reconnect" in str(called[""]["error"])
    assert {"n": 1} == called["--reconnect"]["result"]["structuredContent"]
    assert ("session-3", "DELETE") == sessions.messages[-1]
