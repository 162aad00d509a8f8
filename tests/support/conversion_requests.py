"""Requests to ConversionService, and their errors."""

import json
from typing import Any

import grpc
import pytest
from sidecheck.v1 import conversion_service_pb2 as v1
from sidecheck.v1 import target_pb2
from support.wire import error_info_of

__all__ = [
    "ARGUMENTS",
    "RESULT",
    "TOOL",
    "call_request",
    "converted",
    "rejection_of",
    "target",
    "tool_use",
    "tools_request",
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
    """Return the target of an inline tool."""
    text = tool if isinstance(tool, bytes) else json.dumps(tool).encode()
    return target_pb2.Target(inline_tool=target_pb2.InlineTool(json=text))


def tools_request(*tools: Any, api: int = v1.MODEL_API_ANTHROPIC, **fields: Any) -> Any:
    """Return the request to convert inline *tools*."""
    sent_tools = [v1.ToolToConvert(tool=target(tool)) for tool in tools]
    return v1.ConvertToolsRequest(api=api, tools=sent_tools, **fields)  # type: ignore[arg-type]


def converted(stub: Any, tool: Any = TOOL, **fields: Any) -> v1.ConvertedTool:
    """Return the conversion of *tool* alone."""
    [conversion] = stub.ConvertTools(tools_request(tool, **fields)).conversions
    assert conversion.HasField("converted"), conversion
    converted_tool: v1.ConvertedTool = conversion.converted
    return converted_tool


def call_request(call: Any, *mappings: bytes, **fields: Any) -> v1.ConvertToolCallRequest:
    """Return the request to convert *call* of the inline tool."""
    text = call if isinstance(call, bytes) else json.dumps(call).encode()
    return v1.ConvertToolCallRequest(call=text, mappings=mappings, **{"tool": target(), **fields})


def tool_use(name: str = "read_file", arguments: Any = ARGUMENTS) -> dict[str, Any]:
    """Return a call in the format of Anthropic's API."""
    return {"type": "tool_use", "id": "toolu_1", "name": name, "input": arguments}


def rejection_of(method: Any, request: Any) -> tuple[str, str]:
    """Return the reason of the error of *request*, and its field or bound."""
    with pytest.raises(grpc.RpcError) as excinfo:
        method(request)
    info = error_info_of(excinfo.value)
    return info.reason, info.metadata.get("field") or info.metadata.get("bound") or ""
