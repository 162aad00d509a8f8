"""Validation calls to a server under load, as bytes, with their expected responses.

Every kind of call has the same payload, valid against a registered tool.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import grpc
from sidecheck import BlockingClient
from sidecheck.v1 import target_pb2, verdict_pb2
from sidecheck.v1 import validation_service_pb2 as validation

from harness.load import LoadShape, Work
from harness.subjects import Subject, own_tool
from harness.validators import CONTENDERS, SIDECHECK

__all__ = ["SERVER", "Call", "all_calls", "make_call", "prepare_single_call"]

SERVER = "benchmark"
"""Server namespace of the tool."""

_SERVICE = "/sidecheck.v1.ValidationService/"


@dataclass(frozen=True, slots=True)
class Call:
    """Kind of call: its bytes, and the shape of its load."""

    title: str
    transport: str
    work: Work
    #: Number of payloads.
    items: int
    shape: LoadShape
    #: Work of a batch without a server: messages, decoding and validation.
    floor: Callable[[Any], object] | None = None


def prepare_single_call(address: str) -> Work:
    """Register the tool `git_log` with a server, and return a single call that is valid."""
    subject = own_tool("git_log")
    with BlockingClient(address) as client:
        client.register(SERVER, [subject.definition])
    with grpc.insecure_channel(address) as channel:
        call, _ = next(all_calls(channel, subject, quick=True, callers=False))
    return call.work


def all_calls(
    channel: grpc.Channel, subject: Subject, *, quick: bool, callers: bool
) -> Iterator[tuple[Call, bytes]]:
    """Yield every kind of call, with the response of the server behind *channel*."""
    unary = validation.ValidateRequest(target=_target(subject), subject=_arguments(subject.valid))
    few, several = LoadShape(2, 2, callers=callers), LoadShape(4, 8, callers=callers)
    for transport in ("unix", "tcp"):
        work, response = _work(channel, "Validate", unary.SerializeToString())
        yield Call("one", transport, work, 1, several), response
    for count in (16,) if quick else (1, 16, 256, 1024):
        request = validation.ValidateBatchRequest(
            target=_target(subject),
            items=[validation.ValidateItem(subject=_arguments(subject.valid))] * count,
        )
        work, response = _work(channel, "ValidateBatch", request.SerializeToString())
        floor = _floor(subject, work.messages[0], response)
        yield Call(f"batch of {count}", "unix", work, count, few, floor), response
    yield _stream(channel, subject, 16 if quick else 256, few)


def _stream(
    channel: grpc.Channel, subject: Subject, count: int, shape: LoadShape
) -> tuple[Call, bytes]:
    defaults = validation.StreamDefaults(target=_target(subject))
    item = validation.StreamItem(
        id="0", item=validation.ValidateItem(subject=_arguments(subject.valid))
    )
    messages = [validation.ValidateStreamRequest(defaults=defaults)]
    messages += [validation.ValidateStreamRequest(item=item)] * count
    texts = tuple(message.SerializeToString() for message in messages)
    path = f"{_SERVICE}ValidateStream"
    call: Any = channel.stream_stream(path)
    responses = list(call(iter(texts), timeout=30))
    # The defaults have no response; the bare server responds to every message.
    work = Work(path, texts, sum(map(len, responses)), len(responses))
    return Call("stream", "unix", work, count, shape), responses[0]


def _target(subject: Subject) -> target_pb2.Target:
    tool = target_pb2.RegisteredTool(server=SERVER, name=subject.name)
    return target_pb2.Target(registered_tool=tool)


def _arguments(payload: bytes) -> target_pb2.Subject:
    return target_pb2.Subject(arguments=payload)


def _work(channel: grpc.Channel, method: str, request: bytes) -> tuple[Work, bytes]:
    work = Work(f"{_SERVICE}{method}", (request,), 0)
    response = make_call(channel, work)
    return Work(work.path, work.messages, len(response)), response


def make_call(channel: grpc.Channel, work: Work) -> bytes:
    """Make a unary call with gRPC's client and return its response."""
    call: Any = channel.unary_unary(work.path)
    response: bytes = call(work.messages[0], timeout=30)
    return response


def _floor(subject: Subject, request: bytes, response: bytes) -> Callable[[Any], object]:
    is_valid = CONTENDERS[SIDECHECK](subject.schema).validate_text
    expected = validation.ValidateBatchResponse.FromString(response)
    fields = expected.outcomes[0].verdict.ListFields()
    constant: Any = {field.name: value for field, value in fields if field.name != "valid"}

    def floor(text: bytes) -> bytes:
        outcomes = []
        for item in validation.ValidateBatchRequest.FromString(text).items:
            verdict = verdict_pb2.Verdict(valid=is_valid(item.subject.arguments), **constant)
            outcomes.append(validation.ValidateOutcome(verdict=verdict))
        return validation.ValidateBatchResponse(
            outcomes=outcomes, registry_revision=expected.registry_revision
        ).SerializeToString()

    if floor(request) != response:
        raise AssertionError("the floor and the server have different responses")
    return floor
