"""Verdicts with the replies to give, for the wire."""

from sidecheck.v1 import verdict_pb2

from sidecheck_server.core.errors import RequestError
from sidecheck_server.core.mcp.calls.members import is_object
from sidecheck_server.core.mcp.calls.params import requested_version
from sidecheck_server.core.mcp.calls.replies import (
    Reply,
    reply_to_arguments,
    reply_to_malformed,
    reply_to_no_object,
    reply_to_result,
    unknown_tool,
)
from sidecheck_server.core.mcp.versions import VERSIONS
from sidecheck_server.core.payload import UNREADABLE
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

_NO_REPLY = Reply()


def answer_to_payload(
    verdict: Verdict, payload: bytes, standard: ResolvedSchema, side: Side, asked: ValidationOptions
) -> verdict_pb2.Verdict:
    """Return the answer to arguments or to structured content that got *verdict*."""
    reply = _NO_REPLY
    if not verdict.valid:
        tool = standard.tool or None
        if side is Side.OUTPUT:
            reply = reply_to_result(verdict, asked.version, tool=tool, tells=asked.tells)
        elif tool is not None and not is_object(payload) and _is_json(verdict):
            reply = reply_to_no_object(verdict, tool=tool, tells=asked.tells)
        else:
            reply = reply_to_arguments(verdict, asked.version, tool=tool, tells=asked.tells)
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
        reply = reply_to_malformed(verdict, part, tool=tool, tells=asked.tells, versions=versions)
    else:
        reply = reply_to_arguments(part, asked.version, tool=tool, tells=asked.tells)
    return verdict_to_wire(verdict, whole, reply, asked)


def answer_to_result(whole: WholeVerdict, asked: ValidationOptions) -> verdict_pb2.Verdict:
    """Return the answer to a result, or to the absence of structured content in one."""
    verdict, reply = whole.verdict, _NO_REPLY
    if not verdict.valid:
        tool = whole.tool or None
        reply = reply_to_result(verdict, asked.version, tool=tool, tells=asked.tells)
    return verdict_to_wire(verdict, whole, reply, asked)


def answer_to_arguments(whole: WholeVerdict, asked: ValidationOptions) -> verdict_pb2.Verdict:
    """Return the answer to the arguments of a model's call, or to a call that cannot be read."""
    verdict, reply = whole.verdict, _NO_REPLY
    if not verdict.valid:
        tool = whole.tool or None
        told = verdict if whole.part is None else whole.part
        reply = reply_to_arguments(told, asked.version, tool=tool, tells=asked.tells)
    return verdict_to_wire(verdict, whole, reply, asked)


def unknown_to_caller(
    refusal: RequestError, target: Target, asked: ValidationOptions
) -> RequestError:
    """Return *refusal*, of a call to an unknown tool, with the JSON-RPC error to give."""
    metadata, message = dict(refusal.metadata), refusal.message
    if asked.how.hide_values and isinstance(target, RegisteredTool) and not target.name:
        # The name is the payload's.
        del metadata["tool"]
        message = "the call names a tool that is not registered for the server"
    metadata["json_rpc_error"] = unknown_tool(metadata.get("tool", ""))
    return RequestError(refusal.reason, message, metadata)


def _versions(params: bytes, asked: ValidationOptions) -> tuple[str, str] | None:
    """Return the version that judges and the one that *params* ask for, if that may be told."""
    requested = requested_version(params)
    if requested is None or (asked.how.hide_values and requested not in VERSIONS):
        return None
    return asked.version, requested


def _is_json(verdict: Verdict) -> bool:
    return not any(each.code in UNREADABLE for each in verdict.violations)
