"""Faults and large messages over HTTP: each request has one response, and none hangs."""

import asyncio
import json
import signal
import ssl
import threading
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from conformance.certificates import make_certificates
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from support.http_mcp_server import HttpMcpServer
from support.http_proxy import (
    ACCEPT,
    CALL_HEADERS,
    SECONDS,
    HttpProxied,
    call,
    codes,
    post,
    proxied,
)
from support.raw_servers import serving_bytes

CALLS = 1_000
LARGE = "x" * 10_000_000
HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: %b\r\n%b\r\n\r\n"
JSON, EVENTS = b"application/json", b"text/event-stream"


def _result(id_: Any, text: str = "") -> str:
    result = {
        "content": [{"type": "text", "text": text}],
        "structuredContent": {"n": 1},
        "resultType": "complete",
    }
    return json.dumps({"jsonrpc": "2.0", "id": id_, "result": result})


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        pytest.param(b"", 502, id="at once"),
        pytest.param(b"HTTP/1.1 200", 502, id="in the head"),
        pytest.param(b"hello\r\n\r\n", 502, id="after malformed HTTP"),
        pytest.param(HEAD % (JSON, b"content-length: 99") + b"{", 502, id="in a body"),
        pytest.param(HEAD % (JSON, b"transfer-encoding: chunked") + b"5\r\n{", 502, id="in chunks"),
        pytest.param(HEAD % (JSON, b"x: y") + b'{"jsonrpc":', 200, id="in a body without a length"),
        pytest.param(HEAD % (EVENTS, b"content-length: 99") + b"data: {", 200, id="in an event"),
        pytest.param(HEAD % (EVENTS, b"x: y") + b"data: {", 200, id="in an event without a length"),
    ],
)
def test_a_server_that_is_killed_in_a_call(sent: bytes, status: int) -> None:
    """Its response may be incomplete at any point."""
    with (
        serving_bytes(sent) as address,
        proxied(None, "--messages", "enforce", url=f"http://{address}/mcp") as proxy,
    ):
        response = post(proxy)
    error = json.loads(response.text.removeprefix("data: "))

    assert (status, 2, -32603) == (response.status_code, error["id"], error["error"]["code"])


@pytest.mark.parametrize("framing", [b"content-length: 999", b"transfer-encoding: chunked"])
def test_events_before_a_connection_is_lost(framing: bytes) -> None:
    """They pass, before the error of the request."""
    progress = {"jsonrpc": "2.0", "method": "notifications/message", "params": {"data": 1}}
    event = b"data: %b\n\n" % json.dumps(progress).encode()
    chunk = event if b"length" in framing else b"%x\r\n%b\r\n" % (len(event), event)
    with (
        serving_bytes(HEAD % (EVENTS, framing) + chunk) as address,
        proxied(None, url=f"http://{address}/mcp") as proxy,
    ):
        events = post(proxy).text.split("\n\n")[:-1]
    passed, error = (json.loads(event.removeprefix("data: ")) for event in events)

    assert progress == passed
    assert (2, -32603) == (error["id"], error["error"]["code"])


async def _nothing() -> AsyncIterator[bytes]:
    yield b""
    await asyncio.Event().wait()


async def _events() -> AsyncIterator[bytes]:
    yield b": alive\n"
    await asyncio.Event().wait()


@pytest.mark.parametrize("kind", ["never answers", "endless body", "open stream", "GET stream"])
def test_a_client_that_is_gone(server: HttpMcpServer, enforced: HttpProxied, kind: str) -> None:
    """The request to the server ends too, which is the cancellation since 2026-07-28."""
    started, ended = threading.Event(), threading.Event()

    async def watch(request: Request) -> None:
        started.set()
        try:
            while (await request.receive())["type"] != "http.disconnect":
                pass
        finally:
            ended.set()

    async def answer(request: Request, body: bytes) -> Response | None:
        if b"tools/list" in body:
            return None
        if kind == "never answers":
            await watch(request)
            return Response()
        is_json = kind == "endless body"
        stream, type_ = (_nothing(), JSON) if is_json else (_events(), EVENTS)
        watched = asyncio.create_task(watch(request))
        response = StreamingResponse(stream, media_type=type_.decode())
        response.watched = watched  # type: ignore[attr-defined]
        return response

    async def leave() -> None:
        async with httpx.AsyncClient(timeout=SECONDS, headers=ACCEPT, trust_env=False) as client:
            if kind == "GET stream":
                sent = client.get(enforced.url)
            else:
                sent = client.post(enforced.url, json=call(), headers=CALL_HEADERS)
            task = asyncio.ensure_future(sent)
            await asyncio.to_thread(started.wait, SECONDS)
            task.cancel()
            await asyncio.wait({task})

    server.answer = answer
    asyncio.run(leave())

    assert started.is_set()
    assert ended.wait(SECONDS)
    server.answer = None
    assert 200 == post(enforced).status_code


@pytest.mark.parametrize("streams", [False, True])
def test_a_message_of_10_megabytes(
    server: HttpMcpServer, enforced: HttpProxied, streams: bool
) -> None:
    """It passes in both directions."""

    async def answer(request: Request, body: bytes) -> Response | None:
        if b"tools/call" not in body:
            return None
        text = _result(2, json.loads(body)["params"]["arguments"]["do"])
        if streams:
            return Response(f"data: {text}\n\n", media_type="text/event-stream")
        return Response(text, media_type="application/json")

    server.answer = answer
    response = post(enforced, call(do=LARGE))
    message = json.loads(response.text.removeprefix("data: "))

    assert LARGE == message["result"]["content"][0]["text"]


def test_a_thousand_calls_in_flight(server: HttpMcpServer) -> None:
    """Each has its own response; the server waits until it has all calls."""
    arrived: list[Any] = []
    all_arrived = asyncio.Event()

    async def answer(request: Request, body: bytes) -> Response | None:
        message = json.loads(body)
        if message["method"] != "tools/call":
            return None
        arrived.append(message["id"])
        if len(arrived) == CALLS:
            all_arrived.set()
        await all_arrived.wait()
        text = _result(message["id"], str(message["id"]))
        if message["id"] % 2:
            return Response(f"data: {text}\n\n", media_type="text/event-stream")
        return Response(text, media_type="application/json")

    async def call_all(url: str) -> list[str]:
        limits = httpx.Limits(max_connections=CALLS)
        async with httpx.AsyncClient(
            timeout=SECONDS, headers={**ACCEPT, **CALL_HEADERS}, trust_env=False, limits=limits
        ) as client:
            sent = [client.post(url, json=call(id_)) for id_ in range(CALLS)]
            return [response.text for response in await asyncio.gather(*sent)]

    server.answer = answer
    with proxied(server, "--enforce", "--max-connections", str(CALLS)) as proxy:
        texts = asyncio.run(call_all(proxy.url))
    messages = [json.loads(text.removeprefix("data: ")) for text in texts]

    assert [*range(CALLS)] == [message["id"] for message in messages]
    assert [*map(str, range(CALLS))] == [m["result"]["content"][0]["text"] for m in messages]
    assert sorted(arrived) == [*range(CALLS)]


def test_tls_on_both_sides(server: HttpMcpServer, tmp_path: Path) -> None:
    """SSL_CERT_FILE names the authority; a certificate of another authority is rejected."""
    files = make_certificates(tmp_path)
    options = ("--certificate", str(files.server), "--private-key", str(files.server_key))
    with proxied(server, *options) as inner:
        authority = {"SSL_CERT_FILE": str(files.authority)}
        with proxied(None, *options, url=inner.url, env=authority) as outer:
            trusting = ssl.create_default_context(cafile=str(files.authority))
            with httpx.Client(verify=trusting, timeout=SECONDS, headers=CALL_HEADERS) as client:
                passed = client.post(outer.url, json=call())
        with proxied(None, url=inner.url) as outer:
            refused = post(outer)
            err = outer.end()

    assert (200, {"n": 1}) == (passed.status_code, passed.json()["result"]["structuredContent"])
    assert (502, 2) == (refused.status_code, refused.json()["id"])
    assert "server->client UPSTREAM_UNAVAILABLE error, rejected" in codes(err)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_ends_the_proxy(server: HttpMcpServer, number: signal.Signals) -> None:
    """The exit code is that of a signal."""
    with proxied(server) as proxy:
        proxy.process.send_signal(number)
        _, err = proxy.process.communicate(timeout=SECONDS)

    assert 0 == proxy.process.returncode
    assert "Traceback" not in err
