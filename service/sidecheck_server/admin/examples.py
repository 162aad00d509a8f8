"""Example requests of the methods, for the description of the HTTP API."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

__all__ = ["EXAMPLES"]

_TOOL: Final = {
    "name": "get_weather",
    "description": "Returns the current weather of a city.",
    "inputSchema": {
        "type": "object",
        "properties": {"city": {"type": "string"}, "days": {"type": "integer", "maximum": 7}},
        "required": ["city"],
        "additionalProperties": False,
    },
    "outputSchema": {
        "type": "object",
        "properties": {"celsius": {"type": "number"}},
        "required": ["celsius"],
    },
}

_NARROWER: Final = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "days": {"type": "integer", "maximum": 3}},
    "required": ["city"],
    "additionalProperties": False,
}

_DIGEST: Final = "sha256:fe81d1047008adb74f07fc75e633e8965ba59152bd76f476be0c5eb82605b13e"
"""Of the definition."""

_RESULT: Final = {
    "content": [{"type": "text", "text": '{"celsius": 21.5}'}],
    "structuredContent": {"celsius": 21.5},
}

EXAMPLES: Final[Mapping[str, dict[str, Any]]] = MappingProxyType(
    {
        "Validate": {
            "tool": _TOOL,
            "arguments": {"ctiy": "Oslo", "days": 10},
            "options": {"max_violations": 5},
        },
        "ValidateBatch": {
            "schema": {"type": "integer", "minimum": 0},
            "items": [{"arguments": 7}, {"arguments": -7}],
        },
        "ListRules": {"protocol_version": "2025-11-25", "page_size": 2},
        "CheckToolNames": {"names": ["get_weather", "get weather"]},
        "CheckTools": {"tools_list": {"tools": [_TOOL]}},
        "CheckElicitation": {
            "params": {
                "message": "Which city?",
                "requestedSchema": {"type": "object", "properties": {"city": {"type": "string"}}},
            }
        },
        "CheckElicitationResult": {
            "result": {"action": "accept", "content": {"city": "Oslo"}},
            "params": {
                "message": "Which city?",
                "requestedSchema": {"type": "object", "properties": {"city": {"type": "string"}}},
            },
        },
        "CheckSampling": {
            "params": {
                "messages": [{"role": "user", "content": {"type": "text", "text": "Hello"}}],
                "maxTokens": 100,
            }
        },
        "CheckToolResult": {"result": _RESULT, "tool": _TOOL},
        "NormalizeToolResult": {"value": {"celsius": 21.5}, "tool": _TOOL},
        "CheckMessage": {
            "message": {
                "jsonrpc": "2.0",
                "id": 1,
                "method": "tools/call",
                "params": {"name": "get_weather", "arguments": {"city": "Oslo"}},
            },
            "sender": "client",
            "context": {"protocol_version": "2025-11-25"},
        },
        "CheckBatch": {
            "items": [
                {"tool_result": {"result": _RESULT}},
                {"message": {"message": {"jsonrpc": "2.0", "method": "ping"}, "sender": "client"}},
            ]
        },
        "CheckSession": {
            "context": {"protocol_version": "2025-11-25"},
            "from_beginning": False,
            "items": [
                {"message": {"jsonrpc": "2.0", "id": 1, "method": "ping"}, "sender": "client"},
                {"message": {"jsonrpc": "2.0", "id": 1, "method": "ping"}, "sender": "client"},
            ],
        },
        "ConvertTools": {
            "api": "openai-responses",
            "options": {"mode": "strict_if_lossless"},
            "tools": [{"tool": _TOOL, "server": "weather"}],
        },
        "ConvertToolCall": {
            "call": {"type": "tool_use", "id": "t1", "name": "get_weather", "input": {}},
            "mappings": [
                {
                    "sidecheck_mapping": 1,
                    "api": "anthropic",
                    "name": "get_weather",
                    "tool": "get_weather",
                    "definition_digest": _DIGEST,
                    "strict": False,
                }
            ],
            "tool": _TOOL,
        },
        "ConvertToolResult": {
            "api": "anthropic",
            "result": _RESULT,
            "tool": _TOOL,
            "call_id": "t1",
            "call_name": "get_weather",
        },
        "InferTools": {"source": "@mcp.tool\ndef add(a: int, b: int) -> int:\n    return a + b\n"},
        "AdaptTool": {"tool": _TOOL, "protocol_version": "2025-06-18"},
        "RegisterTools": {"server": "weather", "tools": [_TOOL], "validate_only": True},
        "GetTool": {"server": "weather", "name": "get_weather"},
        "ListTools": {"server": "weather"},
        "DeleteTools": {"server": "weather", "all": True},
        "CompareTools": {
            "old": {"tools": [_TOOL]},
            "new": {"tools": [{**_TOOL, "inputSchema": _NARROWER}]},
        },
        "GetServerInfo": {},
    }
)
"""By the name of the method. The server must have the tool that one of them asks for."""
