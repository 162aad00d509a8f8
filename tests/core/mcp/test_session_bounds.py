"""Limits of a session's message scan and memory on hostile messages."""

import json
import tracemalloc
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest
from sidecheck_server.core.mcp.check import check
from sidecheck_server.core.mcp.context import Context, Sender
from sidecheck_server.core.mcp.messages.error_responses import build_error_response
from sidecheck_server.core.mcp.sessions.memory import MemoryPool
from sidecheck_server.core.mcp.sessions.message_scan import MAX_CAPABILITIES_BYTES
from sidecheck_server.core.mcp.sessions.session import Session
from sidecheck_server.core.mcp.subjects import ProtocolMessage, ReportLimits
from support.counted_calls import count_calls
from support.rule_cases import LIMITS, PROTOCOL_SCHEMAS
from support.session_checks import record

_VERSION = "2026-07-28"
_META = {
    "io.modelcontextprotocol/protocolVersion": _VERSION,
    "io.modelcontextprotocol/clientInfo": {"name": "desk", "version": "1"},
}


def _codes(session: Session, message: dict[str, Any], sender: Sender = Sender.CLIENT) -> list[str]:
    """Return the codes of the violations of *message*, without deferred checks."""
    text = ProtocolMessage(json.dumps(message).encode())
    check_request = session.check_request(text, sender, ReportLimits())
    checked = check(check_request, LIMITS, PROTOCOL_SCHEMAS)
    record(session, check_request, checked)
    return [violation.code for violation in checked.findings.verdict().violations]


def _request(id_: Any, method: str, capabilities: dict[str, Any], **params: Any) -> dict[str, Any]:
    meta = {**_META, "io.modelcontextprotocol/clientCapabilities": capabilities}
    params = {"_meta": meta, **params}
    return {"jsonrpc": "2.0", "id": id_, "method": method, "params": params}


def _memory_growth(send: Any) -> int:
    """Return how many bytes *send* allocates and keeps."""
    tracemalloc.start()
    try:
        send()
        return tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()


def test_message_scan_skips_ids_of_large_numbers() -> None:
    """Parsing would call a function for each of them."""
    numbers = b"[" + b",".join([b"1e300"] * 150_000) + b"]"
    text = b'{"jsonrpc":"2.0","method":"ping","id":' + numbers + b"}"
    session = Session(Context())

    def scan() -> None:
        session.check_request(ProtocolMessage(text), Sender.CLIENT, ReportLimits())

    assert count_calls(scan) < 1_000


def test_memory_of_open_requests_with_capabilities() -> None:
    """Each request of this version has its own capabilities."""
    session = Session(Context(version=_VERSION))
    capabilities: dict[str, Any] = {"experimental": {f"x{i}": {} for i in range(1000)}}
    assert len(json.dumps(capabilities)) < MAX_CAPABILITIES_BYTES

    def send() -> None:
        for number in range(200):
            _codes(session, _request(number, "tools/list", capabilities))

    assert _memory_growth(send) < 16 << 20


def test_oversized_capabilities_give_no_violations() -> None:
    """They count neither as declared nor as missing."""
    session = Session(Context(version=_VERSION, client_capabilities={}))
    large: dict[str, Any] = {"experimental": {f"x{i}": {} for i in range(10_000)}}
    input_request = {"method": "roots/list"}
    input_required = {"resultType": "input_required", "inputRequests": {"a": input_request}}

    codes_by_name = {}
    for name, capabilities in (("none", {}), ("large", large), ("roots", {"roots": {}})):
        _codes(session, _request(name, "tools/call", capabilities, name="t"))
        result = {"jsonrpc": "2.0", "id": name, "result": input_required}
        codes = _codes(session, result, Sender.SERVER)
        codes_by_name[name] = [code for code in codes if "UNDECLARED" in code]
    assert {"none": ["INPUT_REQUEST_UNDECLARED"], "large": [], "roots": []} == codes_by_name


def test_listed_tools_are_stored_as_json() -> None:
    """A parsed schema of small values takes twenty times the memory of its text."""
    session = Session(Context(version=_VERSION))

    def send() -> None:
        for number in range(30):
            _codes(session, _request(number, "tools/list", {}))
            schema = {"type": "object", "default": [{}] * 20_000}
            tool = {"name": f"t{number}", "inputSchema": schema}
            result = {"jsonrpc": "2.0", "id": number, "result": {"tools": [tool]}}
            _codes(session, result, Sender.SERVER)

    assert _memory_growth(send) < 8 << 20


def test_invalid_cache_scope_is_only_a_type_violation() -> None:
    session = Session(Context(version=_VERSION))
    reported = []
    for number, scope in enumerate(({"private": True}, ["public"], None, 1)):
        _codes(session, _request(number, "tools/list", {}))
        page = {"resultType": "complete", "tools": [], "ttlMs": 1, "nextCursor": "more"}
        result = {"jsonrpc": "2.0", "id": number, "result": {**page, "cacheScope": scope}}
        codes = _codes(session, result, Sender.SERVER)
        reported.append([code for code in codes if code in {"ENUM", "PAGE_CACHE_SCOPE"}])
    assert [["ENUM"]] * 4 == reported


def test_error_response_hides_an_unknown_version() -> None:
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


def test_a_subscription_to_too_many_resources_includes_any() -> None:
    """Only so many URIs are stored; escapes make each of them expensive to compare."""
    updated = {"jsonrpc": "2.0", "method": "notifications/resources/updated"}
    reported = []
    for count in (10, 50_000):
        session = Session(Context(version=_VERSION))
        subscription = {"resourceSubscriptions": [f"a:{i}" for i in range(count)]}
        params = {"_meta": {"io.modelcontextprotocol/subscriptionId": 1}, "uri": "b:1"}
        _codes(session, _request(1, "subscriptions/listen", {}, notifications=subscription))
        codes = _codes(session, {**updated, "params": params}, Sender.SERVER)
        reported.append("SUBSCRIPTION_NOT_ASKED" in codes)
    assert [True, False] == reported


Messages = Iterator[tuple[Sender, dict[str, Any]]]

_WIDE = chr(0x1F600)
"""A character that takes four bytes in texts."""


def _notification(method: str, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "method": f"notifications/{method}", "params": params}


def _tasks_with_long_timestamps() -> Messages:
    for number in range(20):
        task = {"taskId": f"t{number}", "status": "completed", "lastUpdatedAt": "x" * 900_000}
        yield Sender.SERVER, _notification("tasks", **task)


def _tasks_with_many_inputs() -> Messages:
    for number in range(20):
        names = (f"{number}-{i}-{_WIDE * 50}" for i in range(1000))
        inputs = {name: {"method": "roots/list"} for name in names}
        task = {"taskId": f"t{number}", "status": "input_required", "inputRequests": inputs}
        yield Sender.SERVER, _notification("tasks", **task)


def _related_requests_with_long_methods() -> Messages:
    for number in range(20):
        meta = {"io.modelcontextprotocol/related-task": {"taskId": "t"}}
        params = {"_meta": {**_META, **meta}}
        method = "x" * 900_000
        yield (
            Sender.CLIENT,
            {"jsonrpc": "2.0", "id": number, "method": method, "params": params},
        )


def _subscriptions_with_many_resources() -> Messages:
    for number in range(100):
        resources = [f"file:///{number}/{i}/{'a' * 30}" for i in range(1000)]
        filters = {"resourceSubscriptions": resources}
        yield Sender.CLIENT, _request(number, "subscriptions/listen", {}, notifications=filters)


def _results_with_long_input_names() -> Messages:
    for number in range(20):
        yield Sender.CLIENT, _request(number, "tools/call", {}, name=f"t{number}")
        inputs = {f"{i}{_WIDE * 70}": {"method": "roots/list"} for i in range(900)}
        result = {"resultType": "input_required", "inputRequests": inputs}
        yield Sender.SERVER, {"jsonrpc": "2.0", "id": number, "result": result}


def _results_without_text_of_many_tools() -> Messages:
    for number in range(2000):
        name = _WIDE * 120 + str(number)
        yield Sender.CLIENT, _request(number, "tools/call", {}, name=name)
        result = {"resultType": "complete", "content": [], "structuredContent": {"a": 1}}
        yield Sender.SERVER, {"jsonrpc": "2.0", "id": number, "result": result}


@pytest.mark.parametrize(
    "messages",
    [
        _tasks_with_long_timestamps,
        _tasks_with_many_inputs,
        _related_requests_with_long_methods,
        _subscriptions_with_many_resources,
        _results_with_long_input_names,
        _results_without_text_of_many_tools,
    ],
)
def test_counted_memory_matches_the_allocation(messages: Callable[[], Messages]) -> None:
    """The limit of all sessions depends on the count."""
    pool = MemoryPool(64 << 20, 1)
    session = Session(Context(version=_VERSION), pool=pool)

    def send() -> None:
        for sender, message in messages():
            _codes(session, message, sender)

    assert _memory_growth(send) < 1.5 * pool.bytes + (2 << 20)


def _long_integers() -> Messages:
    values = [10**4290] * 200
    yield Sender.CLIENT, _request(1, "tools/call", {}, name="t", arguments={"a": values})
    inputs = {"a": {"method": "x", "params": {"a": values}}}
    task = {"taskId": "t", "status": "input_required", "inputRequests": inputs}
    yield Sender.SERVER, _notification("tasks", **task)


def _escapes() -> Messages:
    resources = [f"file:///{'%41' * 160}{i}" for i in range(1000)]
    filters = {"resourceSubscriptions": resources}
    yield Sender.CLIENT, _request(1, "subscriptions/listen", {}, notifications=filters)


def _long_prefixes() -> Messages:
    filters = {"resourceSubscriptions": ["a:b"]}
    yield Sender.CLIENT, _request(1, "subscriptions/listen", {}, notifications=filters)
    meta = {"io.modelcontextprotocol/subscriptionId": 1}
    filters = {"resourceSubscriptions": [f"{i}{'x' * 9000}{'/' * 100}" for i in range(100)]}
    yield (
        Sender.SERVER,
        _notification("subscriptions/acknowledged", _meta=meta, notifications=filters),
    )
    uri = "x" * 900_000 + "/" * 100
    yield Sender.SERVER, _notification("resources/updated", _meta=meta, uri=uri)


@pytest.mark.parametrize("messages", [_long_integers, _escapes, _long_prefixes])
def test_recording_a_message_takes_bounded_work(messages: Callable[[], Messages]) -> None:
    """The event loop records messages; without bounds, these take 150,000 calls or copies."""
    session = Session(Context(version=_VERSION))
    for sender, message in messages():
        text = json.dumps(message).encode()
        check_request = session.check_request(ProtocolMessage(text), sender, ReportLimits())
        checked = check(check_request, LIMITS, PROTOCOL_SCHEMAS)
        tracemalloc.start()
        calls = count_calls(partial(record, session, check_request, checked))
        _, peak_bytes = tracemalloc.get_traced_memory()
        tracemalloc.stop()

        assert calls < 10_000
        assert peak_bytes < 2.5 * len(text) + 10_000
