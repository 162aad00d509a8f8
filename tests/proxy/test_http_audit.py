"""What works directly over HTTP works in audit, byte for byte; enforcement says what it stops."""

import gzip
import json
import zlib
from collections.abc import AsyncIterator, Iterator

import pytest
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from support.http_mcp_server import HttpMcpServer
from support.http_proxy import HttpProxied, call, codes, post, proxied

RESULT = {
    "content": [{"type": "text", "text": "1"}],
    "structuredContent": {"n": "x"},
    "resultType": "complete",
}
TEXT = json.dumps({"jsonrpc": "2.0", "id": 2, "result": RESULT}).encode()
EVENT = b"id: 1\ndata: " + TEXT + b"\n\n"
LARGE = json.dumps({"jsonrpc": "2.0", "id": 2, "result": {"content": []}, "x": "y" * 5000}).encode()
INVALID = "server->client tools/call echo TYPE /result/structuredContent/n"
LIMIT = ("--max-message-bytes", "4000", "--max-bytes-in-flight", "10000")

JSON, EVENTS = "application/json", "text/event-stream"


def _deflate(data: bytes) -> bytes:
    compressor = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return compressor.compress(data) + compressor.flush()


#: Name: content type, content encoding, body, code of the finding in audit, and the words of
#: enforcement ("" if it validates the body).
BODIES = {
    "gzip": (JSON, "gzip", gzip.compress(TEXT), "TYPE", ""),
    "x-gzip": (JSON, "x-gzip", gzip.compress(TEXT), "TYPE", ""),
    "deflate": (JSON, "deflate", zlib.compress(TEXT), "TYPE", ""),
    "raw deflate": (JSON, "deflate", _deflate(TEXT), "TYPE", ""),
    "events in gzip": (EVENTS, "gzip", gzip.compress(EVENT), "TYPE", ""),
    "an unknown encoding": (JSON, "rot13", TEXT, "NOT_VALIDATED", '"rot13" cannot be decoded'),
    "a broken encoding": (JSON, "gzip", TEXT, "NOT_VALIDATED", 'encoding, "gzip"'),
    "events in an unknown encoding": (EVENTS, "rot13", EVENT, "NOT_VALIDATED", '"rot13" cannot'),
    "a bomb": (JSON, "gzip", gzip.compress(bytes(10_000_000)), "MESSAGE_TOO_LONG", "4,000 bytes"),
    "over the limit": (JSON, "", LARGE, "MESSAGE_TOO_LONG", "4,000 bytes"),
    "an event over the limit": (
        EVENTS,
        "",
        b": a\n\ndata: " + LARGE + b"\n\nid: 3\ndata: \n\n",
        "MESSAGE_TOO_LONG",
        "4,000 bytes",
    ),
    "an event in gzip over the limit": (
        EVENTS,
        "gzip",
        gzip.compress(b"data: " + LARGE + b"\n\n"),
        "MESSAGE_TOO_LONG",
        "4,000 bytes",
    ),
    "several lines": (JSON, "", json.dumps(json.loads(TEXT), indent=2).encode(), "TYPE", ""),
    "a byte order mark": (JSON, "", b"\xef\xbb\xbf" + TEXT, "BYTE_ORDER_MARK", ""),
    "a byte order mark in an event": (
        EVENTS,
        "",
        b"data: \xef\xbb\xbf" + TEXT + b"\n\n",
        "BYTE_ORDER_MARK",
        "",
    ),
    "a byte order mark before events": (EVENTS, "", b"\xef\xbb\xbf" + EVENT, "TYPE", ""),
    "a charset": (f"{JSON}; charset=latin-1", "", TEXT, "NOT_VALIDATED", "charset=utf-8"),
    "another parameter": (f"{JSON}; v=1", "", TEXT, "NOT_VALIDATED", "charset=utf-8"),
    "UTF-16": (f"{JSON}; charset=utf-16", "", TEXT.decode().encode("utf-16"), "NOT_VALIDATED", "8"),
    "no end of the last event": (EVENTS, "", EVENT[:-1], "TYPE", "without the response"),
    "another type": ("text/plain", "", TEXT, "NOT_VALIDATED", "neither JSON nor events"),
    "nothing": (JSON, "", b"", "REQUEST_NOT_ANSWERED", "HTTP 200 without a response"),
    "no events": (EVENTS, "", b": a\n\n", "REQUEST_NOT_ANSWERED", "without the response"),
}


@pytest.fixture(scope="module")
def limited(upstream: HttpMcpServer) -> Iterator[HttpProxied]:
    """Yield a proxy that audits, with a small limit."""
    with proxied(upstream, *LIMIT) as proxy:
        yield proxy


@pytest.fixture(scope="module")
def strict(upstream: HttpMcpServer) -> Iterator[HttpProxied]:
    """Yield a proxy that enforces, with a small limit."""
    with proxied(upstream, "--enforce", *LIMIT) as proxy:
        yield proxy


def answer_calls(server: HttpMcpServer, name: str) -> None:
    """Answer calls with the body *name*."""
    type_, encoding, body, _, _ = BODIES[name]

    async def answer(request: Request, text: bytes) -> Response | None:
        if b"tools/call" not in text:
            return None
        headers = {"content-type": type_, **({"content-encoding": encoding} if encoding else {})}
        return Response(body, headers=headers)

    server.answer = answer


def read_finding(proxy: HttpProxied, *expected: str) -> str:
    """Return the next finding with an *expected* text."""
    assert proxy.process.stderr is not None
    while line := proxy.process.stderr.readline():
        if any(text in line for text in expected):
            return line
    raise AssertionError


@pytest.mark.parametrize("name", BODIES)
def test_a_body_passes_in_audit(server: HttpMcpServer, limited: HttpProxied, name: str) -> None:
    """The client has the bytes and the headers of the server, and the report has a finding."""
    type_, encoding, body, code, _ = BODIES[name]
    answer_calls(server, name)
    message = json.dumps(call()).encode()
    headers = {"content-type": JSON, "mcp-protocol-version": "2026-07-28"}
    headers |= {"mcp-method": "tools/call", "mcp-name": "echo"}
    with limited.client.stream("POST", limited.url, content=message, headers=headers) as response:
        received = b"".join(response.iter_raw())
    finding = read_finding(limited, f"({code}")

    assert (200, body) == (response.status_code, received)
    assert (type_, encoding) == (
        response.headers["content-type"],
        response.headers.get("content-encoding", ""),
    )
    assert "passed" in finding


@pytest.mark.parametrize("name", BODIES)
def test_a_body_under_enforcement(server: HttpMcpServer, strict: HttpProxied, name: str) -> None:
    """The request has one response: a validated one, or an error with the words of the finding."""
    _, _, _, code, words = BODIES[name]
    answer_calls(server, name)
    response = post(strict)
    [message] = [
        json.loads(line.removeprefix("data: "))
        for line in response.text.splitlines()
        if line.removeprefix("data: ").startswith("{")
    ]
    finding = read_finding(strict, f"({code}", "(REQUEST_NOT_ANSWERED")

    assert 2 == message["id"]
    if words:
        assert words in message["error"]["message"]
        assert message["error"]["message"] in finding.replace('\\"', '"')
        assert "rejected" in finding
    else:
        assert message["result"]["isError"]


@pytest.mark.parametrize("status", [202, 204])
def test_a_response_in_another_stream(server: HttpMcpServer, status: int) -> None:
    """It is validated as that of the request; enforcement refuses at once, with the clause."""

    async def events() -> AsyncIterator[bytes]:
        yield b"data: " + TEXT + b"\n\n"

    async def answer(request: Request, text: bytes) -> Response | None:
        if request.method == "GET":
            return StreamingResponse(events(), media_type=EVENTS)
        return Response(status_code=status) if b"tools/call" in text else None

    server.answer = answer
    with proxied(server) as proxy:
        proxy.initialize()
        accepted = proxy.call(2, do="a")
        stream = proxy.client.get(proxy.url)
        audited = codes(proxy.end())
    with proxied(server, "--enforce") as proxy:
        proxy.initialize()
        refused = proxy.call(2, do="a")
        err = proxy.end()
    error = refused.json()["error"]["message"]

    assert (status, b"") == (accepted.status_code, accepted.content)
    assert b"data: " + TEXT + b"\n\n" == stream.content
    assert "server->client tools/call REQUEST_NOT_ANSWERED error, passed" == audited[0]
    assert f"{INVALID} error, passed" in audited
    assert f"HTTP {status} without a response to the request" in error
    assert '(2025-11-25, basic/transports, "Sending Messages to the Server")' in error
    assert "server->client tools/call REQUEST_NOT_ANSWERED error, rejected" in codes(err)


@pytest.mark.parametrize("enforces", [False, True])
@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_a_redirected_request_is_sent_again(
    server: HttpMcpServer, status: int, *, enforces: bool
) -> None:
    """The server did not take it, so its id is free."""

    async def answer(request: Request, body: bytes) -> Response | None:
        is_call = b"tools/call" in body and not request.url.query
        headers = {"location": f"{server.url}?again=1"}
        return Response(status_code=status, headers=headers) if is_call else None

    server.answer = answer
    with proxied(server, *(["--enforce"] if enforces else [])) as proxy:
        proxy.initialize()
        proxy.post("tools/list", {}, 3)
        first = proxy.call(4, do="a")
        location = proxy.url.removesuffix("/mcp") + first.headers["location"]
        server.answer = None
        message = {
            "jsonrpc": "2.0",
            "id": 4,
            "method": "tools/call",
            "params": {"name": "echo", "arguments": {}},
        }
        second = proxy.client.post(location, json=message)
        third = proxy.call(5, do="a")
        err = proxy.end()

    assert (status, "/mcp?again=1") == (first.status_code, first.headers["location"])
    assert [{"n": 1}] * 2 == [
        response.json()["result"]["structuredContent"] for response in (second, third)
    ]
    assert [] == codes(err)


SENT = json.dumps(call(do=5)).encode()
#: Name: content type, content encoding, body, code in audit, and the status of enforcement.
REQUESTS = {
    "gzip": (JSON, "gzip", gzip.compress(SENT), "TYPE", 415),
    "an unknown encoding": (JSON, "rot13", SENT, "NOT_VALIDATED", 415),
    "over the limit": (JSON, "", json.dumps(call(do="x" * 5000)).encode(), "MESSAGE_TOO_LONG", 413),
    "several lines": (JSON, "", json.dumps(call(do=5), indent=2).encode(), "TYPE", 200),
    "a byte order mark": (JSON, "", b"\xef\xbb\xbf" + SENT, "BYTE_ORDER_MARK", 200),
    "a charset": (f"{JSON}; charset=latin-1", "", SENT, "NOT_VALIDATED", 415),
}


@pytest.mark.parametrize("name", REQUESTS)
def test_a_request_in_audit_and_enforced(
    server: HttpMcpServer, limited: HttpProxied, strict: HttpProxied, name: str
) -> None:
    """It reaches the server byte for byte; enforcement answers it."""
    type_, encoding, body, code, status = REQUESTS[name]

    async def answer(request: Request, text: bytes) -> Response | None:
        return None if b"tools/list" in text else Response("{}", media_type="text/plain")

    server.answer = answer
    sent = {"content-type": type_, **({"content-encoding": encoding} if encoding else {})}
    sent |= {"mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": "echo"}
    passed = limited.client.post(limited.url, content=body, headers=sent)
    _, _, headers, received = server.requests[-1]
    finding = read_finding(limited, f"({code}")
    count = len(server.requests)
    refused = strict.client.post(strict.url, content=body, headers=sent)

    assert (200, "{}") == (passed.status_code, passed.text)
    assert (body, type_, encoding, str(len(body))) == (
        received,
        headers["content-type"],
        headers.get("content-encoding", ""),
        headers["content-length"],
    )
    assert "passed" in finding
    assert status == refused.status_code
    assert refused.json()
    assert not any(b"tools/call" in text for _, _, _, text in server.requests[count:])
