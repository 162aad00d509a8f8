"""Replies: what to answer a call or a result that is invalid, in the words of the protocol.

A malformed request and an unknown tool are faults of the protocol, and are answered with
a JSON-RPC error. Invalid arguments are a fault that the model can mend: since 2025-11-25
they are answered with a result that is an error (MCP 2025-11-25, server/tools, "Error
Handling"; SEP-1303). Before, the same section lists both "Invalid arguments" as errors of
the protocol and "Invalid input data" as errors of the tool: so there are both replies.
"""

from dataclasses import dataclass, replace
from typing import Any

import msgspec

from sidecheck_server.core.evaluate import DETAILS_UNAVAILABLE
from sidecheck_server.core.mcp.calls.params import ARGUMENTS
from sidecheck_server.core.mcp.error_objects import (
    INVALID_PARAMS,
    PARSE_ERROR,
    TITLES,
    UNSUPPORTED_VERSION,
    cut,
    data_of,
)
from sidecheck_server.core.tool_error_text import (
    brief_error_text,
    result_error_text,
    tool_error_text,
)
from sidecheck_server.core.types import Severity, Verdict

__all__ = [
    "Reply",
    "reply_to_arguments",
    "reply_to_malformed",
    "reply_to_no_object",
    "reply_to_result",
    "unknown_tool",
]

_ERRORS_OF_TOOLS_SINCE = "2025-11-25"
_RESULT_TYPE_SINCE = "2026-07-28"

_INPUT = "Input validation error: "
_OUTPUT = "Output validation error: "

_MOST_TOLD = 8
"""How many violations an error tells."""

_LONGEST_UNKNOWN = 300
"""The longest error for an unknown tool, in bytes: it travels in the metadata of a status."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What to answer in place of a result; empty where that is not to be."""

    #: A text for the model that made the call.
    tool_error_text: str = ""
    #: A ``CallToolResult`` with ``isError``, as JSON text.
    call_tool_result: bytes = b""
    #: The ``error`` of a JSON-RPC response, as JSON text.
    json_rpc_error: bytes = b""


def reply_to_arguments(
    verdict: Verdict, version: str, *, tool: str | None = None, tells: bool = True
) -> Reply:
    """Return the reply to a call whose arguments got *verdict*, an invalid one.

    It says what is wrong only if it *tells*.
    """
    text = tool_error_text(verdict, tool=tool) if tells else ""
    tells = tells and _is_explained(verdict)
    said = _INPUT + (text if tells else brief_error_text(tool=tool))
    error = b""
    if version < _ERRORS_OF_TOOLS_SINCE:
        error = _protocol_error(verdict, f"/{ARGUMENTS}", tells=tells)
    return Reply(text, _error_result(said, version), error)


def reply_to_malformed(
    verdict: Verdict,
    arguments: Verdict | None = None,
    *,
    tool: str | None = None,
    tells: bool = True,
    versions: tuple[str, str] | None = None,
) -> Reply:
    """Return the reply to a call that breaks the protocol, as the *verdict* on its params says.

    *arguments* is the verdict on the arguments alone, if they were judged. *versions* are
    the protocol version by which it was judged and the one that it asks for.
    """
    text = ""
    if arguments is not None and tells:
        text = tool_error_text(arguments, tool=tool)
    error = _protocol_error(verdict, "", tells=tells, versions=versions)
    return Reply(text, json_rpc_error=error)


def reply_to_no_object(verdict: Verdict, *, tool: str | None = None, tells: bool = True) -> Reply:
    """Return the reply to a call whose arguments got *verdict*, and are not even an object."""
    text = tool_error_text(verdict, tool=tool) if tells else ""
    return Reply(text, json_rpc_error=_protocol_error(verdict, f"/{ARGUMENTS}", tells=tells))


def _protocol_error(
    verdict: Verdict, prefix: str, *, tells: bool, versions: tuple[str, str] | None = None
) -> bytes:
    """Return the error that tells the *verdict* on what stands at *prefix* of the params."""
    errors = [
        replace(each, instance_location=prefix + each.instance_location)
        for each in verdict.violations
        if each.severity is Severity.ERROR
    ]
    codes = {each.code for each in errors}
    code, data = INVALID_PARAMS, {}
    if "PAYLOAD_NOT_JSON" in codes:
        code = PARSE_ERROR
    elif versions is not None and "META_PROTOCOL_VERSION" in codes:
        code = UNSUPPORTED_VERSION
        supported, requested = versions
        data = {"supported": [supported], "requested": cut(requested)}
    error: dict[str, Any] = {"code": code, "message": TITLES[code]}
    if tells and _is_explained(verdict):
        error["message"] = f"{TITLES[code]}: {cut(errors[0].message)}"
        data |= data_of(errors, _MOST_TOLD, truncated=verdict.truncated)
    if data:
        error["data"] = data
    return msgspec.json.encode(error)


def reply_to_result(
    verdict: Verdict, version: str, *, tool: str | None = None, tells: bool = True
) -> Reply:
    """Return the reply in place of a result that got *verdict*, an invalid one.

    The text has one fixed form if all that is wrong is that structured content is missing.
    """
    errors = [each for each in verdict.violations if each.severity is Severity.ERROR]
    if [each.code for each in errors] == ["OUTPUT_MISSING"] and not verdict.truncated:
        said = errors[0].message
    elif tells and _is_explained(verdict):
        said = result_error_text(verdict, tool=tool)
    else:
        said = brief_error_text(tool=tool, of_result=True)
    return Reply(call_tool_result=_error_result(_OUTPUT + said, version))


def unknown_tool(name: str) -> str:
    """Return the error of a call to a tool that is not known, as JSON text of some 300 bytes.

    *name* is cut to fit, and left out if it is "".
    """
    name = name.encode("utf-8", "backslashreplace").decode()
    shown = name[:_LONGEST_UNKNOWN]
    while True:
        cut = "" if shown == name else "…"
        message = f"Unknown tool: {shown}{cut}" if name else "Unknown tool"
        text = msgspec.json.encode({"code": INVALID_PARAMS, "message": message})
        if len(text) <= _LONGEST_UNKNOWN:
            return text.decode()
        shown = shown[: -max(1, len(shown) // 16)]


def _is_explained(verdict: Verdict) -> bool:
    """Return whether *verdict*, an invalid one, says what is wrong."""
    return not all(each.code == DETAILS_UNAVAILABLE for each in verdict.violations)


def _error_result(text: str, version: str) -> bytes:
    result = {"content": [{"type": "text", "text": text}], "isError": True}
    if version >= _RESULT_TYPE_SINCE:
        result = {"resultType": "complete", **result}
    return msgspec.json.encode(result)
