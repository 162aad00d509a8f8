"""Bodies of all kinds, and paths of all spellings, through Envoy."""

import gzip
import json
from typing import Any

import pytest
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from support.gateway import Gateway

VALID = {"n": 1}


def response_of(result: Any, id_: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": id_, "result": result}).encode()


def plain(_message: Any) -> Response:
    return PlainTextResponse("hello")


def failing(status: int) -> Any:
    return lambda _message: Response(b'{"detail":"x"}', status, media_type="application/json")


def chunked(message: Any) -> Response:
    async def parts() -> Any:
        text = response_of({"content": [], "structuredContent": VALID}, message["id"])
        for start in range(0, len(text), 7):
            yield text[start : start + 7]

    return StreamingResponse(parts(), media_type="application/json; charset=utf-8")


def compressed(message: Any) -> Response:
    text = response_of({"content": [], "structuredContent": {"n": "x"}}, message["id"])
    return Response(
        gzip.compress(text),
        headers={"content-encoding": "gzip"},
        media_type="application/json",
    )


RESPONSES = {
    "401": (failing(401), 401, b'{"detail":"x"}', "valid"),
    "404": (failing(404), 404, b'{"detail":"x"}', "valid"),
    "500": (failing(500), 500, b'{"detail":"x"}', "valid"),
}


def test_a_request_gets_a_message(gateway: Gateway) -> None:
    """Under enforcement, unvalidated bodies that could be a result do not pass."""
    gateway.server.replace = plain
    response = gateway.call()
    gateway.server.replace = lambda _: None
    gateway.received()

    assert (502, "the body of the response is neither JSON nor events") == (
        response.status_code,
        response.json()["error"]["message"],
    )
    [entry] = gateway.envoy.entries(1)
    assert ("rejected", "NOT_VALIDATED") == (entry["verdict"], entry["code"])


def test_a_result_with_the_status_of_an_error_does_not_pass(gateway: Gateway) -> None:
    """Some clients read it, and it was not validated."""
    gateway.server.replace = lambda message: Response(
        response_of({"content": [], "structuredContent": {"n": "x"}}, message["id"]),
        500,
        media_type="application/json",
    )
    response = gateway.call()
    gateway.server.replace = lambda _: None
    gateway.received()

    assert (502, b"") == (response.status_code, response.content)
    [entry] = gateway.envoy.entries(1)
    assert ("rejected", "NOT_VALIDATED") == (entry["verdict"], entry["code"])


@pytest.mark.parametrize("name", RESPONSES)
def test_errors_of_http_pass(gateway: Gateway, name: str) -> None:
    """Their bodies are arbitrary."""
    gateway.server.replace, status, body, verdict = RESPONSES[name]
    response = gateway.call()
    gateway.server.replace = lambda _: None
    gateway.received()

    assert (status, body) == (response.status_code, response.content)
    [entry] = gateway.envoy.entries(1)
    assert verdict == entry["verdict"]


@pytest.mark.parametrize(
    ("kind", "is_read"),
    [
        ("application/json; charset=utf-8", True),
        ("application/json-patch+json", True),
        ("a/b; c=application/json", False),
    ],
)
def test_bodies_that_clients_read_as_messages(gateway: Gateway, kind: str, is_read: bool) -> None:
    """They look for the type at the beginning of the header, or anywhere in it.

    Parameters may say anything of the text, so what has others than UTF-8 is not read.
    """

    def respond(message: Any) -> Response:
        result = {"content": [], "structuredContent": {"n": "x"}}
        return Response(response_of(result, message["id"]), headers={"content-type": kind})

    gateway.server.replace = respond
    response = gateway.call()
    gateway.server.replace = lambda _: None
    gateway.received()

    answer = response.json()
    assert answer["result"]["isError"] if is_read else answer["error"]["code"] == -32603
    gateway.envoy.entries(1)


def test_bodies_in_chunks(gateway: Gateway) -> None:
    """Requests and responses are in chunks."""
    message = {"jsonrpc": "2.0", "id": "chunked", "method": "tools/call"}
    message |= {"params": {"name": "echo", "arguments": {}}}  # type: ignore[dict-item]
    text = json.dumps(message).encode()
    gateway.server.replace = chunked
    response = gateway.client.post(
        gateway.url(),
        content=(text[start : start + 9] for start in range(0, len(text), 9)),
        headers={"content-type": "application/json"},
    )
    gateway.server.replace = lambda _: None

    assert {"content": [], "structuredContent": VALID} == response.json()["result"]
    assert [message] == gateway.received()
    gateway.envoy.entries(1)


def test_a_compressed_response(gateway: Gateway) -> None:
    """Requests do not ask for compression; a compressed response is not read."""
    gateway.server.replace = compressed
    response = gateway.call()
    gateway.server.replace = lambda _: None
    [(_, _, headers, _)] = gateway.server.requests
    gateway.received()

    assert "accept-encoding" not in headers
    assert "content-encoding" not in response.headers
    assert {
        "code": -32603,
        "message": "the server does not respond",
    } == response.json()["error"]
    [entry] = gateway.envoy.entries(1)
    assert ("rejected", "NOT_VALIDATED") == (entry["verdict"], entry["code"])


def test_a_compressed_request(gateway: Gateway) -> None:
    """It could be a call."""
    response = gateway.client.post(
        gateway.url(),
        content=gzip.compress(b'{"jsonrpc":"2.0","id":1,"method":"ping"}'),
        headers={"content-type": "application/json", "content-encoding": "gzip"},
    )

    assert (415, b"") == (response.status_code, response.content)
    assert [] == gateway.received()
    [entry] = gateway.envoy.entries(1)
    assert ("rejected", "NOT_VALIDATED") == (entry["verdict"], entry["code"])


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/%6dcp", 200),
        ("/mcp/", 200),
        ("//mcp", 200),
        ("/x/../mcp", 200),
        ("/mcp?x=1", 200),
        ("/mcp%2f", 400),
        ("/MCP", 404),
        ("/mcp;x", 404),
        ("/other", 404),
    ],
)
def test_every_spelling_of_the_path_is_validated(gateway: Gateway, path: str, status: int) -> None:
    """Any path that the server reads as its own is validated or rejected."""
    response = gateway.call(path, do=3)

    assert status == response.status_code
    assert ("Input validation error" in response.text) is (status == 200)
    assert [] == gateway.received()
    gateway.envoy.entries(1)


def test_the_paths_of_authorization_pass(gateway: Gateway) -> None:
    """They have no verdict."""
    response = gateway.client.get(gateway.url("/.well-known/oauth-protected-resource"))
    gateway.received()

    assert (200, "oauth-protected-resource") == (response.status_code, response.text)
    [entry] = gateway.envoy.entries(1)
    assert entry["verdict"] is None
