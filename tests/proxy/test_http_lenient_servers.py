"""Servers over HTTP whose faults some clients forgive, in a body and in events."""

import json
from typing import Any

import pytest
from starlette.requests import Request
from starlette.responses import Response
from support.http_mcp_server import HttpMcpServer
from support.http_proxy import CALL_HEADERS, HttpProxied, codes, post, proxied

RESULT = {"content": [], "structuredContent": {"n": 1}, "resultType": "complete"}
SIGN_IN = {"code": -32000, "message": "Session not found: sign in again"}
SIMILAR = (
    'the server answered with id "2", a string; the request has the id 2, a number'
    " (RESPONSE_WITHOUT_REQUEST at /id)"
)
ANSWERS = [
    pytest.param({"id": "2", "result": RESULT}, SIMILAR, id="the id as a string"),
    pytest.param({"id": None, "error": SIGN_IN}, SIGN_IN["message"], id="an error with null"),
    pytest.param({"error": SIGN_IN}, SIGN_IN["message"], id="an error without an id"),
    pytest.param(
        [{"id": 2, "result": RESULT}],
        "the response is invalid: BATCH_UNSUPPORTED at its root",
        id="an array",
    ),
    pytest.param({"id": 2, "result": RESULT}, None, id="pretty-printed"),
]


def respond(server: HttpMcpServer, message: Any, *, streams: bool) -> str:
    """Let *server* answer calls with *message*; return the text."""
    items = [
        {"jsonrpc": "2.0", **item} for item in (message if isinstance(message, list) else [message])
    ]
    value = items if isinstance(message, list) else items[0]
    text = json.dumps(value) if streams else json.dumps(value, indent=2)
    body = f"data: {text}\n\n" if streams else text
    media_type = "text/event-stream" if streams else "application/json"

    async def answer(_request: Request, body_: bytes) -> Response | None:
        if b"tools/call" not in body_:
            return None
        return Response(body, media_type=media_type)

    server.answer = answer
    return body


@pytest.mark.parametrize("streams", [False, True])
@pytest.mark.parametrize(("message", "error"), ANSWERS)
def test_an_answer(
    server: HttpMcpServer,
    audited: HttpProxied,
    enforced: HttpProxied,
    message: Any,
    error: str | None,
    streams: bool,
) -> None:
    """Audit passes it as it is; enforcement answers the request with the reason."""
    text = respond(server, message, streams=streams)
    passed, rejected = post(audited).text, post(enforced).text
    response = json.loads(rejected.removeprefix("data: "))

    assert text in passed
    assert (2, error) == (response["id"], response.get("error", {}).get("message"))


@pytest.mark.parametrize("text", [b'{"id":2,"method":"tools/list"}', b"{"])
def test_a_request_of_another_protocol(
    server: HttpMcpServer, enforced: HttpProxied, text: bytes
) -> None:
    """A client over HTTP gets the reason with its status."""
    server.answer = None
    headers = {**CALL_HEADERS, "content-type": "application/json"}
    response = enforced.client.post(enforced.url, content=text, headers=headers)

    assert (400, True) == (response.status_code, "error" in response.json())


@pytest.mark.parametrize("allow", ["HEADER_MISMATCH", "tool:echo", "method:tools/call"])
def test_a_header_that_is_exempt(server: HttpMcpServer, allow: str) -> None:
    """The mismatch is reported as allowed."""
    with proxied(server, "--enforce", "--allow", allow) as proxy:
        response = post(proxy, headers=[("mcp-name", "another")])
        err = proxy.end()

    assert 200 == response.status_code
    assert any("HEADER_MISMATCH" in code and "allowed" in code for code in codes(err))


@pytest.mark.parametrize("streams", [False, True])
def test_a_response_to_no_request(
    server: HttpMcpServer, enforced: HttpProxied, streams: bool
) -> None:
    """In a body it stands for the response; in events the response may follow, and is missing."""
    respond(server, {"id": 9, "result": RESULT}, streams=streams)
    response = json.loads(post(enforced).text.removeprefix("data: "))

    reason = "the server answered with id 9, a number; the request has the id 2, a number"
    missing = "the stream ended without the response to the request"
    message = missing if streams else reason
    assert (2, message) == (response["id"], response["error"]["message"])
