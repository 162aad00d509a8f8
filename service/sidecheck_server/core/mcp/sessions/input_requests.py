"""What the check of a client's answer needs of the server's request for it."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import msgspec

from sidecheck_server.core.mcp.rules import elicitation_results, sampling
from sidecheck_server.core.mcp.rules.rule import Fault, Rule
from sidecheck_server.core.mcp.rules.sessions import RETRY_INPUT_OTHER
from sidecheck_server.core.mcp.sessions.memory import Reporter, encode_compact

__all__ = ["Input", "check_response", "needed_request", "read_input"]

_MAX_BYTES = 128 << 10
"""Longest text that is stored. The largest schema of a real tool has 71 KB."""

_RULES_BY_METHOD: Mapping[str, tuple[Rule, ...]] = MappingProxyType(
    {
        "elicitation/create": elicitation_results.REQUEST_RULES,
        "sampling/createMessage": sampling.REQUEST_RULES,
    }
)
"""Rules that compare an answer with its request, by the method of the request."""


_RESPONSES = ("params", "inputResponses")
_DISCRIMINATORS = {
    "elicitation/create": "action",
    "sampling/createMessage": "model",
    "roots/list": "roots",
}
"""By method, a property that its result must have and those of the others never have."""


@dataclass(frozen=True, slots=True)
class Input:
    """An input that a result requests."""

    #: "" if unknown.
    method: str
    #: Params of its request that the check of the response needs, or b"".
    params: bytes


def read_input(request: Any) -> Input:
    """Return the input that *request*, one of ``inputRequests``, is for."""
    method = request.get("method") if isinstance(request, dict) else None
    if isinstance(method, str) and method in _DISCRIMINATORS:
        return Input(method, _needed_params(method, request.get("params")))
    return Input("", b"")


def check_response(name: str, response: dict[str, Any], input_: Input, report: Reporter) -> None:
    """Check that *response* fits the *input_* that was requested under *name*."""
    discriminator = _DISCRIMINATORS.get(input_.method)
    if discriminator is not None and discriminator not in response:
        others = [method for method, other in _DISCRIMINATORS.items() if other in response]
        if others:
            message = f"expected a result of {input_.method}, found one of {others[0]}"
            report(RETRY_INPUT_OTHER, Fault((*_RESPONSES, name), message))
    elif input_.params:
        rules = _RULES_BY_METHOD[input_.method]
        report.check_answer(rules, response, (*_RESPONSES, name), input_.params)


def _needed_params(method: str, params: Any) -> bytes:
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
    needed = _needed_params(method, params)
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
