"""Error responses to invalid tool calls and results, and JSON-RPC error objects.

The response to a malformed request or a call of an unknown tool is a JSON-RPC error. The model
can correct invalid arguments, so since 2025-11-25 the response to these is a result with
``isError`` (MCP 2025-11-25, server/tools, "Error Handling"; SEP-1303). In earlier versions the
same section lists "Invalid arguments" as a protocol error and "Invalid input data" as a tool
error, so the module builds both responses.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from sidecheck_server.core.evaluate import DETAILS_UNAVAILABLE
from sidecheck_server.core.mcp.call_params import ARGUMENTS
from sidecheck_server.core.payload import encode_json
from sidecheck_server.core.tool_error_text import (
    brief_error_text,
    result_error_text,
    tool_error_text,
)
from sidecheck_server.core.types import Severity, Verdict, Violation

__all__ = [
    "INVALID_PARAMS",
    "INVALID_REQUEST",
    "METHOD_NOT_FOUND",
    "PARSE_ERROR",
    "UNSUPPORTED_VERSION",
    "ErrorResponse",
    "error_message",
    "invalid_arguments_response",
    "invalid_result_response",
    "malformed_call_response",
    "non_object_arguments_response",
    "shorten",
    "unknown_tool_error",
    "violations_data",
]

# JSON-RPC 2.0, section 5.1; the last one from MCP 2026-07-28, basic, "Error Codes".
PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
UNSUPPORTED_VERSION = -32022

_TITLES = {
    PARSE_ERROR: "Parse error",
    INVALID_REQUEST: "Invalid request",
    METHOD_NOT_FOUND: "Method not found",
    INVALID_PARAMS: "Invalid params",
    UNSUPPORTED_VERSION: "Unsupported protocol version",
}
"""Prefix of the message of an error, by code."""

_MAX_CHARACTERS = 300
"""Longest text in an error, in characters."""


def violations_data(
    errors: Sequence[Violation], limit: int, *, truncated: bool = False
) -> dict[str, Any]:
    """Return error data that lists at most *limit* of *errors*.

    ``truncated`` is set if *errors* has more, or if *truncated* is True.
    """
    data: dict[str, Any] = {
        "violations": [_build_violation_data(error) for error in errors[:limit]]
    }
    if truncated or len(errors) > limit:
        data["truncated"] = True
    return data


def shorten(text: str) -> str:
    """Return *text*, truncated to the longest text in an error."""
    return text if len(text) <= _MAX_CHARACTERS else f"{text[: _MAX_CHARACTERS - 1]}…"


def error_message(code: int, error: Violation) -> str:
    """Return the message of a JSON-RPC error: code title, location, and *error*."""
    location = f" at {error.instance_location}" if error.instance_location else ""
    return shorten(f"{_TITLES[code]}{location}: {error.message}")


def _build_violation_data(error: Violation) -> dict[str, str]:
    return {
        "code": error.code,
        "pointer": shorten(error.instance_location),
        "message": shorten(error.message),
    }


_TOOL_ERRORS_ONLY_SINCE = "2025-11-25"
_RESULT_TYPE_SINCE = "2026-07-28"

_INPUT = "Input validation error: "
_OUTPUT = "Output validation error: "

_MAX_VIOLATIONS = 8
"""Largest number of violations in the data of an error."""

_MAX_UNKNOWN_TOOL_BYTES = 300
"""Longest error for an unknown tool, since the metadata of a gRPC status contain it."""


@dataclass(frozen=True, slots=True)
class ErrorResponse:
    """Response to send instead of a result. Fields that do not apply are empty."""

    #: Text for the model that made the call.
    tool_error_text: str = ""
    #: ``CallToolResult`` with ``isError``, as JSON text.
    call_tool_result: bytes = b""
    #: The ``error`` of a JSON-RPC response, as JSON text.
    json_rpc_error: bytes = b""


# Decision 0028: the model can correct arguments; malformed params are the client's fault.
def invalid_arguments_response(
    verdict: Verdict, version: str, *, tool: str | None = None, explain: bool = True
) -> ErrorResponse:
    """Return the response to a call whose arguments have the invalid *verdict*.

    Without *explain*, the response does not list violations.
    """
    text = tool_error_text(verdict, tool=tool) if explain else ""
    explain = explain and _has_details(verdict)
    message = _INPUT + (text if explain else brief_error_text(tool=tool))
    error = b""
    if version < _TOOL_ERRORS_ONLY_SINCE:
        error = _build_protocol_error(verdict, f"/{ARGUMENTS}", explain=explain)
    return ErrorResponse(text, _build_error_result(message, version), error)


def malformed_call_response(
    verdict: Verdict,
    arguments: Verdict | None = None,
    *,
    tool: str | None = None,
    explain: bool = True,
    versions: tuple[str, str] | None = None,
) -> ErrorResponse:
    """Return the response to a call whose params have the invalid *verdict*.

    *arguments* is the verdict on the arguments, or None if they were not validated. *versions*
    are the protocol version of the check and the version that the call requests.
    """
    text = ""
    if arguments is not None and explain:
        text = tool_error_text(arguments, tool=tool)
    error = _build_protocol_error(verdict, "", explain=explain, versions=versions)
    return ErrorResponse(text, json_rpc_error=error)


def non_object_arguments_response(
    verdict: Verdict, *, tool: str | None = None, explain: bool = True
) -> ErrorResponse:
    """Return the response to a call whose arguments are not an object."""
    text = tool_error_text(verdict, tool=tool) if explain else ""
    error = _build_protocol_error(verdict, f"/{ARGUMENTS}", explain=explain)
    return ErrorResponse(text, json_rpc_error=error)


def _build_protocol_error(
    verdict: Verdict, prefix: str, *, explain: bool, versions: tuple[str, str] | None = None
) -> bytes:
    """Return the JSON-RPC error for the *verdict* on the params at *prefix*."""
    errors = [
        replace(violation, instance_location=prefix + violation.instance_location)
        for violation in verdict.violations
        if violation.severity is Severity.ERROR
    ]
    codes = {error.code for error in errors}
    code, data = INVALID_PARAMS, {}
    if "PAYLOAD_NOT_JSON" in codes:
        code = PARSE_ERROR
    elif versions is not None and "META_PROTOCOL_VERSION" in codes:
        code = UNSUPPORTED_VERSION
        supported_version, requested_version = versions
        data = {"supported": [supported_version], "requested": shorten(requested_version)}
    error: dict[str, Any] = {"code": code, "message": _TITLES[code]}
    if explain and _has_details(verdict):
        error["message"] = error_message(code, errors[0])
        data |= violations_data(errors, _MAX_VIOLATIONS, truncated=verdict.truncated)
    if data:
        error["data"] = data
    return encode_json(error)


def invalid_result_response(
    verdict: Verdict, version: str, *, tool: str | None = None, explain: bool = True
) -> ErrorResponse:
    """Return the response that replaces a tool result with the invalid *verdict*.

    If the only error is missing structured content, the text is that of the official SDKs.
    """
    errors = [violation for violation in verdict.violations if violation.severity is Severity.ERROR]
    if [error.code for error in errors] == ["OUTPUT_MISSING"] and not verdict.truncated:
        text = errors[0].message
    elif explain and _has_details(verdict):
        text = result_error_text(verdict, tool=tool)
    else:
        text = brief_error_text(tool=tool, of_result=True)
    return ErrorResponse(call_tool_result=_build_error_result(_OUTPUT + text, version))


def unknown_tool_error(name: str) -> str:
    """Return the JSON-RPC error for a call to an unknown tool, as JSON text.

    It has at most 300 bytes; *name* is truncated to fit, and omitted if it is "".
    """
    name = name.encode("utf-8", "backslashreplace").decode()
    short_name = name[:_MAX_UNKNOWN_TOOL_BYTES]
    while True:
        ellipsis = "" if short_name == name else "…"
        message = f"Unknown tool: {short_name}{ellipsis}" if name else "Unknown tool"
        text = encode_json({"code": INVALID_PARAMS, "message": message})
        if len(text) <= _MAX_UNKNOWN_TOOL_BYTES:
            return text.decode()
        short_name = short_name[: -max(1, len(short_name) // 16)]


def _has_details(verdict: Verdict) -> bool:
    """Return whether the invalid *verdict* explains its violations."""
    return not all(violation.code == DETAILS_UNAVAILABLE for violation in verdict.violations)


def _build_error_result(text: str, version: str) -> bytes:
    result = {"content": [{"type": "text", "text": text}], "isError": True}
    if version >= _RESULT_TYPE_SINCE:
        result = {"resultType": "complete", **result}
    return encode_json(result)
