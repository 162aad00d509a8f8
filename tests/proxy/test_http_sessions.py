"""Sessions over HTTP: whom they belong to, how long they last, and which tools they have."""

import json
from typing import Any

import pytest
from sidecheck_server.proxy.http.connections import Connection, HttpConnections
from sidecheck_server.proxy.messages import Message, read_message
from starlette.requests import Request
from starlette.responses import Response
from support.http_mcp_server import HttpMcpServer
from support.http_proxy import INITIALIZE, HttpProxied, proxied

SESSIONS = 2_000


class CountedSession:
    """A session that says whether it is open."""

    open_sessions = 0

    def __init__(self) -> None:
        type(self).open_sessions += 1

    async def __aexit__(self, *_exc_info: object) -> None:
        type(self).open_sessions -= 1


class NoListings:
    """Tools that are nothing."""

    def create_tools(self) -> None:
        """Return nothing."""

    def find_tools(self, _headers: object) -> None:
        """Return nothing."""


@pytest.fixture
def connections() -> HttpConnections:
    """Return sessions that are counted."""
    CountedSession.open_sessions = 0
    make: Any = lambda _tools, **_options: CountedSession()  # noqa: E731
    listings: Any = NoListings()
    return HttpConnections(listings, make)


def first_message() -> Message:
    """Return the request that begins a session."""
    message = read_message(b'{"jsonrpc":"2.0","id":1,"method":"initialize"}')
    assert isinstance(message, Message)
    return message


async def begin(connections: HttpConnections, id_: str) -> Connection:
    """Begin the session called *id_*, and release it."""
    connection = connections.acquire({}, first_message())
    await connections.keep({"mcp-session-id": id_}, connection)
    await connection.release()
    return connection


async def test_a_single_request_leaves_no_state(connections: HttpConnections) -> None:
    """A request with an unknown session leaves none either."""
    for headers in ({}, {"mcp-session-id": "unknown"}, {"mcp-method": "tools/call"}):
        await connections.acquire(headers).release()

    assert 0 == CountedSession.open_sessions


async def test_a_deleted_session_ends_with_its_last_use(connections: HttpConnections) -> None:
    """A deleted session ends with its last open stream or request."""
    named = {"mcp-session-id": "a"}
    session = await begin(connections, "a")
    stream, request = connections.acquire(named), connections.acquire(named)
    await connections.end(named)
    await stream.release()
    before = CountedSession.open_sessions
    await request.release()

    assert session is stream is request
    assert (1, 0) == (before, CountedSession.open_sessions)
    assert connections.acquire(named) is not session


async def test_a_reused_session_id(connections: HttpConnections) -> None:
    """A restarted server may reuse it; the state of the former session does not apply."""
    former, present = await begin(connections, "a"), await begin(connections, "a")

    assert former is not present is connections.acquire({"mcp-session-id": "a"})
    assert 1 == CountedSession.open_sessions


async def test_sessions_that_are_never_deleted_are_bounded(connections: HttpConnections) -> None:
    """The one that was not used the longest ends first."""
    first, second = await begin(connections, "0"), await begin(connections, "1")
    for number in range(2, SESSIONS):
        await begin(connections, str(number))
    await connections.acquire({"mcp-session-id": "0"}).release()
    await begin(connections, "one more")

    assert SESSIONS == CountedSession.open_sessions
    assert first is connections.acquire({"mcp-session-id": "0"})
    assert second is not connections.acquire({"mcp-session-id": "1"})
    await connections.close()


def tool(type_: str) -> Any:
    """Return a tool whose argument is of a type."""
    schema = {"type": "object", "properties": {"value": {"type": type_}}}
    return {"name": "echo", "description": "Returns its argument", "inputSchema": schema}


def listing(by: str, types: dict[str, str], queries: list[str]) -> Any:
    """Return what lists tools by the header *by*, and notes who asked."""

    async def answer(request: Request, body: bytes) -> Response | None:
        message = json.loads(body) if body else {}
        key = str(request.headers.get(by, ""))
        results = {
            "initialize": {
                "protocolVersion": "2025-11-25",
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "s", "version": "1"},
            },
            "tools/list": {"tools": [tool(types.get(key, "null"))]},
            "tools/call": {"content": []},
        }
        result = results.get(str(message.get("method")))
        if result is None:
            return None
        if message["method"] == "tools/list":
            queries.append(key)
        response = {"jsonrpc": "2.0", "id": message["id"], "result": result}
        # The test selects the session.
        headers = {"mcp-session-id": request.headers.get("x-begins", "")} if not key else {}
        return Response(json.dumps(response), headers=headers, media_type="application/json")

    return answer


def call_as(proxy: HttpProxied, value: Any, id_: int, **headers: str) -> bool:
    """Return whether a call with *value* passes."""
    params = {"name": "echo", "arguments": {"value": value}}
    named = {name.replace("_", "-"): text for name, text in headers.items()}
    response = proxy.post("tools/call", params, id_, named)
    return "isError" not in response.json()["result"]


def test_sessions_have_tools_of_their_own(server: HttpMcpServer) -> None:
    """Although they are of one client, with the same credentials."""
    types = {"a": "string", "b": "integer"}
    queries: list[str] = []
    server.answer = listing("mcp-session-id", types, queries)
    with proxied(server, "--arguments", "enforce") as proxy:
        for id_ in types:
            proxy.post("initialize", INITIALIZE, 1, {"x-begins": id_})
        passed = {
            id_: [
                call_as(proxy, value, number, mcp_session_id=id_)
                for number, value in enumerate(["x", 5, "x", 5], 2)
            ]
            for id_ in types
        }

    assert {"a": [True, False] * 2, "b": [False, True] * 2} == passed
    assert ["a", "b"] == queries


def test_clients_have_tools_of_their_own(server: HttpMcpServer) -> None:
    """Without sessions, their credentials distinguish them."""
    types = {"Bearer a": "string", "Bearer b": "integer"}
    queries: list[str] = []
    server.answer = listing("authorization", types, queries)
    with proxied(server, "--arguments", "enforce") as proxy:
        passed = {
            key: [call_as(proxy, "x", 2, authorization=key) for _ in range(2)] for key in types
        }

    assert {"Bearer a": [True, True], "Bearer b": [False, False]} == passed
    assert [*types] == queries


@pytest.mark.parametrize(("status", "method"), [(404, "POST"), (200, "DELETE"), (405, "DELETE")])
def test_the_end_of_a_session(server: HttpMcpServer, status: int, method: str) -> None:
    """The server decides about it, and about later requests of the client."""
    statuses = iter([status, 404])

    async def answer(request: Request, body: bytes) -> Response | None:
        if request.method == "DELETE" or b"tools/call" in body:
            return Response(status_code=next(statuses))
        return None

    server.answer = answer
    with proxied(server) as proxy:
        proxy.initialize()
        ended = proxy.call(2) if method == "POST" else proxy.client.delete(proxy.url)
        after = proxy.call(3)
        del proxy.client.headers["mcp-session-id"]
        proxy.initialize()
        server.answer = None
        called = proxy.call(2)

    assert (status, 404, 200) == (ended.status_code, after.status_code, called.status_code)
