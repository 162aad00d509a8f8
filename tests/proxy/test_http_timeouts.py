"""Requests over HTTP without a response, and silent streams."""

import asyncio
import json
import queue
from collections.abc import AsyncIterator

import pytest
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from support.http_mcp_server import HttpMcpServer
from support.http_proxy import codes, post, proxied

PROGRESS = (
    b'data: {"jsonrpc":"2.0","method":"notifications/message",'
    b'"params":{"level":"info","data":1}}\n\n'
)
REASON = "the server did not respond within 0.3 s (--timeout)"
FINDING = "server->client tools/call RESPONSE_TIMEOUT error, rejected"


async def _stream() -> AsyncIterator[bytes]:
    yield PROGRESS
    await asyncio.Event().wait()


@pytest.mark.parametrize("enforces", [False, True])
@pytest.mark.parametrize("kind", ["nothing", "a body", "events"])
def test_a_call_that_does_not_end(server: HttpMcpServer, kind: str, *, enforces: bool) -> None:
    """The client gets an error, and the server the cancellation."""

    async def answer(request: Request, body: bytes) -> Response | None:
        if b"tools/call" not in body:
            return None
        if kind == "nothing":
            while (await request.receive())["type"] != "http.disconnect":
                pass
        type_ = "application/json" if kind == "a body" else "text/event-stream"
        return StreamingResponse(_stream(), media_type=type_)

    server.answer = answer
    cancelled: queue.SimpleQueue[dict[str, object]] = queue.SimpleQueue()

    async def watch(request: Request, body: bytes) -> Response | None:
        if b"notifications/cancelled" in body:
            cancelled.put({**json.loads(body), "session": request.headers["mcp-session-id"]})
        return await answer(request, body)

    server.answer = watch
    with proxied(server, "--timeout", "0.3", *(["--enforce"] if enforces else [])) as proxy:
        proxy.initialize()
        proxy.post("tools/list", {}, 3)
        response = proxy.call(4, do="a")
        notification = cancelled.get(timeout=300)
        err = proxy.end()
    texts = [line for line in response.text.splitlines() if "-32603" in line]
    [error] = [json.loads(text.removeprefix("data: ")) for text in texts]

    assert 200 == response.status_code
    assert (4, -32603, REASON) == (error["id"], *error["error"].values())
    assert {
        "jsonrpc": "2.0",
        "method": "notifications/cancelled",
        "params": {"requestId": 4, "reason": REASON},
        "session": "session-1",
    } == notification
    assert FINDING in codes(err)


def test_since_2026_the_closed_response_is_the_cancellation(server: HttpMcpServer) -> None:
    """No notification is sent."""

    async def answer(request: Request, body: bytes) -> Response | None:
        if b"tools/call" not in body:
            return None
        return StreamingResponse(_stream(), media_type="text/event-stream")

    server.answer = answer
    with proxied(server, "--timeout", "0.3") as proxy:
        response = post(proxy)
        err = proxy.end()

    assert response.content.startswith(PROGRESS)
    assert REASON in response.text
    assert FINDING in codes(err)
    assert not any(b"notifications/cancelled" in body for _, _, _, body in server.requests)


@pytest.mark.parametrize("enforces", [False, True])
def test_comments_keep_a_silent_stream_alive(server: HttpMcpServer, *, enforces: bool) -> None:
    """They come between events, however the server splits these."""
    parts = server.parts = queue.SimpleQueue()
    try:
        with proxied(server, "--keep-alive", "0.1", *(["--enforce"] if enforces else [])) as proxy:
            parts.put(PROGRESS[:20])
            with proxy.client.stream("GET", proxy.url) as response:
                lines = response.iter_lines()
                while next(lines) != ": keep-alive":
                    pass
                parts.put(PROGRESS[20:])
                while not (line := next(lines)).startswith("data: "):
                    assert line in {"", ": keep-alive"}
                while next(lines) != ": keep-alive":
                    pass
                parts.put(None)
    finally:
        server.parts = None

    assert PROGRESS.strip().decode() == line


def test_a_stream_is_silent_by_default(server: HttpMcpServer) -> None:
    """Its bytes are those of the server."""
    with proxied(server) as proxy:
        assert b"keep-alive" not in proxy.client.get(proxy.url).content
