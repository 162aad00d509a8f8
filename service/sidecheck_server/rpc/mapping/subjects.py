"""Subjects of ProtocolService: elicitations, sampling, results, messages."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any, TypeAlias

from sidecheck.v1 import protocol_service_pb2 as proto

from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.mcp.context import Sender
from sidecheck_server.core.mcp.subjects import (
    CheckRequest,
    Elicitation,
    ElicitationResult,
    ProtocolMessage,
    ResultProfile,
    Sampling,
    Subject,
    ToolResult,
)
from sidecheck_server.rpc.mapping.fields import unknown_value
from sidecheck_server.rpc.mapping.targets import target_from_proto
from sidecheck_server.services.checks import RequestContext
from sidecheck_server.services.targets import Target

__all__ = [
    "SubjectMessage",
    "check_request_from_proto",
    "missing_subject",
    "profile_from_proto",
    "result_tool_from_proto",
    "sender_from_proto",
    "session_item_from_proto",
    "subject_of_item",
]

#: A subject of a request, or of an item of a batch.
SubjectMessage: TypeAlias = (
    proto.Elicitation
    | proto.ElicitationResult
    | proto.Sampling
    | proto.ToolResult
    | proto.ProtocolMessage
)

_LOWEST_STATUS, _HIGHEST_STATUS = 100, 599

_SENDERS: Mapping[int, Sender | None] = MappingProxyType(
    {
        proto.SENDER_UNSPECIFIED: None,
        proto.SENDER_CLIENT: Sender.CLIENT,
        proto.SENDER_SERVER: Sender.SERVER,
    }
)
_PROFILES: Mapping[int, ResultProfile] = MappingProxyType(
    {
        proto.RESULT_PROFILE_UNSPECIFIED: ResultProfile.SPECIFICATION,
        proto.RESULT_PROFILE_SPECIFICATION: ResultProfile.SPECIFICATION,
        proto.RESULT_PROFILE_TEXT: ResultProfile.TEXT,
    }
)


def check_request_from_proto(subject: SubjectMessage, context: RequestContext) -> CheckRequest:
    """Return the request to check *subject*.

    Raises:
        RequestError: INVALID_REQUEST for an unknown enum value.
    """
    core_context = context.context
    if isinstance(subject, proto.ProtocolMessage):
        core_context = replace(core_context, sender=sender_from_proto(subject))
    return CheckRequest(_SUBJECTS[type(subject)](subject), core_context, context.limits)


def session_item_from_proto(
    item: proto.SessionItem, context: RequestContext
) -> tuple[CheckRequest, int]:
    """Return the request to check the message of *item*, and its HTTP status or 0.

    Raises:
        RequestError: INVALID_REQUEST without a message, for an unknown enum value, or for an
            invalid HTTP status.
    """
    if not item.HasField("message"):
        raise missing_subject("message")
    if item.http_status and not _LOWEST_STATUS <= item.http_status <= _HIGHEST_STATUS:
        raise RequestError(
            ErrorReason.INVALID_REQUEST,
            f"http_status must be a status of HTTP, {_LOWEST_STATUS} to {_HIGHEST_STATUS}, or 0 "
            f"for none; found {item.http_status}",
            {"field": "http_status"},
        )
    return check_request_from_proto(item.message, context), item.http_status


def result_tool_from_proto(subject: SubjectMessage) -> Target | None:
    """Return the tool of a result, or None for another *subject* or without a tool.

    Raises:
        RequestError: INVALID_REQUEST if the tool is an empty target.
    """
    if isinstance(subject, proto.ToolResult) and subject.HasField("tool"):
        return target_from_proto(subject.tool)
    return None


def sender_from_proto(message: proto.ProtocolMessage) -> Sender | None:
    """Return the sender of *message*, or None if it is not specified.

    Raises:
        RequestError: INVALID_REQUEST for an unknown enum value.
    """
    if message.sender not in _SENDERS:
        raise unknown_value("sender")
    return _SENDERS[message.sender]


def subject_of_item(item: proto.CheckItem) -> SubjectMessage:
    """Return the subject of a batch item.

    Raises:
        RequestError: INVALID_REQUEST if it has none.
    """
    name = item.WhichOneof("item")
    if name is None:
        raise missing_subject("item")
    subject: SubjectMessage = getattr(item, name)
    return subject


def missing_subject(field: str) -> RequestError:
    """Return the error for a request without its subject, the *field*."""
    name = field.replace("_", " ")
    return RequestError(
        ErrorReason.INVALID_REQUEST, f"the request has no {name} to check", {"field": field}
    )


def profile_from_proto(profile: int) -> ResultProfile:
    """Return the profile that a result must conform to.

    Raises:
        RequestError: INVALID_REQUEST for an unknown enum value.
    """
    if profile not in _PROFILES:
        raise unknown_value("profile")
    return _PROFILES[profile]


def _tool_result(result: proto.ToolResult) -> ToolResult:
    return ToolResult(result.json, profile_from_proto(result.profile))


_SUBJECTS: Mapping[type, Callable[[Any], Subject]] = MappingProxyType(
    {
        proto.Elicitation: lambda subject: Elicitation(subject.params),
        proto.ElicitationResult: lambda subject: ElicitationResult(subject.result, subject.params),
        proto.Sampling: lambda subject: Sampling(subject.params),
        proto.ToolResult: _tool_result,
        proto.ProtocolMessage: lambda subject: ProtocolMessage(
            subject.json, subject.request_method, subject.request
        ),
    }
)
