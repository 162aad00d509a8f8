"""Calls to a server under load, as bytes, and their expected responses.

One payload, valid against one registered tool, in every kind of call.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import grpc
from load import Work
from sidecheck.v1 import target_pb2, verdict_pb2
from sidecheck.v1 import validation_service_pb2 as validation
from subjects import Subject
from validators import CONTENDERS, SIDECHECK

__all__ = ["SERVER", "Call", "all_calls", "call_once"]

SERVER = "benchmark"
"""Server namespace of the tool."""

_SERVICE = "/sidecheck.v1.ValidationService/"


@dataclass(frozen=True, slots=True)
class Call:
    """One kind of call."""

    title: str
    transport: str
    work: Work
    items: int
    connections: int
    in_flight: int
    floor: Callable[[Any], object] | None = None


def all_calls(
    channel: grpc.Channel, subject: Subject, *, quick: bool
) -> Iterator[tuple[Call, bytes]]:
    """Yield every kind of call, with the response of the server behind *channel*."""
    unary = validation.ValidateRequest(target=_target(subject), subject=_arguments(subject.valid))
    for transport in ("unix", "tcp"):
        work, answer = _work(channel, "Validate", unary.SerializeToString())
        yield Call("one", transport, work, 1, 4, 8), answer
    for count in (16,) if quick else (1, 16, 256, 1024):
        request = validation.ValidateBatchRequest(
            target=_target(subject),
            items=[validation.ValidateItem(subject=_arguments(subject.valid))] * count,
        )
        work, answer = _work(channel, "ValidateBatch", request.SerializeToString())
        floor = _floor(subject, work.messages[0], answer)
        yield Call(f"batch of {count}", "unix", work, count, 2, 2, floor), answer
    yield from _stream(channel, subject, 16 if quick else 256)


def _stream(channel: grpc.Channel, subject: Subject, count: int) -> Iterator[tuple[Call, bytes]]:
    if (
        "ValidateStream"
        not in validation.DESCRIPTOR.services_by_name["ValidationService"].methods_by_name
    ):
        return
    messages_module: Any = validation
    defaults = messages_module.StreamDefaults(target=_target(subject))
    item = messages_module.StreamItem(
        id="0", item=validation.ValidateItem(subject=_arguments(subject.valid))
    )
    messages = [messages_module.ValidateStreamRequest(defaults=defaults)]
    messages += [messages_module.ValidateStreamRequest(item=item)] * count
    texts = tuple(message.SerializeToString() for message in messages)
    path = f"{_SERVICE}ValidateStream"
    call: Any = channel.stream_stream(path)
    try:
        answers = list(call(iter(texts), timeout=30))
    except grpc.RpcError as error:
        if error.code() is grpc.StatusCode.UNIMPLEMENTED:
            return
        raise
    # The defaults have no response; the bare server responds to every message.
    work = Work(path, texts, sum(map(len, answers)), len(answers))
    yield Call("stream", "unix", work, count, 2, 2), answers[0]


def _target(subject: Subject) -> target_pb2.Target:
    named = target_pb2.RegisteredTool(server=SERVER, name=subject.name)
    return target_pb2.Target(registered_tool=named)


def _arguments(payload: bytes) -> target_pb2.Subject:
    return target_pb2.Subject(arguments=payload)


def _work(channel: grpc.Channel, method: str, request: bytes) -> tuple[Work, bytes]:
    work = Work(f"{_SERVICE}{method}", (request,), 0)
    answer = call_once(channel, work)
    return Work(work.path, work.messages, len(answer)), answer


def call_once(channel: grpc.Channel, work: Work) -> bytes:
    """Make the call once with gRPC's client and return its response."""
    call: Any = channel.unary_unary(work.path)
    answer: bytes = call(work.messages[0], timeout=30)
    return answer


def _floor(subject: Subject, request: bytes, answer: bytes) -> Callable[[Any], object]:
    is_valid = CONTENDERS[SIDECHECK](subject.schema).validate_text
    expected = validation.ValidateBatchResponse.FromString(answer)
    fields = expected.outcomes[0].verdict.ListFields()
    known: Any = {field.name: value for field, value in fields if field.name != "valid"}

    def floor(text: bytes) -> bytes:
        outcomes = []
        for item in validation.ValidateBatchRequest.FromString(text).items:
            verdict = verdict_pb2.Verdict(valid=is_valid(item.subject.arguments), **known)
            outcomes.append(validation.ValidateOutcome(verdict=verdict))
        return validation.ValidateBatchResponse(
            outcomes=outcomes, registry_revision=expected.registry_revision
        ).SerializeToString()

    if floor(request) != answer:
        raise AssertionError("the floor and the server have different responses")
    return floor
