"""Streams of server-sent events through the proxy over HTTP."""

import asyncio
import json
import threading
from collections.abc import AsyncIterator
from typing import Any

import pytest
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from support.http_mcp_server import Answer, HttpMcpServer
from support.http_proxy import CALL_HEADERS, SECONDS, HttpProxied, call, codes, post, proxied

INVALID = {
    "content": [{"type": "text", "text": "{}"}],
    "structuredContent": {"n": "x"},
    "resultType": "complete",
}
RESPONSE = json.dumps({"jsonrpc": "2.0", "id": 2, "result": INVALID})
ERROR = -32603


def streaming(*pieces: bytes, breaks: bool = False) -> Answer:
    """Return what answers calls with *pieces*, each in a chunk, and may break off then."""

    async def stream() -> AsyncIterator[bytes]:
        for piece in pieces:
            yield piece
            await asyncio.sleep(0)
        if breaks:
            raise ConnectionResetError

    async def answer(request: Request, body: bytes) -> Response | None:
        if b"tools/call" not in body:
            return None
        return StreamingResponse(stream(), media_type="text/event-stream")

    return answer


def events(text: str) -> list[Any]:
    """Return the messages in a stream with line feeds."""
    return [json.loads(line[6:]) for line in text.splitlines() if line.startswith("data: {")]


@pytest.mark.parametrize(
    "stream",
    [
        f"data: {RESPONSE}\n\n",
        f"data: {RESPONSE}\r\n\r\n",
        f"data: {RESPONSE}\r\r",
        f"\ufeffdata: {RESPONSE}\n\n",
        f"event: message\ndata:{RESPONSE[:19]}\ndata:{RESPONSE[19:]}\n\n",
        f"event: other\ndata: {RESPONSE}\n\n",
        "data: " + json.dumps(json.loads(RESPONSE), indent=1).replace("\n", "\ndata: ") + "\n\n",
    ],
)
def test_an_invalid_result_in_any_form(
    server: HttpMcpServer, enforced: HttpProxied, stream: str
) -> None:
    """One message in one event replaces it."""
    server.answer = streaming(stream.encode())
    [message] = events(post(enforced).text)

    assert message["result"]["isError"]


@pytest.mark.parametrize("breaks", [False, True])
@pytest.mark.parametrize("rest", [b"", b"data: {", b"id: 2\ndata: 1\n"])
def test_a_stream_without_a_response(
    server: HttpMcpServer, enforced: HttpProxied, rest: bytes, breaks: bool
) -> None:
    """It cannot be resumed, so it ends with an error event."""
    server.answer = streaming(b"id: 1\ndata:\n\n", rest, breaks=breaks)
    response = post(enforced)

    assert response.text.startswith("id: 1\ndata: \n\ndata: {")
    assert [(2, ERROR)] == [
        (event["id"], event["error"]["code"]) for event in events(response.text)
    ]


@pytest.mark.parametrize(("start", "is_answered"), [(b"id: 1\ndata:\n\n", False), (b"", True)])
def test_a_stream_of_a_session_is_resumed(
    server: HttpMcpServer, start: bytes, is_answered: bool
) -> None:
    """It resumes after an event with an id; later events are validated once."""
    call_stream = streaming(start, breaks=True)

    async def answer(request: Request, body: bytes) -> Response | None:
        if request.method == "GET":
            assert ("1", "text/event-stream") == (
                request.headers["last-event-id"],
                request.headers["accept"],
            )
            return Response(f"id: 2\ndata: {RESPONSE}\n\n", media_type="text/event-stream")
        return await call_stream(request, body)

    server.answer = answer
    with proxied(server, "--enforce") as proxy:
        proxy.initialize()
        broken = proxy.call(2, do="a").text
        headers = {"last-event-id": "1", "accept": "text/event-stream"}
        rest = proxy.client.get(proxy.url, headers=headers).text
        again = proxy.client.get(proxy.url, headers=headers).text
        err = proxy.end()

    assert is_answered == bool(events(broken))
    assert is_answered != bool(events(rest))
    assert [] == events(again)
    assert is_answered or events(rest)[0]["result"]["isError"]
    assert "server->client RESPONSE_WITHOUT_REQUEST /id error, rejected" in codes(err)


def test_events_do_not_wait_for_later_events(server: HttpMcpServer, enforced: HttpProxied) -> None:
    """Comments, which keep a connection alive, do not wait either."""
    received = threading.Event()

    async def stream() -> AsyncIterator[bytes]:
        yield b": alive\n"
        await asyncio.to_thread(received.wait, SECONDS)
        yield f"data: {RESPONSE}\n\n".encode()

    async def answer(request: Request, body: bytes) -> Response | None:
        return StreamingResponse(stream(), media_type="text/event-stream")

    server.answer = answer
    content = json.dumps(call())
    with enforced.client.stream("POST", enforced.url, content=content, headers=CALL_HEADERS) as got:
        chunks = got.iter_raw()
        first = next(chunks)
        received.set()
        rest = b"".join(chunks)

    assert b": alive\n" == first
    assert rest.startswith(b"data: ")


def test_events_of_other_types_pass(server: HttpMcpServer, enforced: HttpProxied) -> None:
    """Clients read only events of the type `message` as messages."""
    server.answer = streaming(b"event: ping\ndata: 12:00\n\n", b"data: 12:00\n\n")
    text = post(enforced).text

    assert text.startswith("event: ping\ndata: 12:00\n\ndata: {")
    assert [ERROR] == [event["error"]["code"] for event in events(text)]


def test_an_event_over_the_limit(server: HttpMcpServer) -> None:
    """The stream ends with the error of the request; the server's stream is closed."""
    server.answer = streaming(b": ok\n\n", b"data: " + b"x" * 3000)
    with proxied(server, "--enforce", "--max-message-bytes", "2000") as proxy:
        response = post(proxy)
        err = proxy.end()

    assert response.text.startswith(": ok\n\ndata: {")
    assert [ERROR] == [event["error"]["code"] for event in events(response.text)]
    assert "server->client MESSAGE_TOO_LONG error, rejected" in codes(err)


def test_a_request_of_the_server_that_is_rejected(server: HttpMcpServer) -> None:
    """Its error is sent in a POST of its own, although the client has sent a GET."""
    request_of_server = {"jsonrpc": "2.0", "id": 9, "method": "roots/list", "params": 5}

    async def answer(request: Request, body: bytes) -> Response | None:
        if request.method != "GET":
            return None
        text = f"data: {json.dumps(request_of_server)}\n\n"
        return Response(text, media_type="text/event-stream")

    server.answer = answer
    with proxied(server, "--enforce") as proxy:
        proxy.initialize()
        headers = {"accept": "text/event-stream", "last-event-id": "4", "authorization": "Bearer a"}
        text = proxy.client.get(proxy.url, headers=headers).text
    method, path, sent, body = server.requests[-1]

    assert [] == events(text)
    assert ("POST", "/mcp", 9) == (method, path, json.loads(body)["id"])
    assert {
        "content-type": "application/json",
        "accept": "application/json, text/event-stream",
        "authorization": "Bearer a",
        "mcp-session-id": "session-1",
    }.items() <= sent.items()
    assert "last-event-id" not in sent
