"""Verdicts with the replies to give, for the wire."""

from sidecheck.v1 import verdict_pb2

from sidecheck_server.core.errors import RequestError
from sidecheck_server.core.mcp.calls.error_responses import (
    ErrorResponse,
    invalid_arguments_response,
    invalid_result_response,
    malformed_call_response,
    non_object_arguments_response,
    unknown_tool_error,
)
from sidecheck_server.core.mcp.calls.params import is_object_text, requested_version
from sidecheck_server.core.mcp.versions import VERSIONS
from sidecheck_server.core.payload import UNREADABLE_CODES
from sidecheck_server.core.types import Verdict
from sidecheck_server.rpc.mapping import ValidationOptions, verdict_to_wire
from sidecheck_server.services.calls import WholeVerdict
from sidecheck_server.services.targets import RegisteredTool, Side, Target
from sidecheck_server.services.validation import ResolvedSchema

__all__ = [
    "answer_to_arguments",
    "answer_to_call",
    "answer_to_payload",
    "answer_to_result",
    "unknown_to_caller",
]

_NO_REPLY = ErrorResponse()


def answer_to_payload(
    verdict: Verdict, payload: bytes, standard: ResolvedSchema, side: Side, asked: ValidationOptions
) -> verdict_pb2.Verdict:
    """Return the answer to arguments or to structured content that got *verdict*."""
    reply = _NO_REPLY
    if not verdict.valid:
        tool = standard.tool or None
        if side is Side.OUTPUT:
            reply = invalid_result_response(verdict, asked.version, tool=tool, explain=asked.tells)
        elif tool is not None and not is_object_text(payload) and _is_json(verdict):
            reply = non_object_arguments_response(verdict, tool=tool, explain=asked.tells)
        else:
            reply = invalid_arguments_response(
                verdict, asked.version, tool=tool, explain=asked.tells
            )
    return verdict_to_wire(verdict, standard, reply, asked)


def answer_to_call(
    whole: WholeVerdict, params: bytes, asked: ValidationOptions
) -> verdict_pb2.Verdict:
    """Return the answer to the *params* of a call."""
    verdict, part, tool = whole.verdict, whole.part, whole.tool or None
    if verdict.valid:
        reply = _NO_REPLY
    elif whole.malformed or part is None:
        versions = _versions(params, asked)
        reply = malformed_call_response(
            verdict, part, tool=tool, explain=asked.tells, versions=versions
        )
    else:
        reply = invalid_arguments_response(part, asked.version, tool=tool, explain=asked.tells)
    return verdict_to_wire(verdict, whole, reply, asked)


def answer_to_result(whole: WholeVerdict, asked: ValidationOptions) -> verdict_pb2.Verdict:
    """Return the answer to a result, or to the absence of structured content in one."""
    verdict, reply = whole.verdict, _NO_REPLY
    if not verdict.valid:
        tool = whole.tool or None
        reply = invalid_result_response(verdict, asked.version, tool=tool, explain=asked.tells)
    return verdict_to_wire(verdict, whole, reply, asked)


def answer_to_arguments(whole: WholeVerdict, asked: ValidationOptions) -> verdict_pb2.Verdict:
    """Return the answer to the arguments of a model's call, or to a call that cannot be read."""
    verdict, reply = whole.verdict, _NO_REPLY
    if not verdict.valid:
        tool = whole.tool or None
        told = verdict if whole.part is None else whole.part
        reply = invalid_arguments_response(told, asked.version, tool=tool, explain=asked.tells)
    return verdict_to_wire(verdict, whole, reply, asked)


def unknown_to_caller(
    refusal: RequestError, target: Target, asked: ValidationOptions
) -> RequestError:
    """Return *refusal*, of a call to an unknown tool, with the JSON-RPC error to give."""
    metadata, message = dict(refusal.metadata), refusal.message
    if asked.limits.hide_values and isinstance(target, RegisteredTool) and not target.name:
        # The name is the payload's.
        del metadata["tool"]
        message = "the call names a tool that is not registered for the server"
    metadata["json_rpc_error"] = unknown_tool_error(metadata.get("tool", ""))
    return RequestError(refusal.reason, message, metadata)


def _versions(params: bytes, asked: ValidationOptions) -> tuple[str, str] | None:
    """Return the version that judges and the one that *params* ask for, if that may be told."""
    requested = requested_version(params)
    if requested is None or (asked.limits.hide_values and requested not in VERSIONS):
        return None
    return asked.version, requested


def _is_json(verdict: Verdict) -> bool:
    return not any(each.code in UNREADABLE_CODES for each in verdict.violations)
