"""Beginnings of sessions: probes, versions that methods tell, rejected and missed messages."""

import json
from typing import Any

import pytest
from sidecheck_server.core.evaluate import EvaluationOptions
from sidecheck_server.core.mcp.check import check
from sidecheck_server.core.mcp.context import Context, Sender
from sidecheck_server.core.mcp.rules.catalogue import CATALOGUE
from sidecheck_server.core.mcp.sessions.memory import MemoryPool
from sidecheck_server.core.mcp.sessions.repetitions import SESSION_CODES, TOOL_CODES
from sidecheck_server.core.mcp.sessions.session import Session
from sidecheck_server.core.mcp.subjects import ProtocolMessage, ReportLimits
from sidecheck_server.core.types import Severity
from support.rule_cases import LIMITS, PROTOCOL_SCHEMAS
from support.session_checks import record, resolve_all_deferred

INFO = {"name": "desk", "version": "1"}
META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": INFO,
    "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}},
}
CLIENT, SERVER = Sender.CLIENT, Sender.SERVER


def request(number: int, method: str, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


def result(number: int, **properties: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "result": properties}


def error(number: int, code: int) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "error": {"code": code, "message": "no"}}


INITIALIZE = request(
    2, "initialize", protocolVersion="2025-11-25", capabilities={}, clientInfo=INFO
)
INITIALIZED = {"jsonrpc": "2.0", "method": "notifications/initialized"}
HANDSHAKE: list[tuple[Sender, Any]] = [
    (CLIENT, INITIALIZE),
    (SERVER, result(2, protocolVersion="2025-11-25", capabilities={}, serverInfo=INFO)),
    (CLIENT, INITIALIZED),
    (CLIENT, request(3, "ping")),
]


def codes(session: Session, sender: Sender, message: Any, *, http_status: int = 0) -> list[str]:
    """Return the codes of the violations of the next message of *session*."""
    text = ProtocolMessage(json.dumps(message).encode())
    check_request = session.check_request(text, sender, ReportLimits())
    checked = check(check_request, LIMITS, PROTOCOL_SCHEMAS)
    record(session, check_request, checked, http_status=http_status)
    resolve_all_deferred(checked, LIMITS, EvaluationOptions())
    return [violation.code for violation in checked.findings.verdict().violations]


def all_codes(session: Session, messages: list[tuple[Sender, Any]]) -> list[list[str]]:
    return [codes(session, sender, message) for sender, message in messages]


def test_a_request_of_a_version_without_a_handshake_begins_none() -> None:
    """Its `_meta` has the version; a session may begin after it."""
    metadata = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": INFO,
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    session = Session(Context())
    messages: list[tuple[Sender, Any]] = [
        (CLIENT, request(1, "initialize", _meta=metadata)),
        (SERVER, error(1, -32601)),
        *HANDSHAKE,
    ]

    assert [
        ["METHOD_NOT_IN_VERSION"],
        *[[]] * (1 + len(HANDSHAKE)),
    ] == all_codes(session, messages)


@pytest.mark.parametrize("pinned", [False, True])
@pytest.mark.parametrize("code", [-32601, -32602, -32000, -1])
def test_a_probe_may_precede_the_handshake(code: int, *, pinned: bool) -> None:
    """Any error in response means that the server has a handshake."""
    session = Session(Context(version="2025-11-25"), pinned=pinned)
    probe = request(1, "server/discover", _meta=META)
    expected: list[list[str]] = [[], [], [], [], [], []]
    assert expected == all_codes(session, [(CLIENT, probe), (SERVER, error(1, code)), *HANDSHAKE])


@pytest.mark.parametrize("pinned", [False, True])
def test_a_probe_lacks_only_what_2026_07_28_requires(*, pinned: bool) -> None:
    """Without another message, the method determines its version."""
    session = Session(Context(version="2025-11-25"), pinned=pinned)
    probe = request(1, "server/discover")
    violations = all_codes(session, [(CLIENT, probe), (SERVER, error(1, -32000)), *HANDSHAKE])
    assert [["REQUIRED"], [], [], [], [], []] == violations


@pytest.mark.parametrize("pinned", [False, True])
def test_a_probe_without_a_response_may_be_cancelled(*, pinned: bool) -> None:
    """A server with a handshake may stay silent."""
    session = Session(Context(version="2025-11-25"), pinned=pinned)
    cancelled = {
        "jsonrpc": "2.0",
        "method": "notifications/cancelled",
        "params": {"requestId": 1},
    }
    messages: list[tuple[Sender, Any]] = [
        (CLIENT, request(1, "server/discover", _meta=META)),
        (CLIENT, cancelled),
        *HANDSHAKE,
    ]
    assert [[], [], [], [], [], []] == all_codes(session, messages)
    second_session = Session(Context(version="2025-11-25"), pinned=True)
    codes(second_session, CLIENT, request(1, "server/discover", _meta=META))
    cancelled["params"] = {"requestId": 7}
    assert "INITIALIZE_NOT_FIRST" in codes(second_session, CLIENT, cancelled)


def test_a_probe_after_the_handshake_is_a_violation() -> None:
    session = Session(Context())
    all_codes(session, HANDSHAKE)
    assert ["METHOD_NOT_IN_VERSION"] == codes(session, CLIENT, request(4, "server/discover"))


def test_an_error_of_the_version_does_not_imply_an_earlier_version() -> None:
    """The server rejects the version, not the probe: its data are checked."""
    session = Session(Context())
    codes(session, CLIENT, request(1, "server/discover", _meta=META))
    assert ["ERROR_DATA_MISSING"] == codes(session, SERVER, error(1, -32022))


@pytest.mark.parametrize("pinned", [False, True])
def test_requests_declare_their_capabilities(*, pinned: bool) -> None:
    """A session with a given version requires it too."""
    session = Session(Context(version="2026-07-28" if pinned else "2025-11-25"), pinned=pinned)
    for number, method in enumerate(("elicitation/create", "sampling/createMessage")):
        call = request(number, "tools/call", name="book", arguments={}, _meta=META)
        codes(session, CLIENT, call)
        params: dict[str, Any] = {"messages": [], "maxTokens": 1}
        if method == "elicitation/create":
            params = {"mode": "form", "message": "?", "requestedSchema": {"type": "object"}}
        input_requests = {
            "resultType": "input_required",
            "inputRequests": {"a": {"method": method, "params": params}},
        }
        violations = codes(session, SERVER, result(number, **input_requests))
        assert (method == "sampling/createMessage") is ("INPUT_REQUEST_UNDECLARED" in violations)


def test_a_rejected_request_does_not_count() -> None:
    """Its id, handshake and progress token do not count; its response is expected."""
    session = Session(Context())
    assert [] == codes(session, CLIENT, INITIALIZE, http_status=401)
    assert [[], [], [], []] == all_codes(session, HANDSHAKE)
    call = request(4, "ping", _meta={"progressToken": 1})
    assert [] == codes(session, CLIENT, call, http_status=503)
    assert [] == codes(session, SERVER, error(4, -32603))
    assert ["RESPONSE_WITHOUT_REQUEST"] == codes(session, SERVER, error(4, -32603))
    assert [] == codes(session, CLIENT, call, http_status=202)
    assert [] == codes(session, CLIENT, call, http_status=400)
    assert "REQUEST_ID_REUSED" in codes(session, CLIENT, call)


def test_a_status_of_the_server_does_not_reject_the_message() -> None:
    """An error response may have the HTTP status 400, and is still a response."""
    session = Session(Context())
    all_codes(session, HANDSHAKE)
    assert [] == codes(session, SERVER, result(3), http_status=400)
    assert ["RESPONSE_WITHOUT_REQUEST"] == codes(session, SERVER, result(3))


RETRY = request(7, "tools/call", name="book", arguments={}, requestState="s", _meta=META)


@pytest.mark.parametrize("from_beginning", [False, True])
def test_a_partial_session_proves_less(*, from_beginning: bool) -> None:
    """Rules that need the whole session are silent where it was not seen from its beginning."""
    session = Session(Context(), from_beginning=from_beginning)
    violations = codes(session, CLIENT, RETRY)
    later = Session(Context(), from_beginning=from_beginning)
    listing = codes(later, CLIENT, request(1, "tools/list"))
    response = codes(later, SERVER, result(99))
    assert from_beginning is ("RETRY_UNASKED" in violations)
    assert from_beginning is ("INITIALIZE_NOT_FIRST" in listing)
    assert from_beginning is ("RESPONSE_WITHOUT_REQUEST" in response)


LOG = {
    "jsonrpc": "2.0",
    "method": "notifications/message",
    "params": {"level": "info", "data": "ready"},
}


def test_only_warnings_are_reported_once() -> None:
    """Earlier messages do not change whether a verdict is valid."""
    codes_reported_once = SESSION_CODES | TOOL_CODES
    assert {Severity.WARNING} == {CATALOGUE[code].severity for code in codes_reported_once}


def test_a_violation_of_every_message_is_reported_once() -> None:
    """It is reported once per session or per tool; the caller counts the messages."""
    session = Session(Context(version="2026-07-28"), pinned=True, from_beginning=False)
    violations = []
    messages = [(SERVER, LOG), (SERVER, LOG)]
    for number, tool in enumerate(("book", "book", "cancel", "book")):
        messages.append((CLIENT, request(number, "tools/call", name=tool, _meta=META)))
        content = {"resultType": "complete", "content": [], "structuredContent": {"n": 1}}
        messages.append((SERVER, result(number, **content)))
    for number, (sender, message) in enumerate(messages):
        text = ProtocolMessage(json.dumps(message).encode())
        check_request = session.check_request(text, sender, ReportLimits())
        checked = check(check_request, LIMITS, PROTOCOL_SCHEMAS)
        record(session, check_request, checked, number=number)
        violations.append([violation.code for violation in checked.findings.verdict().violations])
    once = {"LOGGING_DEPRECATED", "META_SERVER_INFO", "STRUCTURED_CONTENT_WITHOUT_TEXT"}
    counts = [
        (repetition.code, repetition.tool, repetition.first, repetition.count)
        for repetition in session.repetitions()
    ]

    assert [
        ["LOGGING_DEPRECATED"],
        [],
        [],
        ["META_SERVER_INFO", "STRUCTURED_CONTENT_WITHOUT_TEXT"],
        [],
        [],
        [],
        ["STRUCTURED_CONTENT_WITHOUT_TEXT"],
        [],
        [],
    ] == [sorted(once & set(codes_of_message)) for codes_of_message in violations]
    assert [
        ("LOGGING_DEPRECATED", "", 0, 2),
        ("META_SERVER_INFO", "", 3, 4),
        ("STRUCTURED_CONTENT_WITHOUT_TEXT", "book", 3, 3),
    ] == sorted(counts)


REJECTION = {"jsonrpc": "2.0", "id": None, "error": {"code": -32600, "message": "no session"}}


def test_an_error_without_an_id_rejects_the_last_request() -> None:
    """The body of a response of HTTP; the request may be sent again."""
    session = Session(Context())
    codes(session, CLIENT, INITIALIZE)
    codes(session, SERVER, REJECTION, http_status=401)
    assert [[], [], [], []] == all_codes(session, HANDSHAKE)
    codes(session, SERVER, result(3))
    call = request(4, "ping", _meta={"progressToken": 1})
    codes(session, CLIENT, call)
    codes(session, SERVER, REJECTION, http_status=401)
    assert [] == codes(session, CLIENT, call)
    codes(session, SERVER, REJECTION)
    assert "REQUEST_ID_REUSED" in codes(session, CLIENT, call)


@pytest.mark.parametrize("status_of", ["request", "response"])
def test_another_session_begins_where_the_server_ended_one(status_of: str) -> None:
    """The server ended it with HTTP 404; ids may repeat."""
    session = Session(Context())
    all_codes(session, HANDSHAKE)
    codes(session, SERVER, result(3))
    if status_of == "request":
        codes(session, CLIENT, request(4, "ping"), http_status=404)
    else:
        codes(session, CLIENT, request(4, "ping"))
        codes(session, SERVER, REJECTION, http_status=404)
    assert [[], [], [], []] == all_codes(session, HANDSHAKE)
    assert "INITIALIZE_NOT_FIRST" in codes(session, CLIENT, INITIALIZE)


READ_ONLY = {
    "name": "book",
    "description": "Books a desk.",
    "inputSchema": {"type": "object"},
    "annotations": {"readOnlyHint": True, "idempotentHint": True},
}


@pytest.mark.parametrize("from_beginning", [False, True])
def test_without_a_version_only_rules_of_all_versions_are_certain(*, from_beginning: bool) -> None:
    """A session that is not seen from its beginning may have any version."""
    session = Session(Context(), from_beginning=from_beginning)
    codes(session, CLIENT, request(5, "tools/list"))
    listing = codes(session, SERVER, result(5, tools=[READ_ONLY]))
    unversioned = Session(Context(), from_beginning=False)
    codes(
        unversioned,
        SERVER,
        result(2, protocolVersion="2025-06-18", capabilities={}, serverInfo=INFO),
    )
    codes(unversioned, CLIENT, request(5, "tasks/list"))
    codes(unversioned, CLIENT, request(6, "tools/list"))
    unversioned_listing = codes(unversioned, SERVER, result(6, tools=[READ_ONLY]))
    assert from_beginning is ("TOOL_HINT_WITHOUT_MEANING" in listing)
    assert "TOOL_HINT_WITHOUT_MEANING" in unversioned_listing


@pytest.mark.parametrize("from_beginning", [False, True])
def test_extensions_that_were_not_seen_may_explain_a_method(*, from_beginning: bool) -> None:
    session = Session(Context(), from_beginning=from_beginning)
    violations = codes(session, CLIENT, request(4, "acme/search", _meta=META))
    assert from_beginning is ("METHOD_UNKNOWN" in violations)


def test_notifications_are_of_the_extensions_of_requests() -> None:
    session = Session(Context())
    notification = {"jsonrpc": "2.0", "method": "notifications/acme/found", "params": {}}
    declared: dict[str, Any] = {"extensions": {"com.acme/search": {}}}
    meta = {**META, "io.modelcontextprotocol/clientCapabilities": declared}
    codes(session, CLIENT, request(1, "tools/list", _meta=META))
    assert ["METHOD_UNKNOWN"] == codes(session, SERVER, notification)
    codes(session, CLIENT, request(2, "tools/list", _meta=meta))
    assert [] == codes(session, SERVER, notification)


def test_a_session_after_another_keeps_counts_and_returns_memory() -> None:
    pool = MemoryPool(1_000_000, 2)
    session = Session(Context(version="2026-07-28"), pinned=True, pool=pool)
    codes(session, SERVER, LOG)
    for number in range(50):
        codes(session, CLIENT, request(number, "tools/list", _meta=META))
    held_bytes = pool.bytes
    codes(session, CLIENT, request(99, "tools/list", _meta=META), http_status=404)
    codes(session, CLIENT, INITIALIZE)
    assert 0 < pool.bytes < held_bytes
    assert "LOGGING_DEPRECATED" not in codes(session, SERVER, LOG)
    assert [2] == [repetition.count for repetition in session.repetitions()]
    session.close()
    assert 0 == pool.bytes


def test_a_violation_reported_once_does_not_invalidate_later_messages() -> None:
    """Only violations that are not errors are reported once."""
    assert Severity.ERROR not in {CATALOGUE[code].severity for code in SESSION_CODES | TOOL_CODES}
