"""Answers of the client in a session, compared with the server's requests."""

import json
import tracemalloc
from typing import Any

import pytest
from sidecheck_server.core.mcp.check import check
from sidecheck_server.core.mcp.context import Context, Sender
from sidecheck_server.core.mcp.sessions.session import Session
from sidecheck_server.core.mcp.subjects import ProtocolMessage, ReportLimits
from support.counted_calls import count_calls
from support.rule_cases import LIMITS, PROTOCOL_SCHEMAS, RuleCase, session_verdicts
from support.session_checks import record

_STATELESS = "2026-07-28"
_META = {
    "io.modelcontextprotocol/protocolVersion": _STATELESS,
    "io.modelcontextprotocol/clientInfo": {"name": "desk", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {"sampling": {"tools": {}}, "elicitation": {}},
}
_INPUT_SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}}
_SAMPLING = {
    "messages": [{"role": "user", "content": {"type": "text", "text": "Rain?"}}],
    "maxTokens": 9,
    "tools": [{"name": "weather", "inputSchema": _INPUT_SCHEMA}],
}


def _request(id_: int, method: str, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id_, "method": method, "params": params}


def _call(id_: int, **params: Any) -> dict[str, Any]:
    return _request(id_, "tools/call", name="open", arguments={}, _meta=_META, **params)


def _input_required(id_: int, **inputs: Any) -> dict[str, Any]:
    result = {"resultType": "input_required", "inputRequests": inputs}
    return {"jsonrpc": "2.0", "id": id_, "result": result}


def _sampling_result(**tool_input: Any) -> dict[str, Any]:
    use = {"type": "tool_use", "id": "u1", "name": "weather", "input": tool_input}
    return {"role": "assistant", "model": "m", "stopReason": "toolUse", "content": [use]}


def _locations(version: str, *messages: tuple[str, object]) -> list[tuple[str, str]]:
    """Return location and code of the errors in the last of *messages*, with their senders."""
    session = [{"from": sender, "message": message} for sender, message in messages]
    case = RuleCase("", {"version": version, "check": {"session": session}})
    violations = session_verdicts(case)[-1].violations
    return [(v.instance_location, v.code) for v in violations if v.severity == "error"]


@pytest.mark.parametrize(
    ("tool_input", "expected"),
    [({"city": "Bonn"}, []), ({"city": 5}, [("/content/0/input/city", "TYPE")])],
)
def test_input_of_a_tool_use_is_validated_by_the_tools_of_the_request(
    tool_input: dict[str, Any], expected: list[tuple[str, str]]
) -> None:
    sampling_result = _sampling_result(**tool_input)

    in_session = _locations(
        "2025-11-25",
        ("server", _request(1, "sampling/createMessage", **_SAMPLING)),
        ("client", {"jsonrpc": "2.0", "id": 1, "result": sampling_result}),
    )
    in_retry = _locations(
        _STATELESS,
        ("client", _call(1)),
        ("server", _input_required(1, a={"method": "sampling/createMessage", "params": _SAMPLING})),
        ("client", _call(2, inputResponses={"a": sampling_result})),
    )

    def below(prefix: str) -> list[tuple[str, str]]:
        return [(prefix + location, code) for location, code in expected]

    assert below("/result") == in_session
    assert below("/params/inputResponses/a") == in_retry


def test_messages_of_a_sampling_request_are_not_stored() -> None:
    """They may have images, and the rules for the result need none of them."""
    image = {"type": "image", "mimeType": "image/png", "data": "AAAA" * 25_000}
    params = {"messages": [{"role": "user", "content": image}], "maxTokens": 9}
    session = Session(Context(version="2025-11-25"))

    tracemalloc.start()
    for number in range(40):
        _send(session, Sender.SERVER, _request(number, "sampling/createMessage", **params))
    size, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert size < 1 << 20


def test_the_cost_of_a_retry_does_not_grow_with_the_forms() -> None:
    """Each response is compared with all forms of the result."""
    form = {"type": "object", "properties": {f"p{i}": {"type": "string"} for i in range(3000)}}
    params = {"mode": "form", "message": "Which?", "requestedSchema": form}
    elicitation = {"method": "elicitation/create", "params": params}
    session = Session(Context(version=_STATELESS))
    _send(session, Sender.CLIENT, _call(1))
    _send(session, Sender.SERVER, _input_required(1, **{f"i{i}": elicitation for i in range(6)}))
    accepted = {f"i{i}": {"action": "accept", "content": {}} for i in range(6)}

    def retry() -> None:
        _send(session, Sender.CLIENT, _call(2, inputResponses=accepted))

    assert count_calls(retry) < 5_000


def _send(session: Session, sender: Sender, message: dict[str, Any]) -> None:
    text = ProtocolMessage(json.dumps(message).encode())
    request = session.check_request(text, sender, ReportLimits())
    record(session, request, check(request, LIMITS, PROTOCOL_SCHEMAS))


@pytest.mark.parametrize(
    ("level", "expected"), [("loud", []), ("emergency", ["LOG_BELOW_LEVEL"]), (5, [])]
)
def test_an_unknown_level_forbids_no_log_messages(level: object, expected: list[str]) -> None:
    params = {"level": "info", "data": "x"}
    log = {"jsonrpc": "2.0", "method": "notifications/message", "params": params}
    meta = {**_META, "io.modelcontextprotocol/logLevel": level}
    call = _request(1, "tools/call", name="open", arguments={}, _meta=meta)
    session = [{"from": "client", "message": call}, {"from": "server", "message": log}]

    verdict = session_verdicts(
        RuleCase("", {"version": _STATELESS, "check": {"session": session}})
    )[-1]

    assert expected == [v.code for v in verdict.violations if v.code.startswith("LOG_")]
