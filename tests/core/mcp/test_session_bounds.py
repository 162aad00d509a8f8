"""What a session reads in passing and remembers is bounded, whatever its peers send."""

import json
import time
import tracemalloc
from typing import Any

from sidecheck_server.core.mcp.check import check
from sidecheck_server.core.mcp.context import Context, Sender
from sidecheck_server.core.mcp.messages.error_responses import build_error_response
from sidecheck_server.core.mcp.sessions.header_scan import MAX_CAPABILITIES_BYTES
from sidecheck_server.core.mcp.sessions.session import Session
from sidecheck_server.core.mcp.subjects import ProtocolMessage, ReportLimits
from support.rule_cases import LIMITS, PROTOCOL_SCHEMAS

_VERSION = "2026-07-28"
_META = {
    "io.modelcontextprotocol/protocolVersion": _VERSION,
    "io.modelcontextprotocol/clientInfo": {"name": "desk", "version": "1"},
}


def _sent(session: Session, message: dict[str, Any], sender: Sender = Sender.CLIENT) -> list[str]:
    """Return the codes of what is wrong with *message*, before questions are answered."""
    text = ProtocolMessage(json.dumps(message).encode())
    check_request = session.check_request(text, sender, ReportLimits())
    checked = check(check_request, LIMITS, PROTOCOL_SCHEMAS)
    session.record(check_request, checked)
    return [violation.code for violation in checked.findings.verdict().violations]


def _request(id_: Any, method: str, capabilities: dict[str, Any], **params: Any) -> dict[str, Any]:
    meta = {**_META, "io.modelcontextprotocol/clientCapabilities": capabilities}
    params = {"_meta": meta, **params}
    return {"jsonrpc": "2.0", "id": id_, "method": method, "params": params}


def _held(send: Any) -> int:
    """Return how many bytes more are in use after *send* than before it."""
    tracemalloc.start()
    try:
        send()
        return tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()


def test_an_id_of_large_numbers_is_not_read_in_passing() -> None:
    """A reader of JSON takes 13 us for each, two seconds for all of them."""
    numbers = b"[" + b",".join([b"1e300"] * 150_000) + b"]"
    text = b'{"jsonrpc":"2.0","method":"ping","id":' + numbers + b"}"
    session = Session(Context())

    started = time.perf_counter()
    session.check_request(ProtocolMessage(text), Sender.CLIENT, ReportLimits())
    assert time.perf_counter() - started < 0.5


def test_open_requests_weigh_what_their_capabilities_do() -> None:
    """Each request of this version brings its own."""
    session = Session(Context(version=_VERSION))
    capabilities: dict[str, Any] = {"experimental": {f"x{i}": {} for i in range(1000)}}
    assert len(json.dumps(capabilities)) < MAX_CAPABILITIES_BYTES

    def send() -> None:
        for number in range(200):
            _sent(session, _request(number, "tools/list", capabilities))

    assert _held(send) < 16 << 20


def test_of_capabilities_that_are_too_large_nothing_is_said() -> None:
    """Neither that they are there nor that they are missing."""
    session = Session(Context(version=_VERSION, client_capabilities={}))
    large: dict[str, Any] = {"experimental": {f"x{i}": {} for i in range(10_000)}}
    asking = {"method": "roots/list"}
    answer = {"resultType": "input_required", "inputRequests": {"a": asking}}

    found = {}
    for name, capabilities in (("none", {}), ("large", large), ("roots", {"roots": {}})):
        _sent(session, _request(name, "tools/call", capabilities, name="t"))
        result = {"jsonrpc": "2.0", "id": name, "result": answer}
        codes = _sent(session, result, Sender.SERVER)
        found[name] = [code for code in codes if "UNDECLARED" in code]
    assert {"none": ["INPUT_REQUEST_UNDECLARED"], "large": [], "roots": []} == found


def test_listed_tools_are_remembered_as_texts() -> None:
    """A schema of small members takes twenty times the memory of its text."""
    session = Session(Context(version=_VERSION))

    def send() -> None:
        for number in range(30):
            _sent(session, _request(number, "tools/list", {}))
            schema = {"type": "object", "default": [{}] * 20_000}
            tool = {"name": f"t{number}", "inputSchema": schema}
            result = {"jsonrpc": "2.0", "id": number, "result": {"tools": [tool]}}
            _sent(session, result, Sender.SERVER)

    assert _held(send) < 8 << 20


def test_a_scope_of_any_form_is_a_fault_of_its_shape_alone() -> None:
    session = Session(Context(version=_VERSION))
    found = []
    for number, scope in enumerate(({"private": True}, ["public"], None, 1)):
        _sent(session, _request(number, "tools/list", {}))
        page = {"resultType": "complete", "tools": [], "ttlMs": 1, "nextCursor": "more"}
        result = {"jsonrpc": "2.0", "id": number, "result": {**page, "cacheScope": scope}}
        codes = _sent(session, result, Sender.SERVER)
        found.append([code for code in codes if code in {"ENUM", "PAGE_CACHE_SCOPE"}])
    assert [["ENUM"]] * 4 == found


def test_a_reply_repeats_no_unknown_version_where_values_are_hidden() -> None:
    meta = {**_META, "io.modelcontextprotocol/protocolVersion": "s3cret"}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": meta}}
    context = Context(version=_VERSION, hide_values=True)
    check_request = Session(context).check_request(
        ProtocolMessage(json.dumps(message).encode()), Sender.CLIENT, ReportLimits()
    )
    checked = check(check_request, LIMITS, PROTOCOL_SCHEMAS)
    verdict = checked.findings.verdict()

    assert b"s3cret" in build_error_response(checked.messages, verdict, _VERSION)
    assert b"s3cret" not in build_error_response(
        checked.messages, verdict, _VERSION, hide_values=True
    )
