"""Declarations of requests and responses of servers, in messages with other violations."""

from typing import Any

import pytest
from sidecheck_server.core.mcp.rules.catalogue import GROUPS
from sidecheck_server.core.mcp.rules.rule import Group
from support.rule_cases import RuleCase, session_verdicts

VERSION, LATER = "2026-07-28", "2027-01-01"
PREFIX = "io.modelcontextprotocol/"
SUBSCRIPTION = f"{PREFIX}subscriptionId"
TOOLS = {"resultType": "complete", "tools": [], "ttlMs": 0, "cacheScope": "private"}
DISCOVERED = {"resultType": "complete", "capabilities": {}, "ttlMs": 0, "cacheScope": "private"}

Entry = tuple[str, dict[str, Any]]

_CODES = {
    rule.code
    for group in (Group.DECLARATIONS, Group.SESSIONS, Group.SUBSCRIPTIONS)
    for rule in GROUPS[group]
}


def codes(*entries: Entry) -> list[str]:
    """Return the codes of these rules in the session of *entries*."""
    messages = [{"from": sender, "message": message} for sender, message in entries]
    fields = {"code": "", "version": VERSION, "check": {"session": messages}}
    verdicts = session_verdicts(RuleCase("", fields))
    violation_codes = [violation.code for verdict in verdicts for violation in verdict.violations]
    return [code for code in violation_codes if code in _CODES]


def request(number: int, method: str, *, version: Any = VERSION, **meta: Any) -> Entry:
    """Return a request, without the fields of `_meta` that are None."""
    fields = {"protocolVersion": version, "clientCapabilities": {}, **meta}
    declared = {f"{PREFIX}{name}": value for name, value in fields.items() if value is not None}
    params: dict[str, Any] = {"_meta": declared}
    if method == "subscriptions/listen":
        params["notifications"] = {}
    return "client", {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


def result(number: int, **properties: Any) -> Entry:
    return "server", {"jsonrpc": "2.0", "id": number, "result": properties}


def error(number: int, code: int, **properties: Any) -> Entry:
    fields = {"code": code, "message": "no", **properties}
    return "server", {"jsonrpc": "2.0", "id": number, "error": fields}


def notification(method: str, **params: Any) -> Entry:
    return "server", {"jsonrpc": "2.0", "method": method, "params": params}


def test_a_malformed_request_may_be_rejected() -> None:
    malformed = request(1, "tools/list", clientCapabilities=None)
    assert codes(malformed, error(1, -32602)) == []


def test_a_request_without_a_version_may_be_one_of_an_earlier_version() -> None:
    """A server of both eras responds to it by the rules of that version."""
    legacy = request(1, "tools/list", version=None, clientCapabilities=None)
    assert codes(legacy, result(1, tools=[])) == []


def test_a_version_may_be_rejected() -> None:
    unsupported = error(2, -32022, data={"supported": [VERSION], "requested": LATER})
    discovered = result(1, **DISCOVERED, supportedVersions=[VERSION])
    assert (
        codes(
            request(1, "server/discover"),
            discovered,
            request(2, "tools/list", version=LATER),
            unsupported,
        )
        == []
    )


@pytest.mark.parametrize("supported", [None, VERSION, [f"{n}" for n in range(101)]])
def test_a_list_of_versions_may_be_missing_or_not_stored(supported: Any) -> None:
    discovered = {} if supported is None else {"supportedVersions": supported}
    assert codes(request(1, "server/discover"), result(1, **DISCOVERED, **discovered)) == []


@pytest.mark.parametrize("data", [{}, {"data": []}, {"data": {"supported": VERSION}}])
def test_an_unsupported_version_may_come_without_a_list(data: dict[str, Any]) -> None:
    assert codes(request(1, "tools/list"), error(1, -32022, **data)) == []


def test_a_server_of_earlier_versions_does_not_know_discovery() -> None:
    probe, rejection = request(1, "server/discover"), error(1, -32601)
    listing = request(2, "tools/list")
    assert codes(probe, rejection, listing, result(2, tools=[])) == []
    assert codes(probe, rejection, listing, result(2, **TOOLS)) == ["DISCOVER_NOT_IMPLEMENTED"]


def test_a_probe_without_a_version_may_be_of_an_earlier_version() -> None:
    probe = request(1, "server/discover", version=None, clientCapabilities=None)
    listing = request(2, "tools/list")
    assert codes(probe, error(1, -32601), listing, result(2, **TOOLS)) == []


def test_notifications_of_extensions_belong_to_subscriptions_too() -> None:
    listen = request(1, "subscriptions/listen")
    acknowledged = notification(
        "notifications/subscriptions/acknowledged", _meta={SUBSCRIPTION: 1}, notifications={}
    )
    swept = notification("notifications/swept", _meta={SUBSCRIPTION: 1})
    assert codes(listen, acknowledged, swept) == []
    assert codes(listen, swept, swept) == ["SUBSCRIPTION_NOT_ACKNOWLEDGED"]
    assert codes(swept) == ["SUBSCRIPTION_UNKNOWN"]
    assert codes(notification("notifications/swept", _meta={})) == []


def test_a_result_without_the_id_of_its_subscription_has_that_fault_alone() -> None:
    listen = request(1, "subscriptions/listen")
    assert codes(listen, result(1, resultType="complete", _meta={})) == []
