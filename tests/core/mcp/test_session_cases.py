"""Session rules, and the protocol context that a session derives from its messages."""

import json
from typing import Any

import pytest
from sidecheck_server.core.errors import RequestError
from sidecheck_server.core.evaluate import EvaluationOptions
from sidecheck_server.core.mcp.check import check
from sidecheck_server.core.mcp.context import Context, Sender
from sidecheck_server.core.mcp.rules.catalogue import GROUPS
from sidecheck_server.core.mcp.rules.rule import Group
from sidecheck_server.core.mcp.sessions.session import Session
from sidecheck_server.core.mcp.subjects import ProtocolMessage, ReportLimits
from sidecheck_server.core.types import Severity
from support.rule_cases import (
    LIMITS,
    PROTOCOL_SCHEMAS,
    RuleCase,
    rule_cases,
    session_verdicts,
)
from support.session_checks import record, resolve_all_deferred

_CASES = list(rule_cases("session"))
_GROUPS = (
    Group.DECLARATIONS,
    Group.LOGGING,
    Group.VERSION_NEGOTIATION,
    Group.PROMPTS,
    Group.SESSIONS,
    Group.SUBSCRIPTIONS,
    Group.TASKS,
)
_OF_SESSIONS = {rule.code for group in _GROUPS for rule in GROUPS[group]}


@pytest.mark.parametrize("case", _CASES, ids=str)
def test_rule_reports_its_violations(case: RuleCase) -> None:
    violations = [
        (f"/{index}{violation.instance_location}", violation.code)
        for index, verdict in enumerate(session_verdicts(case))
        for violation in verdict.violations
    ]
    assert [location for location, code in violations if code == case.code] == case.at, violations


@pytest.mark.parametrize("case", [case for case in _CASES if not case.at], ids=str)
def test_session_cases_violate_no_stateless_rule(case: RuleCase) -> None:
    violations = [
        violation for verdict in session_verdicts(case) for violation in verdict.violations
    ]
    errors = [violation for violation in violations if violation.severity is Severity.ERROR]
    assert [error for error in errors if error.code not in _OF_SESSIONS] == []


def _request(id_: int, method: str, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id_, "method": method, "params": params}


def _result(id_: int, **result: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id_, "result": result}


def _violations(
    session: Session,
    sender: Sender | None,
    message: object,
    min_severity: Severity = Severity.ERROR,
) -> list[tuple[str, str]]:
    """Return location and code of the violations of *message* in *session*."""
    text = ProtocolMessage(json.dumps(message).encode())
    check_request = session.check_request(text, sender, ReportLimits(min_severity=min_severity))
    checked = check(check_request, LIMITS, PROTOCOL_SCHEMAS)
    record(session, check_request, checked)
    resolve_all_deferred(checked, LIMITS, EvaluationOptions())
    violations = checked.findings.verdict().violations
    return [(violation.instance_location, violation.code) for violation in violations]


def _codes(session: Session, sender: Sender | None, message: object) -> list[str]:
    return [code for _, code in _violations(session, sender, message)]


def _initialized_session(version: str, **server_capabilities: Any) -> Session:
    session = Session(Context())
    info = {"name": "desk", "version": "1"}
    hello = _request(0, "initialize", protocolVersion=version, capabilities={}, clientInfo=info)
    result = _result(0, protocolVersion=version, capabilities=server_capabilities, serverInfo=info)
    assert _codes(session, Sender.CLIENT, hello) == []
    assert _codes(session, Sender.SERVER, result) == []
    initialized = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    assert _codes(session, Sender.CLIENT, initialized) == []
    return session


def test_negotiated_version_applies() -> None:
    batch = [_request(1, "ping"), _request(2, "ping")]
    assert _codes(_initialized_session("2025-03-26"), Sender.CLIENT, batch) == []
    assert _codes(_initialized_session("2025-11-25"), Sender.CLIENT, batch) != []


def test_pinned_version_overrides_negotiation() -> None:
    session = Session(Context(version="2025-03-26"), pinned=True)
    check_request = session.check_request(
        ProtocolMessage(
            json.dumps(_request(0, "initialize", protocolVersion="2025-11-25")).encode()
        ),
        Sender.CLIENT,
        ReportLimits(),
    )
    assert check_request.context.version == "2025-03-26"


def test_undeclared_server_capability() -> None:
    lists = _request(1, "tools/list")
    assert _codes(_initialized_session("2025-11-25", tools={}), Sender.CLIENT, lists) == []
    assert _codes(_initialized_session("2025-11-25", prompts={}), Sender.CLIENT, lists) != []


def test_response_is_validated_by_its_request() -> None:
    session = _initialized_session("2025-11-25", tools={})
    assert _codes(session, Sender.CLIENT, _request(1, "tools/list")) == []
    assert _codes(session, Sender.SERVER, _result(1, tools="none")) == ["TYPE"]


def test_sender_is_inferred_from_method_or_request() -> None:
    session = _initialized_session("2025-11-25", tools={})
    assert _codes(session, None, _request(1, "tools/list")) == []
    assert _codes(session, None, _result(1, tools=[])) == []
    assert (
        _codes(session, None, _result(1, tools=[])) == []
    )  # without a request the sender is unknown
    assert _codes(session, Sender.SERVER, _result(1, tools=[])) == ["RESPONSE_WITHOUT_REQUEST"]


def _listing(**schemas: Any) -> dict[str, Any]:
    return _result(1, tools=[{"name": "count", "inputSchema": {"type": "object"}} | schemas])


def test_call_is_validated_against_the_listed_input_schema() -> None:
    session = _initialized_session("2025-11-25", tools={})
    assert _codes(session, Sender.CLIENT, _request(1, "tools/list")) == []
    schema = {"type": "object", "properties": {"to": {"type": "integer"}}, "required": ["to"]}
    assert _codes(session, Sender.SERVER, _listing(inputSchema=schema)) == []
    call = _request(2, "tools/call", name="count", arguments={"to": "ten"})
    assert _violations(session, Sender.CLIENT, call) == [("/params/arguments/to", "TYPE")]
    call = _request(3, "tools/call", name="count")
    assert _violations(session, Sender.CLIENT, call) == [("/params", "REQUIRED")]
    call = _request(4, "tools/call", name="unlisted", arguments={"to": "ten"})
    assert _violations(session, Sender.CLIENT, call) == []
    changed = {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}
    assert "TYPE" not in _codes(session, Sender.SERVER, changed)
    call = _request(5, "tools/call", name="count", arguments={"to": "ten"})
    assert _violations(session, Sender.CLIENT, call) == []


@pytest.mark.parametrize(
    ("expected", "result"),
    [
        ([], {"structuredContent": {"n": 1}, "content": [{"type": "text", "text": '{"n": 1}'}]}),
        ([("/result", "OUTPUT_MISSING")], {"content": []}),
        ([], {"content": [], "isError": True}),
        (
            [("/result/structuredContent/n", "TYPE")],
            {"structuredContent": {"n": "1"}, "content": [{"type": "text", "text": '{"n": "1"}'}]},
        ),
    ],
)
def test_result_is_validated_against_the_listed_output_schema(
    expected: list[tuple[str, str]], result: dict[str, Any]
) -> None:
    session = _initialized_session("2025-11-25", tools={})
    assert _codes(session, Sender.CLIENT, _request(1, "tools/list")) == []
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}}
    assert _codes(session, Sender.SERVER, _listing(outputSchema=schema)) == []
    assert _codes(session, Sender.CLIENT, _request(2, "tools/call", name="count")) == []
    assert _violations(session, Sender.SERVER, _result(2, **result)) == expected


def test_input_response_is_validated_against_the_requested_form() -> None:
    session = Session(Context())
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "desk", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}},
    }
    form = {"type": "object", "properties": {"port": {"type": "integer", "maximum": 99}}}
    elicitation = {
        "method": "elicitation/create",
        "params": {"mode": "form", "message": "Which port?", "requestedSchema": form},
    }
    call = _request(1, "tools/call", name="open", arguments={}, _meta=meta)
    assert _violations(session, Sender.CLIENT, call) == []
    input_required = _result(1, resultType="input_required", inputRequests={"port": elicitation})
    assert _violations(session, Sender.SERVER, input_required) == []
    elicitation_result = {"action": "accept", "content": {"port": 100}}
    retry = _request(
        2,
        "tools/call",
        name="open",
        arguments={},
        _meta=meta,
        inputResponses={"port": elicitation_result},
    )
    # The specification says SHOULD.
    assert _violations(session, Sender.CLIENT, retry, Severity.WARNING) == [
        ("/params/inputResponses/port/content/port", "MAXIMUM")
    ]


def test_request_of_2026_07_28_has_its_own_version_and_capabilities() -> None:
    session = Session(Context())
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {"sampling": {}},
    }
    text = json.dumps(_request(1, "tools/list", _meta=meta)).encode()
    check_request = session.check_request(ProtocolMessage(text), Sender.CLIENT, ReportLimits())
    assert check_request.context.version == "2026-07-28"
    assert check_request.context.client_capabilities == {"sampling": {}}


@pytest.mark.parametrize(
    "text", [b"", b"{", b"[]", b"null", b'{"id": {}}', b"[" * 100_000, b"\xff", b'{"id": 1e999}']
)
def test_invalid_messages_leave_the_session_unchanged(text: bytes) -> None:
    session = Session(Context())
    for sender in (Sender.CLIENT, Sender.SERVER, None):
        check_request = session.check_request(ProtocolMessage(text), sender, ReportLimits())
        assert check_request == session.check_request(ProtocolMessage(text), sender, ReportLimits())


@pytest.mark.slow
def test_evicted_requests_cause_no_violations() -> None:
    session = _initialized_session("2025-11-25", tools={})
    long = "x" * 4000
    for number in range(10_000):
        request = _request(number + 1, "tools/call", name=long)
        text = json.dumps(request).encode()
        check_request = session.check_request(ProtocolMessage(text), Sender.CLIENT, ReportLimits())
        checked = check(check_request, LIMITS, PROTOCOL_SCHEMAS)
        record(session, check_request, checked)
    assert "RESPONSE_WITHOUT_REQUEST" not in _codes(session, Sender.SERVER, _result(10_000))


_LONG = _request(1, "tools/call", name="x" * LIMITS.payload_bytes)
_TWICE = b'{"jsonrpc": "2.0", "id": 1, "id": 1, "method": "tools/list"}'


@pytest.mark.parametrize(
    ("expected", "sender", "text"),
    [
        ([], Sender.CLIENT, json.dumps(_LONG).encode()),
        ([], Sender.CLIENT, _TWICE),
        ([], Sender.CLIENT, json.dumps([_request(1, "tools/list")]).encode()),
        ([], None, json.dumps(_request(1, "ping")).encode()),
        (["RESPONSE_WITHOUT_REQUEST"], Sender.CLIENT, b"5"),
        (["RESPONSE_WITHOUT_REQUEST"], Sender.CLIENT, b'{"jsonrpc": "2.0", "id": 1}'),
    ],
)
def test_unreadable_messages_suppress_dependent_violations(
    expected: list[str], sender: Sender | None, text: bytes
) -> None:
    session = _initialized_session("2025-11-25", tools={})
    check_request = session.check_request(ProtocolMessage(text), sender, ReportLimits())
    try:
        record(session, check_request, check(check_request, LIMITS, PROTOCOL_SCHEMAS))
    except RequestError:
        session.record_gap()
    response = {"jsonrpc": "2.0", "id": 1, "result": {}}
    assert _codes(session, Sender.SERVER, response) == expected
    assert "REQUEST_ID_REUSED" in _codes(session, Sender.CLIENT, _request(0, "ping"))
