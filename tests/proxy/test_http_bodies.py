"""Bodies of responses and of batches over HTTP: forwarded and replaced ones."""

import gzip
import json

import pytest
from starlette.requests import Request
from starlette.responses import Response
from support.http_mcp_server import HttpMcpServer
from support.http_proxy import HttpProxied, call, codes, post, proxied

RESULT = {
    "content": [{"type": "text", "text": "1"}],
    "structuredContent": {"n": "x"},
    "resultType": "complete",
}


def _json(body: bytes, **headers: str) -> Response:
    return Response(body, media_type="application/json", headers=headers)


TEXT = json.dumps({"jsonrpc": "2.0", "id": 2, "result": RESULT}).encode()
BODIES = {
    "plain": (_json(TEXT), 200, "result"),
    "gzip": (_json(gzip.compress(TEXT), **{"content-encoding": "gzip"}), 200, "result"),
    "broken gzip": (_json(TEXT, **{"content-encoding": "gzip"}), 502, "error"),
    "an unknown encoding": (_json(TEXT, **{"content-encoding": "br"}), 502, "error"),
    "another type": (Response(TEXT, media_type="text/plain"), 502, "error"),
    "no type": (Response(TEXT), 502, "error"),
    "a page": (Response("<html>", media_type="text/html"), 502, "error"),
    "nothing": (_json(b""), 200, "error"),
    "accepted": (Response(status_code=202), 200, "error"),
    "no content": (Response(status_code=204), 502, "error"),
    "an upper-case type": (
        Response(TEXT, headers={"content-type": "Application/JSON"}),
        200,
        "result",
    ),
}


@pytest.mark.parametrize("name", BODIES)
def test_bodies_of_responses(server: HttpMcpServer, enforced: HttpProxied, name: str) -> None:
    """The result in them, which is invalid, passes in no disguise; each request is answered."""
    body, status, expected = BODIES[name]

    async def answer(request: Request, text: bytes) -> Response | None:
        return body if b"tools/call" in text else None

    server.answer = answer
    response = post(enforced)

    assert status == response.status_code
    assert expected == next(iter(response.json().keys() - {"jsonrpc", "id"}))
    assert response.json().get("result", {"isError": True})["isError"]


@pytest.mark.parametrize(
    ("status", "type_", "body"),
    [
        (500, "text/html", b"<h1>\xff</h1>"),
        (400, "application/json", b'{"jsonrpc":"2.0","id":2,"error":{"code":-32022}}'),
        (401, "application/json", b'{"error":"invalid_token"}'),
    ],
)
def test_errors_of_http_pass(
    server: HttpMcpServer, enforced: HttpProxied, status: int, type_: str, body: bytes
) -> None:
    """They are unchanged, encoded or not."""
    encoded = gzip.compress(body)

    async def answer(request: Request, text: bytes) -> Response | None:
        headers = {"content-encoding": "gzip", "www-authenticate": 'Bearer realm="a"'}
        return Response(encoded, status, headers, media_type=type_) if b"/call" in text else None

    server.answer = answer
    response = post(enforced)

    assert (status, body) == (response.status_code, response.content)
    assert 'Bearer realm="a"' == response.headers["www-authenticate"]
    assert type_ == response.headers["content-type"].partition(";")[0]


def test_an_encoded_body_for_another_path(server: HttpMcpServer, enforced: HttpProxied) -> None:
    """It passes in both directions with its headers."""
    sent = gzip.compress(b"a=b")

    async def answer(request: Request, body: bytes) -> Response | None:
        assert (sent, "gzip") == (body, request.headers["content-encoding"])
        return Response(b"\x00br", headers={"content-encoding": "br"})

    server.answer = answer
    url = f"{enforced.url.removesuffix('/mcp')}/token"
    with enforced.client.stream(
        "POST", url, content=sent, headers={"content-encoding": "gzip"}
    ) as response:
        body = b"".join(response.iter_raw())

    assert (200, b"\x00br", "br") == (
        response.status_code,
        body,
        response.headers["content-encoding"],
    )


def test_a_batch_is_answered_as_a_whole(server: HttpMcpServer) -> None:
    """The server's responses are joined with the proxy's, and with missing ones."""
    batch = [call(2, do="a"), call(3, do=5), call(4, do="a")]

    async def answer(request: Request, body: bytes) -> Response | None:
        messages = json.loads(body)
        if not isinstance(messages, list):
            return None
        first = {"jsonrpc": "2.0", "id": messages[0]["id"], "result": {"content": []}}
        return _json(json.dumps([first]).encode())

    server.answer = answer
    with proxied(server, "--arguments", "enforce") as proxy:
        responses = proxy.client.post(proxy.url, json=batch).json()
        server.answer = None
        notified = proxy.client.post(
            proxy.url, json=[call(5, do=5), {"jsonrpc": "2.0", "method": "notifications/a"}]
        )
        err = proxy.end()

    assert {2: "result", 3: "result", 4: "error"} == {
        response["id"]: "result" if "result" in response else "error" for response in responses
    }
    assert [5] == [response["id"] for response in notified.json()]
    assert "UPSTREAM_UNAVAILABLE" not in codes(err)
