"""Error responses to invalid messages."""

from typing import Any

import pytest
from sidecheck_server.core.mcp.context import VERSIONS
from support.messages import META, checked, reply

PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 0,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "desk", "version": "1"},
    },
}


def _call(params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": "c-1", "method": "tools/call", "params": params}


def test_content_of_an_error_response() -> None:
    assert reply(_call({"name": 123}), "2025-11-25") == {
        "jsonrpc": "2.0",
        "id": "c-1",
        "error": {
            "code": -32602,
            "message": "Invalid params at /params/name: expected a string, found 123",
            "data": {
                "violations": [
                    {
                        "code": "TYPE",
                        "pointer": "/params/name",
                        "message": "expected a string, found 123",
                    }
                ]
            },
        },
    }


CODES = [
    ("not JSON", b"{", "2025-11-25", -32700),
    ("two meanings", b'{"id": 1, "id": 2}', "2025-11-25", -32600),
    ("no message", 5, "2025-11-25", -32600),
    ("no kind", {"jsonrpc": "2.0", "id": 1}, "2025-11-25", -32600),
    ("another protocol", {**PING, "jsonrpc": "1.0"}, "2025-11-25", -32600),
    ("no id to answer to", {**PING, "id": None}, "2025-11-25", -32600),
    ("a method and a result", {**PING, "result": {}}, "2025-11-25", -32600),
    (
        "a notification with an id",
        {**PING, "method": "notifications/initialized"},
        "2025-11-25",
        -32600,
    ),
    ("a list of params", {**PING, "params": []}, "2025-11-25", -32600),
    ("a method of another version", {**PING, "params": {"_meta": META}}, "2026-07-28", -32601),
    ("params of another shape", _call({}), "2025-11-25", -32602),
    ("no params", {**PING, "method": "tools/call"}, "2025-11-25", -32602),
    ("no version told", {**PING, "method": "tools/list", "params": {}}, "2026-07-28", -32602),
    (
        "another version",
        {
            **PING,
            "method": "tools/list",
            "params": {"_meta": {**META, "io.modelcontextprotocol/protocolVersion": "2099-01-01"}},
        },
        "2026-07-28",
        -32022,
    ),
    ("a handshake", INITIALIZE, "2026-07-28", -32022),
    ("an array", [PING], "2025-06-18", -32600),
    ("an empty batch", [], "2025-03-26", -32600),
]


@pytest.mark.parametrize(("message", "version", "code"), [case[1:] for case in CODES], ids=str)
def test_json_rpc_error_code(message: Any, version: str, code: int) -> None:
    assert reply(message, version)["error"]["code"] == code


SILENCE = [
    ("a sound request", PING),
    ("a notification", {"jsonrpc": "2.0", "method": "notifications/cancelled"}),
    ("a request without an id", {"jsonrpc": "2.0", "method": "tools/call"}),
    ("a result", {"jsonrpc": "2.0", "id": None, "result": {}}),
    ("an error", {"jsonrpc": "2.0", "id": 1, "error": {"code": "1", "message": 2}}),
    ("what may be a response", {"jsonrpc": "2.0", "id": 1, "result": {}, "error": {}}),
]


@pytest.mark.parametrize(
    "message", [case[1] for case in SILENCE], ids=[case[0] for case in SILENCE]
)
def test_messages_without_an_error_response(message: Any) -> None:
    assert reply(message, "2025-11-25") is None


def test_warnings_give_no_error_response() -> None:
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": META}}
    verdict = checked(message, "2026-07-28").findings.verdict()
    assert [violation.code for violation in verdict.violations] == ["META_CLIENT_INFO"]
    assert reply(message, "2026-07-28") is None


@pytest.mark.parametrize("version", VERSIONS)
def test_unreadable_id_is_null_or_omitted_since_2025_11_25(version: str) -> None:
    expected = {} if version >= "2025-11-25" else {"id": None}
    for message in (b"{", {**PING, "id": 1.5}, 5):
        response = reply(message, version)
        assert {key: response[key] for key in response if key == "id"} == expected


def test_unsupported_version_lists_the_supported_one() -> None:
    data = reply(INITIALIZE, "2026-07-28")["error"]["data"]
    assert data["supported"] == ["2026-07-28"]
    assert data["requested"] == "2025-06-18"


def test_response_to_a_batch() -> None:
    batch = [
        PING,
        {**PING, "id": 2, "method": "server/discover"},
        {"jsonrpc": "2.0", "method": "notifications/cancelled"},
        7,
        {**PING, "id": 3, "method": "tools/call", "params": {"name": 5}},
    ]
    replies = reply(batch, "2025-03-26")
    assert [(reply["id"], reply["error"]["code"]) for reply in replies] == [
        (2, -32601),
        (None, -32600),
        (3, -32602),
    ]
    pointers = [reply["error"]["data"]["violations"][0]["pointer"] for reply in replies]
    assert pointers == ["/method", "", "/params/name"]


def test_a_vendor_method_has_no_response() -> None:
    """It is a warning: its receiver may know the method."""
    assert reply({**PING, "method": "acme/search"}, "2025-11-25") is None


def test_valid_batch_has_no_response() -> None:
    assert reply([PING, {**PING, "id": 2}], "2025-03-26") is None


def test_size_of_an_error_response_is_limited() -> None:
    arguments = {f"{number}{'k' * 9000}": 1 for number in range(50)}
    params = {"name": "greet", "arguments": arguments}
    response = reply({**PING, "method": "prompts/get", "params": params}, "2025-11-25")
    data = response["error"]["data"]
    assert (len(data["violations"]), data["truncated"]) == (20, True)
    assert max(len(violation["pointer"]) for violation in data["violations"]) == 300
    assert len(response["error"]["message"]) == 300


def test_invalid_batch_message_has_an_error_response() -> None:
    replies = reply([{"jsonrpc": "2.0", "id": 1, "result": {}}, {**PING, "id": 2}], "2025-03-26")
    assert [(reply["id"], reply["error"]["code"]) for reply in replies] == [(2, -32600)]


@pytest.mark.parametrize(("message", "version"), [case[1:3] for case in CODES], ids=str)
def test_error_responses_are_valid_messages(message: Any, version: str) -> None:
    assert checked(reply(message, version), version).findings.verdict().violations == ()
