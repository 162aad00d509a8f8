"""Rules on tasks with initial contexts, missed messages, and more tasks than are stored."""

import json
from typing import Any

import pytest
from sidecheck_server.core.mcp.check import check
from sidecheck_server.core.mcp.context import Context, Sender
from sidecheck_server.core.mcp.sessions.session import Session
from sidecheck_server.core.mcp.subjects import ProtocolMessage, ReportLimits
from support.rule_cases import LIMITS, PROTOCOL_SCHEMAS
from support.session_checks import record

_AS_TASKS: dict[str, Any] = {
    "tools": {},
    "tasks": {"cancel": {}, "requests": {"tools": {"call": {}}}},
}
_TASKS: dict[str, Any] = {"extensions": {"io.modelcontextprotocol/tasks": {}}}
_PLAIN: dict[str, Any] = {"content": []}


def _codes(session: Session, sender: Sender, message: dict[str, Any]) -> list[str]:
    text = ProtocolMessage(json.dumps({"jsonrpc": "2.0", **message}).encode())
    check_request = session.check_request(text, sender, ReportLimits())
    checked = check(check_request, LIMITS, PROTOCOL_SCHEMAS)
    record(session, check_request, checked)
    return [violation.code for violation in checked.findings.verdict().violations]


def _request(session: Session, id_: int, method: str, **params: Any) -> list[str]:
    return _codes(session, Sender.CLIENT, {"id": id_, "method": method, "params": params})


def _result(session: Session, id_: int, **result: Any) -> list[str]:
    return _codes(session, Sender.SERVER, {"id": id_, "result": result})


def _state(id_: str, status: str = "working", duration: str = "ttl") -> dict[str, Any]:
    time = "2026-11-22T10:00:00Z"
    return {
        "taskId": id_,
        "status": status,
        "createdAt": time,
        "lastUpdatedAt": time,
        duration: None,
    }


def _session(server: dict[str, Any] | None, *, from_beginning: bool = True) -> Session:
    """Return a session in the middle, after the tool "report" was listed."""
    context = Context("2025-11-25", server_capabilities=server)
    session = Session(context, from_beginning=from_beginning)
    initialized = {"method": "notifications/initialized"}
    hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "desk"}}
    if server is None:
        _request(session, 0, "initialize", **hello)
    _codes(session, Sender.CLIENT, initialized)
    _request(session, 1, "tools/list")
    tool = {"name": "report", "inputSchema": {}, "execution": {"taskSupport": "required"}}
    _result(session, 1, tools=[tool])
    return session


@pytest.mark.parametrize(
    ("expected", "server"),
    [(["TASK_REQUIRED"], _AS_TASKS), ([], {"tools": {}}), ([], None)],
)
def test_capabilities_of_the_context_apply_to_the_session(
    expected: list[str], server: dict[str, Any] | None
) -> None:
    codes = _request(_session(server), 2, "tools/call", name="report", arguments={})
    assert [code for code in codes if code.startswith("TASK")] == expected


def test_a_missed_message_may_have_changed_the_tools() -> None:
    session = _session(_AS_TASKS, from_beginning=False)
    assert _request(session, 2, "tools/call", name="report", arguments={}) == []
    assert _result(session, 2, **_PLAIN) == []


def test_a_missed_message_cannot_explain_another_task() -> None:
    session = _session(_AS_TASKS, from_beginning=False)
    _request(session, 2, "tasks/get", taskId="t1")
    assert _result(session, 2, **_state("t2")) == ["TASK_ID_MISMATCH"]


@pytest.mark.slow
def test_forgotten_tasks_cause_no_violations() -> None:
    session = _session(_AS_TASKS)
    for number in range(2, 6000):
        _request(session, number, "tools/call", name="report", task={})
        assert _result(session, number, task=_state(f"t{number}")) == []
    _request(session, 6000, "tools/call", name="report", task={})
    assert _result(session, 6000, task=_state("t2")) == []
    _request(session, 6001, "tools/call", name="report", task={})
    assert _result(session, 6001, task=_state("t5999")) == ["TASK_ID_REUSED"]


def test_inputs_beyond_the_stored_ones_are_not_unknown() -> None:
    session = Session(Context("2026-07-28"))
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "desk", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": _TASKS,
    }

    def update(id_: int, task: str) -> list[str]:
        responses = {"other": {"action": "decline"}}
        return _request(
            session, id_, "tasks/update", taskId=task, inputResponses=responses, _meta=meta
        )

    for task, count in (("few", 1000), ("many", 1001)):
        _request(session, 1, "tools/call", name="report", _meta=meta)
        _result(session, 1, resultType="task", **_state(task, duration="ttlMs"))
        _request(session, 2, "tasks/get", taskId=task, _meta=meta)
        inputs = {f"k{number}": {"method": "roots/list"} for number in range(count)}
        state = _state(task, "input_required", "ttlMs")
        _result(session, 2, resultType="complete", inputRequests=inputs, **state)

    assert update(3, "few") == ["TASK_INPUT_UNKNOWN"]
    assert update(4, "many") == []


@pytest.mark.parametrize("state", [5, {}, {"taskId": 5}, {"taskId": "t", "status": ["working"]}])
def test_malformed_states_of_tasks_are_read(state: Any) -> None:
    """The schema rejects them; the rules on tasks do not fail."""
    session = _session(_AS_TASKS)
    _request(session, 2, "tools/call", name="report", task={})
    assert "TASK_ID_REUSED" not in _result(session, 2, task=state)
    _request(session, 3, "tasks/list")
    _result(session, 3, tasks=[state])
    _codes(session, Sender.SERVER, {"method": "notifications/tasks/status", "params": state})
    _request(session, 4, "tasks/result", taskId="t")
    _result(session, 4, _meta={"io.modelcontextprotocol/related-task": state})
    assert _request(session, 5, "tasks/get", taskId="t") == []
