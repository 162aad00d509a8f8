"""Limits of the proxy over HTTP: excess is rejected, and other clients are served."""

import asyncio
import json
import queue
import re
import socket
import ssl
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from conformance.certificates import make_certificates
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from support.http_mcp_server import HttpMcpServer
from support.http_proxy import ACCEPT, CALL_HEADERS, SECONDS, HttpProxied, call, codes, proxied

HEAD = b"POST /mcp HTTP/1.1\r\nhost: 127.0.0.1\r\n"
LARGE = "x" * 18_000
"""Text of a message that is counted, and of which two fit in `SMALL_BUDGET`."""
SMALL_BUDGET = ("--max-message-bytes", "20000", "--max-bytes-in-flight", "40000")
EVENT = b"event: other\ndata: " + b"x" * 50_000 + b"\n\n"


@dataclass(frozen=True, slots=True)
class Answer:
    """The response to a raw request."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def code(self) -> str:
        """The code of a rejection; "" for another response."""
        is_problem = self.headers["content-type"] == "application/problem+json"
        return str(json.loads(self.body)["code"]) if is_problem else ""


@contextmanager
def connected(proxy: HttpProxied) -> Iterator[socket.socket]:
    """Yield a connection to *proxy*."""
    port = int(re.findall(r":(\d+)", proxy.url)[0])
    with socket.create_connection(("127.0.0.1", port), timeout=SECONDS) as connection:
        yield connection


def request(method: str = "POST", text: str = "", unsent: int = 0) -> bytes:
    """Return a call with *text*, without its last *unsent* bytes, or a GET."""
    body = json.dumps(call(do=text)).encode() if method == "POST" else b""
    headers = {
        "host": "127.0.0.1",
        "content-type": "application/json",
        "content-length": str(len(body)),
        **ACCEPT,
        **(CALL_HEADERS if method == "POST" else {}),
    }
    lines = [f"{method} /mcp HTTP/1.1", *map(": ".join, headers.items()), "", ""]
    return "\r\n".join(lines).encode() + body[: len(body) - unsent]


def read_answer(connection: socket.socket) -> Answer:
    """Return the next response, which has a length."""
    stream = connection.makefile("rb")
    status = int(stream.readline().split()[1])
    headers = {}
    while line := stream.readline().strip():
        name, _, value = line.decode().partition(": ")
        headers[name.lower()] = value
    return Answer(status, headers, stream.read(int(headers["content-length"])))


def read_end(connection: socket.socket) -> bytes:
    """Return all that comes until *connection* is closed or reset."""
    received = b""
    try:
        while chunk := connection.recv(1 << 16):
            received = (received + chunk)[-100:]
    except ConnectionResetError:
        pass
    return received


def ask(proxy: HttpProxied, sent: bytes) -> Answer:
    """Return the response to *sent* on a connection of its own."""
    with connected(proxy) as connection:
        connection.sendall(sent)
        return read_answer(connection)


def ask_until(proxy: HttpProxied, sent: bytes, status: int) -> Answer:
    """Ask until the response has *status*: the proxy learns late what other peers do."""
    while (answer := ask(proxy, sent)).status != status:
        pass
    return answer


def test_a_connection_over_the_bound(server: HttpMcpServer) -> None:
    """It is rejected, and the open stream continues."""
    parts = server.parts = queue.SimpleQueue()
    try:
        with (
            proxied(server, "--max-connections", "1") as proxy,
            connected(proxy) as stream,
        ):
            stream.sendall(request("GET"))
            parts.put(b": one\n\n")
            lines = stream.makefile("rb")
            while lines.readline() != b": one\n":
                pass
            refused = ask(proxy, request())
            parts.put(b": two\n\n")
            while lines.readline() != b": two\n":
                pass
            parts.put(None)
            stream.close()
            ask_until(proxy, request(), 200)
            err = proxy.end()
    finally:
        server.parts = None

    assert (503, "1") == (refused.status, refused.headers["retry-after"])
    assert {
        "type": "about:blank",
        "title": "Service Unavailable",
        "status": 503,
        "detail": "too many connections are open (--max-connections)",
        "code": "TOO_MANY_CONNECTIONS",
    } == json.loads(refused.body)
    assert "client->server TOO_MANY_CONNECTIONS error, rejected" in codes(err)


@pytest.mark.parametrize(
    ("sent", "expected"),
    [
        pytest.param(request(), b"", id="an idle one"),
        pytest.param(b"", b"", id="one without a request"),
        pytest.param(HEAD, b"503", id="one with half a head"),
        pytest.param(request(unsent=1), b"503", id="one with half a body"),
    ],
)
def test_the_limit_closes_connections_that_wait_for_their_client(
    server: HttpMcpServer, sent: bytes, expected: bytes
) -> None:
    """The next connection is served instead."""
    with proxied(server, "--max-connections", "1") as proxy, connected(proxy) as waiting:
        waiting.sendall(sent)
        if sent == request():
            assert 200 == read_answer(waiting).status
        served = ask_until(proxy, request(), 200)
        rest = read_end(waiting)

    assert 200 == served.status
    assert expected in rest
    assert bool(expected) == bool(rest)


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        pytest.param(b"", 0, id="no request"),
        pytest.param(HEAD, 408, id="half a head"),
        pytest.param(request(unsent=1), 408, id="half a body"),
        pytest.param(request() + HEAD, 200, id="half a head after a request"),
    ],
)
def test_a_request_that_does_not_arrive(server: HttpMcpServer, sent: bytes, status: int) -> None:
    """It is answered with HTTP 408, and its connection is closed; others are served."""
    with (
        proxied(server, "--head-seconds", "0.2", "--body-seconds", "0.2") as proxy,
        connected(proxy) as late,
    ):
        late.sendall(sent)
        served = ask(proxy, request())
        received = late.makefile("rb").read().decode()
        err = proxy.end()
    statuses = [int(status_text) for status_text in re.findall(r"HTTP/1.1 (\d+)", received)]

    assert 200 == served.status
    assert [expected for expected in (status, 408) if expected and sent][
        -len(statuses) :
    ] == statuses[-2:]
    assert ("REQUEST_TIMEOUT" in received) == bool(sent)
    assert "client->server REQUEST_TIMEOUT error, rejected" in codes(err)


def test_a_rejected_body_that_does_not_end(server: HttpMcpServer) -> None:
    """Its connection is closed, too."""
    with (
        proxied(
            server, "--enforce", "--body-seconds", "0.2", "--max-message-bytes", "2000"
        ) as proxy,
        connected(proxy) as late,
    ):
        late.sendall(request(text=LARGE, unsent=1))
        refused = read_answer(late)
        rest = read_end(late)

    assert (413, b"") == (refused.status, rest)


def test_a_silent_stream_stays_open(server: HttpMcpServer) -> None:
    """No limit of time ends it, as a request that came later shows."""
    parts = server.parts = queue.SimpleQueue()
    limits = ("--head-seconds", "0.2", "--body-seconds", "0.2", "--write-seconds", "0.2")
    try:
        with proxied(server, *limits) as proxy, connected(proxy) as stream:
            stream.sendall(request("GET"))
            parts.put(b": one\n\n")
            lines = stream.makefile("rb")
            while lines.readline() != b": one\n":
                pass
            for _ in range(3):
                assert 408 == ask(proxy, request(unsent=1)).status
            parts.put(b": two\n\n")
            while lines.readline() != b": two\n":
                pass
            parts.put(None)
    finally:
        server.parts = None


@pytest.mark.parametrize("is_tls", [False, True])
@pytest.mark.parametrize("kind", ["events", "one body"])
def test_a_client_that_does_not_read(
    server: HttpMcpServer, tmp_path: Path, kind: str, is_tls: bool
) -> None:
    """Its connection is closed, and the request to the server ends; others are served."""
    ended = threading.Event()

    async def endless() -> AsyncIterator[bytes]:
        try:
            while True:
                yield EVENT
                # The server learns between two events that the client is gone.
                await asyncio.sleep(0)
        finally:
            ended.set()

    async def answer(request: Request, body: bytes) -> Response | None:
        if b'"endless"' not in body:
            return None
        if kind == "events":
            return StreamingResponse(endless(), media_type="text/event-stream")
        ended.set()
        result = {"content": [{"type": "text", "text": "x" * 15_000_000}]}
        text = json.dumps({"jsonrpc": "2.0", "id": 2, "result": result})
        return Response(text, media_type="application/json")

    server.answer = answer
    options, wrap = _tls(tmp_path) if is_tls else ((), _unwrapped)
    with (
        proxied(server, "--write-seconds", "0.2", *options) as proxy,
        connected(proxy) as plain,
        wrap(plain) as reader,
    ):
        reader.sendall(request(text="endless"))
        assert ended.wait(SECONDS)
        with connected(proxy) as second, wrap(second) as other_reader:
            other_reader.sendall(request())
            served = read_answer(other_reader)
        err = _err_with(proxy, "RESPONSE_NOT_READ")

    assert 200 == served.status
    assert "client->server RESPONSE_NOT_READ error, rejected" in codes(err)


def test_bodies_over_the_bytes_in_flight(server: HttpMcpServer) -> None:
    """A large one is refused while others are held, a small one is served."""
    with proxied(server, *SMALL_BUDGET) as proxy:
        with connected(proxy) as first, connected(proxy) as second:
            for unfinished in (first, second):
                unfinished.sendall(request(text=LARGE, unsent=1))
            refused = ask_until(proxy, request(text=LARGE), 503)
            small = ask(proxy, request())
            first.sendall(b"}")
            finished = read_answer(first)
            third = ask_until(proxy, request(text=LARGE), 200)
        err = proxy.end()

    assert ("TOO_MANY_BYTES", "1") == (refused.code, refused.headers["retry-after"])
    assert [200, 200, 200] == [response.status for response in (small, finished, third)]
    assert "client->server TOO_MANY_BYTES error, rejected" in codes(err)


def test_concurrent_responses_wait_for_capacity(server: HttpMcpServer) -> None:
    """Clients that read have their responses, though few fit at once."""

    async def pieces(text: str) -> AsyncIterator[bytes]:
        for start in range(0, len(text), 1_000):
            yield text[start : start + 1_000].encode()

    async def answer(request: Request, body: bytes) -> Response | None:
        if b"tools/call" not in body:
            return None
        result = {"content": [{"type": "text", "text": LARGE}], "resultType": "complete"}
        text = json.dumps({"jsonrpc": "2.0", "id": 2, "result": result})
        return StreamingResponse(pieces(text), media_type="application/json")

    server.answer = answer
    answers: list[Any] = []
    with proxied(server, *SMALL_BUDGET, "--results", "off") as proxy:
        callers = [
            threading.Thread(target=lambda: answers.append(ask(proxy, request())))
            for _ in range(20)
        ]
        for caller in callers:
            caller.start()
        for caller in callers:
            caller.join()

    assert [200] * 20 == [response.status for response in answers]
    assert {LARGE} == {json.loads(a.body)["result"]["content"][0]["text"] for a in answers}


def _err_with(proxy: HttpProxied, code: str) -> str:
    """Return the findings of *proxy* up to that with *code*."""
    assert proxy.process.stderr is not None
    lines = []
    while code not in (line := proxy.process.stderr.readline()):
        assert line
        lines.append(line)
    return "".join([*lines, line])


def _unwrapped(connection: socket.socket) -> socket.socket:
    return connection


def _tls(folder: Path) -> tuple[tuple[str, ...], Callable[[socket.socket], socket.socket]]:
    files = make_certificates(folder)
    context = ssl.create_default_context(cafile=str(files.authority))
    options = ("--certificate", str(files.server), "--private-key", str(files.server_key))
    return options, lambda plain: context.wrap_socket(plain, server_hostname="localhost")
