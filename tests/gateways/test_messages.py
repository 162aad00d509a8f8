"""What becomes of single messages between a client and a server, through Envoy."""

import gzip
import json
from typing import Any

import pytest
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from support.gateway import META, Gateway
from support.http_mcp_server import TOOL

VALID = {"n": 1}
INVALID_ARGUMENTS = (
    "Input validation error: The arguments of the call to echo are not valid:\n"
    "- do: expected a string, found 3\n"
    "Correct the arguments and call the tool again."
)
INVALID_RESULT = (
    "Output validation error: The result of echo is not valid:\n"
    '- structuredContent.n: expected an integer, found the string "x"\n'
    "The fault lies in the tool, not in the call."
)


def response_of(result: Any, id_: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": id_, "result": result}).encode()


def test_a_valid_call_passes_byte_for_byte(gateway: Gateway) -> None:
    """Both ways, in the spelling of the sender."""
    call = b'{ "jsonrpc":"2.0", "id":"a","method": "tools/call","params":{"name":"echo"} }'
    response = gateway.client.post(
        gateway.url(), content=call, headers={"content-type": "application/json"}
    )
    [(_, _, _, received)] = gateway.server.requests
    gateway.received()

    result = {
        "content": [{"type": "text", "text": json.dumps(VALID)}],
        "structuredContent": VALID,
        "resultType": "complete",
    }
    assert (200, response_of(result, "a")) == (response.status_code, response.content)
    assert call == received
    [entry] = gateway.envoy.entries(1)
    assert ("valid", "", "via_upstream") == (entry["verdict"], entry["code"], entry["details"])


def test_invalid_arguments_do_not_reach_the_server(gateway: Gateway) -> None:
    """The tool's error is for the model."""
    response = gateway.call(do=3)

    assert 200 == response.status_code
    assert {
        "content": [{"type": "text", "text": INVALID_ARGUMENTS}],
        "isError": True,
    } == response.json()["result"]
    assert [] == gateway.received()
    [entry] = gateway.envoy.entries(1)
    assert "sidecheck_rejected" == entry["details"]
    assert ("rejected", "TYPE") == (entry["verdict"], entry["code"])


def test_an_invalid_result_is_an_error_of_the_tool(gateway: Gateway) -> None:
    """With the length of the body that replaces it."""
    response = gateway.call(do="break")

    assert 200 == response.status_code
    assert {
        "content": [{"type": "text", "text": INVALID_RESULT}],
        "isError": True,
    } == response.json()["result"]
    assert str(len(response.content)) == response.headers["content-length"]
    assert 1 == len(gateway.received())
    [entry] = gateway.envoy.entries(1)
    assert ("rejected", "TYPE") == (entry["verdict"], entry["code"])


BROKEN = {
    "no version": (b'{"id":1,"method":"ping"}', 200, -32600),
    "no JSON": (b"{", 200, -32700),
    "a notification": (b'{"jsonrpc":"2.0","method":"notifications/progress"}', 202, None),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_message_does_not_reach_the_server(gateway: Gateway, name: str) -> None:
    """A request gets its error; a notification is accepted and dropped."""
    body, status, code = BROKEN[name]
    response = gateway.client.post(
        gateway.url(), content=body, headers={"content-type": "application/json"}
    )

    error = response.json()["error"]["code"] if response.content else None
    assert (status, code) == (response.status_code, error)
    assert [] == gateway.received()
    [entry] = gateway.envoy.entries(1)
    assert "rejected" == entry["verdict"]


def test_headers_that_differ_from_the_message(gateway: Gateway) -> None:
    """By the status and the error of 2026-07-28."""
    headers = {
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": "tools/call",
        "mcp-name": "another",
    }
    gateway.client.headers.pop("mcp-session-id")
    try:
        params = {"name": "echo", "arguments": {}, **META}
        response = gateway.post("tools/call", params, headers=headers)
        passed = gateway.post("tools/call", params, headers={**headers, "mcp-name": "echo"})
    finally:
        gateway.client.headers["mcp-session-id"] = "session-1"

    assert (400, -32020) == (response.status_code, response.json()["error"]["code"])
    assert (200, VALID) == (passed.status_code, passed.json()["result"]["structuredContent"])
    assert 1 == len(gateway.received())
    codes = [(entry["verdict"], entry["code"]) for entry in gateway.envoy.entries(2)]
    assert [("rejected", "HEADER_MISMATCH"), ("valid", "")] == codes


def test_a_broken_tool_is_taken_out_of_the_list(gateway: Gateway) -> None:
    """Each time; calls to it are unknown to the client."""
    gateway.server.tools = [TOOL, {"name": "broken", "inputSchema": {"type": 7}}]
    try:
        listed = [gateway.post("tools/list").json()["result"] for _ in range(2)]
    finally:
        gateway.server.tools = [TOOL]
    call = gateway.post("tools/call", {"name": "broken", "arguments": {}})

    assert [{"tools": [TOOL]}] * 2 == listed
    assert {"code": -32602, "message": "Unknown tool: broken"} == call.json()["error"]
    assert ["tools/list"] * 2 == [message["method"] for message in gateway.received()]
    *lists, last = gateway.envoy.entries(3)
    assert ["changed"] * 2 == [entry["verdict"] for entry in lists]
    assert ("rejected", "TOOL_DROPPED") == (last["verdict"], last["code"])


def test_a_tool_that_was_not_listed(gateway: Gateway) -> None:
    """Nothing can ask the server for it here."""
    response = gateway.post("tools/call", {"name": "other", "arguments": {}})

    assert {
        "code": -32603,
        "message": "not validated by Sidecheck: TOOLS_NOT_LISTED",
    } == response.json()["error"]
    assert [] == gateway.received()
    gateway.envoy.entries(1)


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
    "text": (plain, 200, b"hello", "valid"),
    "401": (failing(401), 401, b'{"detail":"x"}', "valid"),
    "404": (failing(404), 404, b'{"detail":"x"}', "valid"),
    "500": (failing(500), 500, b'{"detail":"x"}', "valid"),
}


@pytest.mark.parametrize("name", RESPONSES)
def test_what_is_no_message_passes(gateway: Gateway, name: str) -> None:
    """Errors of HTTP, and other types."""
    gateway.server.replace, status, body, verdict = RESPONSES[name]
    response = gateway.call()
    gateway.server.replace = lambda _: None
    gateway.received()

    assert (status, body) == (response.status_code, response.content)
    [entry] = gateway.envoy.entries(1)
    assert verdict == entry["verdict"]


def test_bodies_in_chunks(gateway: Gateway) -> None:
    """Both ways."""
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
    """Servers are not asked for it; one that sends it all the same is not read."""
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
    assert ("rejected", "CONTENT_ENCODED") == (entry["verdict"], entry["code"])


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
    assert ("rejected", "CONTENT_ENCODED") == (entry["verdict"], entry["code"])


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
def test_no_other_spelling_of_the_path_leads_past(gateway: Gateway, path: str, status: int) -> None:
    """Whatever the server takes for its path is validated, or closed."""
    response = gateway.call(path, do=3)

    assert status == response.status_code
    assert ("Input validation error" in response.text) is (status == 200)
    assert [] == gateway.received()
    gateway.envoy.entries(1)


def test_the_paths_of_authorization_pass(gateway: Gateway) -> None:
    """Without a verdict."""
    response = gateway.client.get(gateway.url("/.well-known/oauth-protected-resource"))
    gateway.received()

    assert (200, "oauth-protected-resource") == (response.status_code, response.text)
    [entry] = gateway.envoy.entries(1)
    assert entry["verdict"] is None
