"""Invariants of the outcome of any call."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import grpc
from fuzz.exchanges import Ending, Exchange, Outcome
from fuzz.rpcs import rpc_named
from fuzz.texts import marks_in
from google.protobuf.message import DecodeError, Message
from google.protobuf.message_factory import GetMessageClass
from google.rpc.error_details_pb2 import BadRequest, ErrorInfo
from google.rpc.status_pb2 import Status
from sidecheck_server.core.errors import ErrorReason

__all__ = ["Finding", "examine_outcome", "statuses_in"]

_NEVER = {
    grpc.StatusCode.INTERNAL,
    grpc.StatusCode.UNKNOWN,
    grpc.StatusCode.DATA_LOSS,
    grpc.StatusCode.DEADLINE_EXCEEDED,
}
_LARGEST = 12 << 20
"""Maximum bytes of a response: three times the largest request."""
_REASONS = {reason.value for reason in ErrorReason}


@dataclass(frozen=True, slots=True)
class Finding:
    """Violated invariant."""

    #: The name of the invariant, for grouping.
    kind: str
    detail: str
    #: The call that violates it, or all calls since the last successful check.
    exchanges: list[Exchange] = field(default_factory=list)


def examine_outcome(exchange: Exchange, outcome: Outcome) -> Iterator[Finding]:
    """Yield the invariants that *outcome* violates by itself."""
    summary = f"{outcome.code.name}: {outcome.details}"
    ended_early = exchange.ending is not Ending.CLOSED or not exchange.messages
    rpc = rpc_named(exchange.path)
    endless = rpc.many_responses and not rpc.many_requests
    if outcome.code in _NEVER:
        yield Finding(f"answered {outcome.code.name}", summary, [exchange])
    elif outcome.code is grpc.StatusCode.CANCELLED and not (ended_early or endless):
        yield Finding("cancelled by the server", summary, [exchange])
    elif rpc.is_ours and not _has_reason(outcome):
        yield Finding("error without a reason", summary, [exchange])
    texts = [outcome.details.encode(), outcome.status]
    for response in outcome.responses:
        if len(response) > _LARGEST:
            yield Finding("response too long", str(len(response)), [exchange])
        try:
            message = GetMessageClass(rpc.response).FromString(response)
        except DecodeError:
            yield Finding("malformed response", response.hex(), [exchange])
            continue
        for status in statuses_in(message):
            texts.append(status.SerializeToString())
            if status.code in {code.value[0] for code in _NEVER} or not _is_reason(status):
                yield Finding("error of an item without a valid reason", str(status), [exchange])
    foreign = set().union(*map(marks_in, texts)) - {exchange.serial}
    if foreign:
        yield Finding("contents of another call", f"of {foreign}: {summary}", [exchange])


def statuses_in(message: Message) -> Iterator[Status]:
    """Yield every status in *message*."""
    for descriptor, value in message.ListFields():
        if descriptor.message_type is None:
            continue
        for below in value if descriptor.is_repeated else [value]:
            if isinstance(below, Status):
                yield below
            else:
                yield from statuses_in(below)


def _has_reason(outcome: Outcome) -> bool:
    code = outcome.code
    if code in {grpc.StatusCode.OK, grpc.StatusCode.CANCELLED}:
        return True
    if code is grpc.StatusCode.RESOURCE_EXHAUSTED and not outcome.status:
        # gRPC itself rejects a message over its maximum length.
        return "message larger than max" in outcome.details
    status: Any = Status.FromString(outcome.status)
    return status.code == code.value[0] and _is_reason(status)


def _is_reason(status: Status) -> bool:
    info = ErrorInfo()
    return (
        len(status.details) > 0
        and [ErrorInfo.DESCRIPTOR.full_name, BadRequest.DESCRIPTOR.full_name][: len(status.details)]
        == [detail.TypeName() for detail in status.details]
        and status.details[0].Unpack(info)
        and info.domain == "sidecheck"
        and info.reason in _REASONS
    )
