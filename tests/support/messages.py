"""Checks of messages in one call, and the official examples as messages."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from sidecheck_server.core.mcp.check import CheckReport, check
from sidecheck_server.core.mcp.context import Context
from sidecheck_server.core.mcp.messages.error_responses import build_error_response
from sidecheck_server.core.mcp.methods import METHODS
from sidecheck_server.core.mcp.subjects import CheckRequest, ProtocolMessage, ReportLimits
from support.rule_cases import LIMITS, PROTOCOL_SCHEMAS

__all__ = ["Example", "checked", "examples", "reply"]

LATEST = "2026-07-28"
META = {
    "io.modelcontextprotocol/protocolVersion": LATEST,
    "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}, "roots": {}, "sampling": {}},
}


def checked(
    message: Any, version: str, *, answers: str = "", context: Context | None = None
) -> CheckReport:
    """Return the core's report on *message*, a value or a JSON text."""
    text = message if isinstance(message, bytes) else json.dumps(message).encode()
    subject = ProtocolMessage(text, answers)
    return check(
        CheckRequest(subject, context or Context(version), ReportLimits(max_violations=1000)),
        LIMITS,
        PROTOCOL_SCHEMAS,
    )


def reply(message: Any, version: str) -> Any:
    """Return the error response to *message*, or None if it has none."""
    report = checked(message, version)
    text = build_error_response(report.messages, report.findings.verdict(), version)
    return json.loads(text) if text else None


class Example(NamedTuple):
    name: str
    message: Any
    answers: str = ""

    def __str__(self) -> str:
        return self.name


def examples(folder: Path) -> Iterator[Example]:
    """Yield the official examples in *folder* that are messages, or parts of messages."""
    for path in sorted(folder.glob("*/*.json")):
        type_ = path.parent.name
        name = f"{type_}/{path.stem}"
        value = json.loads(path.read_text())
        for message, answers in _messages(type_, value):
            yield Example(name, message, answers)


def _messages(type_: str, value: Any) -> Iterator[tuple[Any, str]]:
    """Yield messages that contain *value*, with the method of their request."""
    if "jsonrpc" in value:
        yield value, _ANSWERED.get(type_.removesuffix("Response"), "")
    elif type_ in _INPUT:
        yield _INPUT[type_](value), "tools/call"
    elif type_.endswith("Error"):
        yield {"jsonrpc": "2.0", "id": 1, "error": value}, ""
    elif type_ in _ANSWERED:
        yield _result(value), _ANSWERED[type_]
    for method in _METHODS:
        if type_ == method.params:
            id_ = {"id": 1} if method.is_request else {}
            yield {"jsonrpc": "2.0", **id_, "method": method.name, "params": value}, ""


def _result(result: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "result": result}


def _retry(responses: Any) -> dict[str, Any]:
    params = {"name": "look_up", "inputResponses": responses, "_meta": META}
    return {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params}


def _asking(requests: Any) -> dict[str, Any]:
    return _result({"resultType": "input_required", "inputRequests": requests})


_METHODS = [method for method in METHODS if method.holds_in(LATEST)]
_ANSWERED = {method.result: method.name for method in _METHODS if method.result}
_INPUT: dict[str, Callable[[Any], dict[str, Any]]] = {
    "InputRequiredResult": _result,
    "InputRequests": _asking,
    "InputResponses": _retry,
    **dict.fromkeys(
        ("CreateMessageRequest", "ElicitRequest", "ListRootsRequest"),
        lambda request: _asking({"it": request}),
    ),
    **dict.fromkeys(
        ("CreateMessageResult", "ElicitResult", "ListRootsResult"),
        lambda response: _retry({"it": response}),
    ),
}
