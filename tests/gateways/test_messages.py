"""Single messages between a client and a server through Envoy."""

import json
from typing import Any

import pytest
from starlette.responses import JSONResponse
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
    """Call and result keep the spelling of their senders."""
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
    """The content length is that of the new body."""
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
    """A request has an error; a notification is accepted and dropped."""
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
    """Status and error are those of 2026-07-28."""
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


def test_a_broken_tool_is_removed_from_the_list(gateway: Gateway) -> None:
    """It is removed from every list, and calls to it have the error of an unknown tool."""
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
    """The processor cannot request the list from the server."""
    response = gateway.post("tools/call", {"name": "other", "arguments": {}})

    assert {
        "code": -32603,
        "message": "not validated by Sidecheck: TOOLS_NOT_LISTED",
    } == response.json()["error"]
    assert [] == gateway.received()
    gateway.envoy.entries(1)


def test_the_end_of_a_session(gateway: Gateway) -> None:
    """A DELETE removes its state."""
    assert 200 == gateway.client.delete(gateway.url()).status_code
    gateway.client.headers.pop("mcp-session-id")
    gateway.begin()
    gateway.envoy.entries(4)
    ping = {"jsonrpc": "2.0", "id": "ping", "method": "ping", "params": {}}
    gateway.server.replace = lambda message: JSONResponse(
        {"jsonrpc": "2.0", "id": message["id"], "result": {}}
    )
    responses = [gateway.client.post(gateway.url(), json=ping)]
    # Many servers reject GET in this way, which does not affect the session.
    assert 405 == gateway.client.put(gateway.url()).status_code
    responses.append(gateway.client.post(gateway.url(), json=ping))
    responses.append(gateway.client.delete(gateway.url()))
    responses.append(gateway.client.post(gateway.url(), json=ping))
    gateway.server.replace = lambda _: None
    gateway.server.requests.clear()

    assert [200] * 4 == [response.status_code for response in responses]
    assert {} == responses[0].json()["result"]
    assert "an earlier request has this id" in responses[1].text
    assert {} == responses[3].json()["result"]
    gateway.envoy.entries(5)


def test_a_server_without_sessions(gateway: Gateway) -> None:
    """Requests are independent of each other."""
    session = gateway.client.headers.pop("mcp-session-id")
    try:
        statuses = [gateway.notify("notifications/initialized").status_code]
        responses = [gateway.call(), gateway.call(do=3)]
    finally:
        gateway.client.headers["mcp-session-id"] = session
    gateway.received()

    assert [202, 200, 200] == statuses + [response.status_code for response in responses]
    assert VALID == responses[0].json()["result"]["structuredContent"]
    assert responses[1].json()["result"]["isError"]
    gateway.envoy.entries(3)
