"""Requests of ConversionService, and what refuses them."""

import json
from typing import Any

import grpc
import pytest
from sidecheck.v1 import conversion_service_pb2 as v1
from sidecheck.v1 import target_pb2
from support.wire import refusal_of

__all__ = [
    "ARGUMENTS",
    "RESULT",
    "TOOL",
    "converted",
    "refused",
    "target",
    "to_convert",
    "to_restore",
    "tool_use",
]

TOOL: Any = {
    "name": "read.file",
    "description": "Reads a file.",
    "inputSchema": {
        "type": "object",
        "properties": {
            "path": {"type": "string", "minLength": 3},
            "lines": {"type": "array", "items": {"type": "integer"}},
        },
        "required": ["path"],
        "additionalProperties": False,
    },
    "outputSchema": {"type": "object", "required": ["text"]},
}
ARGUMENTS: Any = {"path": "/etc/motd", "lines": [1, 2]}
RESULT: Any = {
    "content": [{"type": "text", "text": '{"text": "hi"}'}],
    "structuredContent": {"text": "hi"},
}


def target(tool: Any = TOOL) -> target_pb2.Target:
    """Return what names a tool that is sent along."""
    text = tool if isinstance(tool, bytes) else json.dumps(tool).encode()
    return target_pb2.Target(inline_tool=target_pb2.InlineTool(json=text))


def to_convert(*tools: Any, api: int = v1.MODEL_API_ANTHROPIC, **more: Any) -> Any:
    """Return the request to convert *tools* that are sent along."""
    sent = [v1.ToolToConvert(tool=target(tool)) for tool in tools]
    return v1.ConvertToolsRequest(api=api, tools=sent, **more)  # type: ignore[arg-type]


def converted(stub: Any, tool: Any = TOOL, **more: Any) -> v1.ConvertedTool:
    """Return what *tool* is converted to, alone."""
    [one] = stub.ConvertTools(to_convert(tool, **more)).conversions
    assert one.HasField("converted"), one
    found: v1.ConvertedTool = one.converted
    return found


def to_restore(call: Any, *plans: bytes, **more: Any) -> v1.ConvertToolCallRequest:
    """Return the request to restore *call*, of the tool that is sent along."""
    text = call if isinstance(call, bytes) else json.dumps(call).encode()
    return v1.ConvertToolCallRequest(call=text, mappings=plans, **{"tool": target(), **more})


def tool_use(name: str = "read_file", arguments: Any = ARGUMENTS) -> dict[str, Any]:
    """Return a call as Anthropic's API gives it."""
    return {"type": "tool_use", "id": "toolu_1", "name": name, "input": arguments}


def refused(method: Any, request: Any) -> tuple[str, str]:
    """Return the reason and the field or the bound of the refusal that answers *request*."""
    with pytest.raises(grpc.RpcError) as caught:
        method(request)
    info = refusal_of(caught.value)
    return info.reason, info.metadata.get("field") or info.metadata.get("bound") or ""
