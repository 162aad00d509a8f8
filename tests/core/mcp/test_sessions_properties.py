"""Property tests of sessions: any messages in any order, without exceptions, deterministic."""

import copy
import json
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sidecheck_server.core.errors import RequestError
from sidecheck_server.core.mcp.check import check
from sidecheck_server.core.mcp.context import VERSIONS, Context, Sender
from sidecheck_server.core.mcp.sessions.session import Session
from sidecheck_server.core.mcp.subjects import ProtocolMessage, ReportLimits
from support.rule_cases import LIMITS, PROTOCOL_SCHEMAS
from support.session_checks import record

Step = tuple[Sender, Any, int]

_META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "desk", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {
        "elicitation": {"form": {}, "url": {}},
        "extensions": {"io.modelcontextprotocol/tasks": {}},
    },
    "io.modelcontextprotocol/logLevel": "error",
    "io.modelcontextprotocol/related-task": {"taskId": "t"},
    "io.modelcontextprotocol/subscriptionId": 1,
    "progressToken": "p",
}
_FORM = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
_INPUTS = {
    "e": {"method": "elicitation/create", "params": {"message": "m", "requestedSchema": _FORM}},
    "s": {"method": "sampling/createMessage", "params": {"messages": [], "maxTokens": 1}},
    "r": {"method": "roots/list"},
}
_TASK = {"taskId": "t", "status": "completed", "lastUpdatedAt": "2026-01-01T00:00:00Z"}
_TOOL = {"name": "x", "inputSchema": {"type": "object"}, "execution": {"taskSupport": "required"}}
_PARAMS = {
    "arguments": {"a": 1},
    "capabilities": {"elicitation": {}, "tasks": {"requests": {"tools": {"call": {}}}}},
    "content": [{"type": "tool_use", "id": "i", "name": "x", "input": {}}],
    "cursor": "c",
    "elicitationId": "i",
    "inputResponses": {"e": {"action": "accept"}, "s": {"model": "m"}, "r": {"roots": []}},
    "level": "debug",
    "messages": [{"role": "user", "content": {"type": "tool_use"}}],
    "mode": "form",
    "name": "x",
    "notifications": {"resourceSubscriptions": ["a:b"], "taskIds": ["t"], "toolsListChanged": True},
    "progress": 1,
    "progressToken": "p",
    "protocolVersion": "2025-11-25",
    "requestId": 1,
    "requestState": "s",
    "requestedSchema": _FORM,
    "task": {},
    "tools": [_TOOL],
    "toolChoice": {"mode": "required"},
    "uri": "a:b/c",
    **_TASK,
}
_RESULT = {
    "_meta": _META,
    "action": "accept",
    "cacheScope": "public",
    "capabilities": {"tools": {}, "tasks": {"requests": {"tools": {"call": {}}}}},
    "content": [{"type": "tool_use", "id": "i", "name": "y", "input": {}}],
    "inputRequests": _INPUTS,
    "model": "m",
    "nextCursor": "c",
    "prompts": [{"name": "x", "arguments": [{"name": "a", "required": True}]}],
    "protocolVersion": "2025-11-25",
    "requestState": "s",
    "resultType": "input_required",
    "structuredContent": 1,
    "supportedVersions": ["2026-07-28"],
    "task": _TASK,
    "tasks": [_TASK],
    "tools": [_TOOL],
    **_TASK,
}
_ERROR = {
    "code": -32601,
    "message": "m",
    "data": {
        "elicitations": [{"elicitationId": "i"}],
        "requested": "2026-07-28",
        "supported": ["2026-07-28"],
    },
}
_REQUESTS = (
    *("completion/complete", "elicitation/create", "initialize", "logging/setLevel", "ping"),
    *("prompts/get", "prompts/list", "resources/read", "resources/subscribe"),
    *("resources/unsubscribe", "sampling/createMessage", "server/discover"),
    *("subscriptions/listen", "tasks/cancel", "tasks/get", "tasks/list", "tasks/result"),
    *("tasks/update", "tools/call", "tools/list", "vendor/method"),
)
_NOTIFICATIONS = (
    *("cancelled", "elicitation/complete", "initialized", "message", "progress"),
    *("prompts/list_changed", "resources/updated", "subscriptions/acknowledged", "tasks"),
    *("tasks/status", "tools/list_changed"),
)
_ODD: tuple[Any, ...] = (
    *(None, True, False, 0, 1, -1, 1.0, 1.5, 1e300, 5e-324, 2**63, -(2**64), 10**600),
    *("", "x", "\ufffe", "\U0010ffff" * 65, "n" * 200, "2026-07-28", "completed", "working"),
    *([], [[]], [None, 1, {}], {}, {"": {}}, {"taskId": ["t"]}, {"a": {"method": 1}}),
)


def _subset(properties: dict[str, Any]) -> st.SearchStrategy[dict[str, Any]]:
    names = st.lists(st.sampled_from(sorted(properties)), max_size=6)
    return names.map(lambda chosen: {name: properties[name] for name in chosen})


_ids = st.sampled_from([1, 1, 2, "1"])
_params = st.builds(
    lambda meta, params: {"_meta": meta, **params},
    st.just(_META) | _subset(_META),
    st.just(_PARAMS) | _subset(_PARAMS),
)
_requests = st.builds(
    lambda id_, method, params: {"id": id_, "method": method, "params": params},
    _ids,
    st.sampled_from(_REQUESTS),
    _params,
)
_notifications = st.builds(
    lambda method, params: {"method": f"notifications/{method}", "params": params},
    st.sampled_from(_NOTIFICATIONS),
    _params,
)
_results = st.builds(
    lambda id_, result, type_: {"id": id_, "result": {**result, "resultType": type_}},
    _ids,
    st.just(_RESULT) | _subset(_RESULT),
    st.sampled_from(["complete", "input_required", "task"]),
)
_errors = st.builds(lambda id_, error: {"id": id_, "error": error}, _ids, _subset(_ERROR))


def _paths(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    if isinstance(value, dict):
        items: Any = value.items()
    else:
        items = enumerate(value) if isinstance(value, list) else ()
    inner = [path_ for key, item in items for path_ in _paths(item, (*path, key))]
    return [path, *inner] if path else inner


@st.composite
def _replaced(draw: st.DrawFn, messages: st.SearchStrategy[dict[str, Any]]) -> Any:
    """Draw one of *messages*, of which up to two values are replaced."""
    message = {"jsonrpc": "2.0", **copy.deepcopy(draw(messages))}
    for _ in range(draw(st.integers(0, 2))):
        path = draw(st.sampled_from(_paths(message)))
        parent: Any = message
        for key in path[:-1]:
            parent = parent[key]
        parent[path[-1]] = copy.deepcopy(draw(st.sampled_from(_ODD)))
    return message


_senders = st.sampled_from(list(Sender))
_statuses = st.sampled_from([0, 0, 0, 200, 401])
_messages = _replaced(_requests | _notifications | _results | _errors)


@st.composite
def _exchanges(draw: st.DrawFn) -> list[Step]:
    """Draw a request and its response."""
    sender = draw(_senders)
    request, response = draw(_replaced(_requests)), draw(_replaced(_results | _results | _errors))
    response["id"] = request["id"]
    return [(sender, request, draw(_statuses)), (sender.peer, response, 0)]


_single_steps = st.tuples(_senders, _messages | st.lists(_messages, max_size=3), _statuses).map(
    lambda step: [step]
)
_sessions = st.lists(_exchanges() | _single_steps, max_size=6).map(
    lambda parts: [step for part in parts for step in part]
)


def _run(steps: Sequence[Step], context: Context, *, pinned: bool, whole: bool) -> list[Any]:
    """Return everything that a session of *steps* finds."""
    session = Session(context, pinned=pinned, from_beginning=whole)
    reported: list[Any] = []
    for number, (sender, value, status) in enumerate(steps):
        message = ProtocolMessage(json.dumps(value).encode())
        request = session.check_request(message, sender, ReportLimits())
        assert request == session.check_request(message, sender, ReportLimits())
        try:
            outcome = check(request, LIMITS, PROTOCOL_SCHEMAS)
        except RequestError as error:
            session.record_gap()
            reported.append(error.message)
            continue
        record(session, request, outcome, number=number, http_status=status)
        reported.append(outcome.findings.verdict())
    return [*reported, *session.repetitions()]


@pytest.mark.slow
@given(
    _sessions,
    st.sampled_from(VERSIONS),
    st.booleans(),
    st.booleans(),
)
def test_any_messages_get_the_same_verdicts_again(
    steps: list[Step], version: str, pinned: bool, whole: bool
) -> None:
    context = Context(version=version)
    first = _run(steps, context, pinned=pinned, whole=whole)
    assert first == _run(steps, context, pinned=pinned, whole=whole)
