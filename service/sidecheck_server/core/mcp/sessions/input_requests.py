"""What the check of a client's answer needs of the server's request for it."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import msgspec

from sidecheck_server.core.mcp.rules import elicitation_results, sampling_results
from sidecheck_server.core.mcp.rules.rule import Rule
from sidecheck_server.core.mcp.sessions.memory import encode_compact

__all__ = ["RULES_BY_METHOD", "needed_params", "needed_request"]

_MAX_BYTES = 128 << 10
"""Longest text that is stored. The largest schema of a real tool has 71 KB."""

RULES_BY_METHOD: Mapping[str, tuple[Rule, ...]] = MappingProxyType(
    {
        "elicitation/create": elicitation_results.REQUEST_RULES,
        "sampling/createMessage": sampling_results.REQUEST_RULES,
    }
)
"""Rules that compare an answer with its request, by the method of the request."""


def needed_params(method: str, params: Any) -> bytes:
    """Return those *params* that the rules for answers read, as JSON; b"" if there are none.

    As text they take a twentieth of the memory of decoded values.
    """
    if not isinstance(params, dict):
        return b""
    if method == "elicitation/create":
        needed = {name: params[name] for name in ("mode", "requestedSchema") if name in params}
    elif method == "sampling/createMessage":
        needed = _needed_of_sampling(params)
    else:
        return b""
    text = encode_compact(needed)
    return text if len(text) <= _MAX_BYTES else b""


def needed_request(method: str, params: Any) -> bytes:
    """Return the request *method* with those params, as JSON, or b""."""
    needed = needed_params(method, params)
    return encode_compact({"method": method, "params": msgspec.Raw(needed)}) if needed else b""


def _needed_of_sampling(params: dict[str, Any]) -> dict[str, Any]:
    """Return the tools, the tool choice, and whether a message uses a tool.

    Messages may have images, of which the rules read nothing.
    """
    needed: dict[str, Any] = {}
    if "toolChoice" in params:
        needed["toolChoice"] = params["toolChoice"]
    if isinstance(params.get("tools"), list):
        needed["tools"] = [
            {name: tool[name] for name in ("name", "inputSchema") if name in tool}
            for tool in params["tools"]
            if isinstance(tool, dict)
        ]
    if isinstance(params.get("messages"), list):
        uses_tools = any(map(_uses_tool, params["messages"]))
        needed["messages"] = [{"content": {"type": "tool_use"}}] if uses_tools else []
    return needed


def _uses_tool(message: Any) -> bool:
    content = message.get("content") if isinstance(message, dict) else None
    blocks = content if isinstance(content, list) else [content]
    return any(isinstance(block, dict) and block.get("type") == "tool_use" for block in blocks)
