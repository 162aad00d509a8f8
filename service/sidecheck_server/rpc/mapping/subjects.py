"""What is to be checked by the rules of the protocol, from the wire."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any, TypeAlias

from sidecheck.v1 import protocol_service_pb2 as wire

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
from sidecheck_server.rpc.mapping.context import RequestContext
from sidecheck_server.rpc.mapping.values import no_such_value

__all__ = [
    "Sent",
    "asked_from_wire",
    "nothing_to_check",
    "profile_from_wire",
    "sender_from_wire",
]

#: What a request, or an item of one, may ask to be checked.
Sent: TypeAlias = (
    wire.Elicitation
    | wire.ElicitationResult
    | wire.Sampling
    | wire.ToolResult
    | wire.ProtocolMessage
)

_SENDERS: Mapping[int, Sender | None] = MappingProxyType(
    {
        wire.SENDER_UNSPECIFIED: None,
        wire.SENDER_CLIENT: Sender.CLIENT,
        wire.SENDER_SERVER: Sender.SERVER,
    }
)
_PROFILES: Mapping[int, ResultProfile] = MappingProxyType(
    {
        wire.RESULT_PROFILE_UNSPECIFIED: ResultProfile.SPECIFICATION,
        wire.RESULT_PROFILE_SPECIFICATION: ResultProfile.SPECIFICATION,
        wire.RESULT_PROFILE_TEXT: ResultProfile.TEXT,
    }
)


def asked_from_wire(sent: Sent, terms: RequestContext) -> CheckRequest:
    """Return what to check, and how.

    Raises:
        Refusal: INVALID_REQUEST for an enum value that does not exist.
    """
    context = terms.context
    if isinstance(sent, wire.ProtocolMessage):
        context = replace(context, sender=sender_from_wire(sent))
    return CheckRequest(_SUBJECTS[type(sent)](sent), context, terms.how)


def sender_from_wire(message: wire.ProtocolMessage) -> Sender | None:
    """Return who sent *message*, or None if that is not told.

    Raises:
        Refusal: INVALID_REQUEST for an enum value that does not exist.
    """
    if message.sender not in _SENDERS:
        raise no_such_value("sender")
    return _SENDERS[message.sender]


def nothing_to_check(field: str) -> RequestError:
    """Return the refusal of a request that lacks what is to be checked."""
    return RequestError(
        ErrorReason.INVALID_REQUEST, f"the request has no {field} to check", {"field": field}
    )


def profile_from_wire(profile: int) -> ResultProfile:
    """Return what a result must be.

    Raises:
        Refusal: INVALID_REQUEST for an enum value that does not exist.
    """
    if profile not in _PROFILES:
        raise no_such_value("profile")
    return _PROFILES[profile]


def _tool_result(sent: wire.ToolResult) -> ToolResult:
    return ToolResult(sent.json, profile_from_wire(sent.profile))


_SUBJECTS: Mapping[type, Callable[[Any], Subject]] = MappingProxyType(
    {
        wire.Elicitation: lambda sent: Elicitation(sent.params),
        wire.ElicitationResult: lambda sent: ElicitationResult(sent.result, sent.params),
        wire.Sampling: lambda sent: Sampling(sent.params),
        wire.ToolResult: _tool_result,
        wire.ProtocolMessage: lambda sent: ProtocolMessage(sent.json, sent.answers, sent.request),
    }
)
