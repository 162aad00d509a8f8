"""Validation requests for whole calls and results of tools."""

import json
from typing import Any

from sidecheck.v1 import target_pb2, verdict_pb2
from sidecheck.v1 import validation_service_pb2 as v1
from sidecheck.v1.options_pb2 import ValidationOptions

__all__ = [
    "ADD",
    "PING",
    "codes",
    "inline_target",
    "params",
    "registered_target",
    "result",
    "validate",
]

ADD: Any = {
    "name": "add",
    "inputSchema": {
        "type": "object",
        "properties": {"a": {"type": "integer"}, "note": {"type": "string"}},
        "required": ["a"],
        "additionalProperties": False,
    },
    "outputSchema": {
        "type": "object",
        "properties": {"sum": {"type": "integer"}},
        "required": ["sum"],
    },
}
PING: Any = {"name": "ping", "inputSchema": {"type": "object"}}


def inline_target(tool: Any) -> target_pb2.Target:
    """Return the target of an inline tool."""
    return target_pb2.Target(inline_tool=target_pb2.InlineTool(json=json.dumps(tool).encode()))


def registered_target(name: str = "", server: str = "s", **pin: str) -> target_pb2.Target:
    return target_pb2.Target(
        registered_tool=target_pb2.RegisteredTool(server=server, name=name, **pin)
    )


def params(name: Any, arguments: Any = None, **fields: Any) -> target_pb2.Subject:
    call = {"name": name, **({} if arguments is None else {"arguments": arguments}), **fields}
    return target_pb2.Subject(call_params=json.dumps(call).encode())


def result(content: Any = None, **fields: Any) -> target_pb2.Subject:
    """Return a result with *content* as structured content and as text."""
    result = {"content": [{"type": "text", "text": json.dumps(content)}], **fields}
    if content is not None:
        result["structuredContent"] = content
    return target_pb2.Subject(call_result=json.dumps(result).encode())


def validate(
    stub: Any, target: target_pb2.Target, subject: target_pb2.Subject, **options: Any
) -> verdict_pb2.Verdict:
    request = v1.ValidateRequest(
        target=target, subject=subject, options=ValidationOptions(**options)
    )
    verdict: verdict_pb2.Verdict = stub.Validate(request, timeout=300).verdict
    return verdict


def codes(verdict: verdict_pb2.Verdict) -> list[tuple[str, str]]:
    return [(violation.instance_location, violation.code) for violation in verdict.violations]
