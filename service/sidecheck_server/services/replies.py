"""Replies to invalid calls and results: which one is due, by subject and protocol version."""

from sidecheck_server.core.errors import RequestError
from sidecheck_server.core.mcp.call_errors import (
    ErrorResponse,
    invalid_arguments_response,
    invalid_result_response,
    malformed_call_response,
    non_object_arguments_response,
    unknown_tool_error,
)
from sidecheck_server.core.mcp.call_params import is_object_text, requested_version
from sidecheck_server.core.mcp.context import VERSIONS
from sidecheck_server.core.payload import UNREADABLE_CODES
from sidecheck_server.core.types import Verdict
from sidecheck_server.services.calls import CallVerdict
from sidecheck_server.services.targets import RegisteredTool, Side, Target
from sidecheck_server.services.validation import ValidationOptions

__all__ = [
    "NO_REPLY",
    "reply_for_call",
    "reply_for_model_call",
    "reply_for_payload",
    "reply_for_result",
    "with_json_rpc_error",
]

NO_REPLY = ErrorResponse()
"""The reply to what is valid."""


def reply_for_payload(
    verdict: Verdict, payload: bytes, tool: str, side: Side, options: ValidationOptions
) -> ErrorResponse:
    """Return the reply to arguments or structured content of *tool* that got *verdict*."""
    if verdict.valid:
        return NO_REPLY
    name, tells = tool or None, options.lists_violations
    if side is Side.OUTPUT:
        return invalid_result_response(verdict, options.version, tool=name, explain=tells)
    if name is not None and not is_object_text(payload) and _is_json(verdict):
        return non_object_arguments_response(verdict, tool=name, explain=tells)
    return invalid_arguments_response(verdict, options.version, tool=name, explain=tells)


def reply_for_call(call: CallVerdict, params: bytes, options: ValidationOptions) -> ErrorResponse:
    """Return the reply to the *params* of a call."""
    name, tells = call.tool or None, options.lists_violations
    if call.verdict.valid:
        return NO_REPLY
    if call.malformed or call.part is None:
        versions = _versions(params, options)
        return malformed_call_response(
            call.verdict, call.part, tool=name, explain=tells, versions=versions
        )
    return invalid_arguments_response(call.part, options.version, tool=name, explain=tells)


def reply_for_result(result: CallVerdict, options: ValidationOptions) -> ErrorResponse:
    """Return the reply to a result, or to the absence of structured content in one."""
    if result.verdict.valid:
        return NO_REPLY
    return invalid_result_response(
        result.verdict,
        options.version,
        tool=result.tool or None,
        explain=options.lists_violations,
    )


def reply_for_model_call(call: CallVerdict, options: ValidationOptions) -> ErrorResponse:
    """Return the reply to a model's call, by the verdict on its arguments if there is one."""
    if call.verdict.valid:
        return NO_REPLY
    verdict = call.verdict if call.part is None else call.part
    return invalid_arguments_response(
        verdict, options.version, tool=call.tool or None, explain=options.lists_violations
    )


def with_json_rpc_error(
    error: RequestError, target: Target, options: ValidationOptions
) -> RequestError:
    """Return *error*, of a call to an unknown tool, with the JSON-RPC error to reply with."""
    metadata, message = dict(error.metadata), error.message
    named_by_payload = isinstance(target, RegisteredTool) and not target.name
    if options.evaluation.hide_values and named_by_payload:
        del metadata["tool"]
        metadata.pop("nearest", None)
        message = "the call names a tool that is not registered for the server"
    metadata["json_rpc_error"] = unknown_tool_error(metadata.get("tool", ""))
    return RequestError(error.reason, message, metadata)


def _versions(params: bytes, options: ValidationOptions) -> tuple[str, str] | None:
    """Return the version that applies and the one that *params* request, unless it is hidden."""
    requested = requested_version(params)
    hidden = options.evaluation.hide_values and requested not in VERSIONS
    return None if requested is None or hidden else (options.version, requested)


def _is_json(verdict: Verdict) -> bool:
    return not any(violation.code in UNREADABLE_CODES for violation in verdict.violations)
