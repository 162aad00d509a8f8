"""Checking messages in tests: in one call, and the official examples as the messages they are."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from rule_cases import LIMITS, SURFACES
from sidecheck_server.core.mcp.check import Checked, check
from sidecheck_server.core.mcp.context import Context
from sidecheck_server.core.mcp.messages import reply_to
from sidecheck_server.core.mcp.methods import METHODS
from sidecheck_server.core.mcp.subjects import Asked, How, ProtocolMessage

__all__ = ["Example", "checked", "examples", "reply"]

LATEST = "2026-07-28"
META = {
    "io.modelcontextprotocol/protocolVersion": LATEST,
    "io.modelcontextprotocol/clientCapabilities": {},
}


def checked(
    message: Any, version: str, *, answers: str = "", context: Context | None = None
) -> Checked:
    """Return what the core finds in *message*, a value or a text."""
    text = message if isinstance(message, bytes) else json.dumps(message).encode()
    subject = ProtocolMessage(text, answers)
    return check(Asked(subject, context or Context(version), How(most=1000)), LIMITS, SURFACES)


def reply(message: Any, version: str) -> Any:
    """Return the reply to *message*, or None if it is due none."""
    found = checked(message, version)
    text = reply_to(found.messages, found.findings.verdict(), version)
    return json.loads(text) if text else None


class Example(NamedTuple):
    name: str
    message: Any
    answers: str = ""

    def __str__(self) -> str:
        return self.name


def examples(folder: Path) -> Iterator[Example]:
    """Yield the official examples in *folder* that are messages, or a part of one."""
    for path in sorted(folder.glob("*/*.json")):
        type_ = path.parent.name
        name = f"{type_}/{path.stem}"
        value = json.loads(path.read_text())
        for message, answers in _messages(type_, value):
            yield Example(name, message, answers)


def _messages(type_: str, value: Any) -> Iterator[tuple[Any, str]]:
    latest = [method for method in METHODS if method.holds_in(LATEST)]
    if "jsonrpc" in value:
        if "result" not in value:
            yield value, ""
            return
        result = type_.removesuffix("Response")
        yield value, next(one.name for one in latest if one.result == result)
    elif type_ == "InputRequiredResult":
        yield _result(value), "tools/call"
    elif type_ == "InputRequests":
        yield _result({"resultType": "input_required", "inputRequests": value}), "tools/call"
    elif type_ in {"CreateMessageRequest", "ElicitRequest", "ListRootsRequest"}:
        asked = {"resultType": "input_required", "inputRequests": {"it": value}}
        yield _result(asked), "prompts/get"
    elif type_ in {"CreateMessageResult", "ElicitResult", "ListRootsResult"}:
        yield _retry({"it": value}), ""
    elif type_ == "InputResponses":
        yield _retry(value), ""
    elif type_.endswith("Error"):
        yield {"jsonrpc": "2.0", "id": 1, "error": value}, ""
    else:
        for method in latest:
            if type_ == method.params:
                id_ = {"id": 1} if method.is_request else {}
                yield {"jsonrpc": "2.0", **id_, "method": method.name, "params": value}, ""
            elif type_ == method.result:
                yield _result(value), method.name


def _result(result: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "result": result}


def _retry(responses: Any) -> dict[str, Any]:
    params = {"name": "look_up", "inputResponses": responses, "_meta": META}
    return {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params}
