"""HTTP+SSE of 2024-11-05 through the proxy, with a scripted server."""

import json
import queue
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import pytest
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from support.http_mcp_server import TOOL, HttpMcpServer
from support.http_proxy import SECONDS, HttpProxied, codes, proxied

_ENFORCED = pytest.mark.parametrize("options", [[], ["--enforce"]], ids=["audit", "enforced"])
_INITIALIZE = {
    "protocolVersion": "2024-11-05",
    "capabilities": {},
    "clientInfo": {"name": "client", "version": "1"},
}


class SseServer:
    """A server whose answers come in the stream, and its received messages."""

    def __init__(self, server: HttpMcpServer, endpoint: str) -> None:
        self.endpoint = endpoint
        self.received: list[Any] = []
        self.targets: list[str] = []
        self.parts = server.parts = queue.SimpleQueue()
        self.parts.put(f": hello\n\nevent: endpoint\ndata: {endpoint}\n\n".encode())
        server.answer = self.answer

    async def answer(self, request: Request, body: bytes) -> Response | None:
        """Respond to a message in the stream; a GET opens it."""
        if request.method != "POST":
            return None
        message = json.loads(body)
        self.received.append(message)
        self.targets.append(f"{request.url.path}?{request.url.query}")
        result = self.result(message)
        if result is not None:
            self.send({"jsonrpc": "2.0", "id": message["id"], "result": result})
        return PlainTextResponse("Accepted", 202)

    def result(self, message: Any) -> Any:
        """Return the result of *message*, None without one."""
        match message.get("method"):
            case "initialize":
                info = {"name": "scripted", "version": "1"}
                capabilities: dict[str, Any] = {"tools": {}}
                return {
                    "protocolVersion": "2024-11-05",
                    "capabilities": capabilities,
                    "serverInfo": info,
                }
            case "tools/list":
                return {"tools": [{key: TOOL[key] for key in _KEYS}]}
            case "tools/call":
                return {"content": []}
        return None

    def send(self, message: Any) -> None:
        """Send *message* in the stream."""
        self.parts.put(b"event: message\r\ndata: " + json.dumps(message).encode() + b"\r\n\r\n")


_END = re.compile(rb"\r\n\r\n|\n\n")
_KEYS = ("name", "description", "inputSchema")


class SseClient:
    """A client with an open stream."""

    def __init__(self, proxy: HttpProxied, response: httpx.Response) -> None:
        self.proxy = proxy
        self._lines = response.iter_raw()
        self.text = b""
        self._position = 0
        self.endpoint = self.event().removeprefix(b"event: endpoint\ndata: ").strip().decode()

    def event(self) -> bytes:
        """Return the next event that is no comment."""
        while True:
            if end := _END.search(self.text, self._position):
                event = self.text[self._position : end.end()]
                self._position = end.end()
                if not event.startswith(b":"):
                    return event
            else:
                self.text += next(self._lines)

    def message(self) -> Any:
        """Return the next message of the stream."""
        return json.loads(self.event().partition(b"data: ")[2])

    def post(self, message: Any) -> httpx.Response:
        """Send *message* to the endpoint."""
        url = httpx.URL(self.proxy.url).join(self.endpoint)
        return self.proxy.client.post(
            url, json={"jsonrpc": "2.0", **message}, headers={"accept": ""}
        )

    def shake_hands(self) -> None:
        """Begin the session."""
        self.post({"id": 1, "method": "initialize", "params": _INITIALIZE})
        assert 1 == self.message()["id"]
        self.post({"method": "notifications/initialized"})

    def call(self, id_: int, **arguments: Any) -> httpx.Response:
        """Call the tool of the server."""
        params = {"name": "echo", "arguments": arguments}
        return self.post({"id": id_, "method": "tools/call", "params": params})


@contextmanager
def connected(
    server: HttpMcpServer, *options: str, endpoint: str = "/messages?session=1"
) -> Iterator[tuple[SseServer, SseClient]]:
    """Yield a server and its client, which have a proxy between them."""
    scripted = SseServer(server, endpoint)
    try:
        with proxied(server, *options) as proxy, proxy.client.stream("GET", proxy.url) as response:
            yield scripted, SseClient(proxy, response)
            scripted.parts.put(None)
    finally:
        scripted.parts.put(None)
        server.parts = None


@_ENFORCED
def test_messages_and_events_pass(server: HttpMcpServer, options: list[str]) -> None:
    """The messages of the client reach the endpoint, and those of the server come in the stream."""
    with connected(server, *options) as (scripted, client):
        client.shake_hands()
        accepted = client.call(2, do="nothing")
        answered = client.message()
        err = client.proxy.end()

    assert ("/messages?session=1", 202, "Accepted") == (
        client.endpoint,
        accepted.status_code,
        accepted.text,
    )
    assert {"jsonrpc": "2.0", "id": 2, "result": {"content": []}} == answered
    assert [] == codes(err)
    assert {"/messages?session=1"} == {*scripted.targets}


def test_audit_changes_no_byte(server: HttpMcpServer) -> None:
    """Line ends and comments stay."""
    with connected(server) as (scripted, client):
        client.shake_hands()
        scripted.parts.put(b": ping\r\n\r\nid: 5\r\n\r\nevent: other\ndata: x\n\n")
        client.call(2)
        assert b"id: 5\r\n\r\n" == client.event()
        assert b"event: other\ndata: x\n\n" == client.event()
        client.message()

    assert client.text.startswith(
        b": hello\n\nevent: endpoint\ndata: /messages?session=1\n\nevent: message\r\ndata: "
    )
    assert b": ping\r\n\r\nid: 5\r\n\r\n" in client.text


@_ENFORCED
@pytest.mark.parametrize(
    ("endpoint", "shown"),
    [
        ("{origin}/messages?session=1", "/messages?session=1"),
        ("messages/1", "messages/1"),
        ("?session=1", "?session=1"),
        ("/mcp/messages", "/mcp/messages"),
        # Of another scheme than the page's, browsers read this as the URL of another host.
        ("http:/messages?session=1", "/messages?session=1"),
    ],
)
def test_an_endpoint_leads_to_the_proxy(
    server: HttpMcpServer, options: list[str], endpoint: str, shown: str
) -> None:
    """A URL with a host becomes a path; the query or the path names the session."""
    origin = server.url.removesuffix("/mcp")
    with connected(server, *options, endpoint=endpoint.format(origin=origin)) as (_, client):
        client.shake_hands()
        client.call(2)
        answered = client.message()
        err = client.proxy.end()

    assert (shown, 2, []) == (client.endpoint, answered["id"], codes(err))


def test_an_invalid_call_is_answered_in_the_stream(server: HttpMcpServer) -> None:
    """The server does not get it; an invalid response is replaced."""
    with connected(server, "--enforce") as (scripted, client):
        client.shake_hands()
        accepted = client.call(2, do=5)
        rejected = client.message()
        scripted.result = lambda message: {"content": 5}  # type: ignore[method-assign]
        client.call(3)
        replaced = client.message()
        err = client.proxy.end()

    assert (202, 2) == (accepted.status_code, rejected["id"])
    assert "do: expected a string, found 5" in rejected["result"]["content"][0]["text"]
    assert (3, True) == (replaced["id"], "error" in replaced or replaced["result"]["isError"])
    assert [1, None, 3] == [
        message.get("id")
        for message in scripted.received
        if not str(message.get("id")).startswith("sidecheck-")
    ]
    assert "client->server tools/call echo TYPE /params/arguments/do error, rejected" in codes(err)


def test_audit_reports_an_invalid_call(server: HttpMcpServer) -> None:
    """And passes it."""
    with connected(server) as (_, client):
        client.shake_hands()
        client.call(2, do=5)
        answered = client.message()
        err = client.proxy.end()

    assert {"content": []} == answered["result"]
    assert ["client->server tools/call echo TYPE /params/arguments/do error, passed"] == codes(err)


def test_a_session_has_no_other_path_under_enforcement(server: HttpMcpServer) -> None:
    """Only the announced endpoint passes, and only while its stream is open."""
    with connected(server, "--enforce") as (_, client):
        client.shake_hands()
        known, client.endpoint = client.endpoint, "/messages?session=2"
        other = client.post({"id": 5, "method": "ping"})
        client.endpoint = known

    assert 404 == other.status_code


@pytest.mark.parametrize(("options", "status"), [([], 200), (["--enforce"], 415)])
@pytest.mark.parametrize("method", ["OPTIONS", "PUT"])
def test_a_body_of_another_method(
    server: HttpMcpServer, options: list[str], method: str, status: int
) -> None:
    """A server that reads it as a message gets only what was validated."""
    with connected(server, *options) as (_, client):
        url = httpx.URL(client.proxy.url).join(client.endpoint)
        client.proxy.client.request(method, url, content=b'{"id":1,"method":"tools/call"}')
        response = client.proxy.client.request(method, url, content=b"\x1f\x8b")

    assert (status == 415) == (response.status_code == 415)
    if status == 415:
        assert not [body for verb, *_, body in server.requests if verb == method and body]


@pytest.mark.parametrize(("options", "is_passed"), [([], True), (["--enforce"], False)])
def test_an_endpoint_of_another_server(
    server: HttpMcpServer, options: list[str], is_passed: bool
) -> None:
    """Its messages cannot be validated."""
    scripted = SseServer(server, "http://elsewhere.example/messages")
    scripted.parts.put(None)
    try:
        with proxied(server, *options) as proxy:
            text = proxy.client.get(proxy.url, timeout=SECONDS).text
            err = proxy.end()
    finally:
        server.parts = None

    assert is_passed == ("http://elsewhere.example/messages" in text)
    assert any("NOT_VALIDATED" in code for code in codes(err))


@pytest.mark.parametrize(("options", "passes"), [([], True), (["--enforce"], False)])
@pytest.mark.parametrize("is_sse", [True, False], ids=["HTTP+SSE", "Streamable HTTP"])
@pytest.mark.parametrize("head", [b"event: endpoint", b"event: endpoint\nevent: x\0"])
def test_a_later_endpoint(
    server: HttpMcpServer, options: list[str], head: bytes, *, is_sse: bool, passes: bool
) -> None:
    """Messages to it would not pass the proxy."""
    scripted = SseServer(server, "/messages?session=1")
    if not is_sse:
        scripted.parts.get()
        scripted.parts.put(b"data: {}\n\n")
    scripted.parts.put(head + b"\ndata: http://elsewhere.example/messages\n\n")
    scripted.parts.put(None)
    try:
        with proxied(server, *options) as proxy:
            text = proxy.client.get(proxy.url, timeout=SECONDS).text
            err = proxy.end()
    finally:
        server.parts = None

    assert passes == ("http://elsewhere.example/messages" in text)
    assert passes != ("server->client NOT_VALIDATED error, rejected" in codes(err))


@_ENFORCED
def test_the_end_of_the_stream_answers_open_requests(
    server: HttpMcpServer, options: list[str]
) -> None:
    """No request waits for a server that is gone."""
    with connected(server, *options) as (scripted, client):
        client.shake_hands()
        scripted.result = lambda message: None  # type: ignore[method-assign]
        client.post({"id": 2, "method": "ping"})
        scripted.parts.put(None)
        message = client.message()

    assert (2, "the server ended the stream before it responded") == (
        message["id"],
        message["error"]["message"],
    )
