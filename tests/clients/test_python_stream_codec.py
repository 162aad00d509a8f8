"""Stream codec of the Python client, without a server."""

import pickle
from typing import Any

import grpc
import pytest
from google.protobuf.message import Message
from sidecheck import (
    Arguments,
    InvalidResponse,
    Item,
    Limits,
    Options,
    ProtocolContext,
    RegisteredTool,
    SidecheckError,
    StreamClosed,
    StreamUnavailable,
    Target,
    Unavailable,
    Verdict,
)
from sidecheck.streams import SESSION, StreamCodec, validation_kind
from sidecheck.v1 import target_pb2 as target_pb
from sidecheck.v1 import validation_service_pb2 as validation_pb
from sidecheck.v1 import verdict_pb2 as verdict_pb
from sidecheck.wire import protocol, validation

TOOL = RegisteredTool("s", "n")
BOUNDS: dict[str, Any] = {**dict.fromkeys(Limits.__slots__, 1), "message_bytes": 100}
LIMITS = Limits(**BOUNDS)


def codec_of(
    target: Target | None = None, options: Options | None = None
) -> StreamCodec[Item, Verdict]:
    """Return the codec of a stream with these defaults."""
    return StreamCodec(
        validation_kind(""), validation.encode_stream_defaults(target, options), LIMITS
    )


def request(id_: str, subject: target_pb.Subject | None) -> validation_pb.ValidateStreamRequest:
    """Return the message for an item, or its placeholder if there is no subject."""
    item = None if subject is None else validation_pb.ValidateItem(subject=subject)
    return validation_pb.ValidateStreamRequest(item=validation_pb.StreamItem(id=id_, item=item))


def response(id_: str) -> validation_pb.ValidateStreamResponse:
    """Return a response with a valid verdict for the item *id_*."""
    outcome = validation_pb.ValidateOutcome(verdict=verdict_pb.Verdict(valid=True, enforced=True))
    return validation_pb.ValidateStreamResponse(id=id_, outcome=outcome, registry_revision=3)


def test_a_stream_opens_with_its_defaults() -> None:
    """Target and options are sent once, in the first message."""
    options = Options(hide_values=True)
    request_ = validation.encode_batch([], TOOL, options)
    defaults = validation_pb.StreamDefaults(target=request_.target, options=request_.options)
    assert (
        validation_pb.ValidateStreamRequest(defaults=defaults) == codec_of(TOOL, options).opening()
    )


def test_a_session_opens_with_its_context() -> None:
    """The context is the first message."""
    context = ProtocolContext("2025-11-25")
    opening = protocol.encode_session_defaults(context, None, from_beginning=True)
    assert opening == StreamCodec(SESSION, opening, LIMITS).opening()


@pytest.mark.parametrize(
    ("expected", "message", "payload"),
    [
        pytest.param(
            Verdict(valid=True, registry_revision=3),
            request("a", target_pb.Subject(arguments=b"1")),
            b"1",
            id="sent",
        ),
        pytest.param(
            SidecheckError(
                "LIMIT_EXCEEDED",
                "item too large: 111 bytes exceed the limit of 100 (message_bytes)",
                {"bound": "message_bytes", "limit": "100", "found": "111"},
                grpc.StatusCode.RESOURCE_EXHAUSTED,
            ),
            request("a", None),
            b"x" * 100,
            id="too large",
        ),
        pytest.param(
            SidecheckError(
                "INVALID_REQUEST",
                "cannot encode the item: arguments: /0 is of type complex, which has no JSON form",
                {"field": "subject"},
                grpc.StatusCode.INVALID_ARGUMENT,
            ),
            request("a", None),
            [1j],
            id="not JSON",
        ),
        pytest.param(
            SidecheckError(
                "INVALID_REQUEST",
                "cannot encode the item: arguments: the value is NaN or infinite,"
                " which JSON cannot express",
                {"field": "subject"},
                grpc.StatusCode.INVALID_ARGUMENT,
            ),
            request("a", None),
            float("nan"),
            id="not a JSON number",
        ),
    ],
)
def test_items_that_cannot_be_sent_are_errors(
    expected: object, message: Message, payload: Any
) -> None:
    """The id is sent in a placeholder, so that responses stay in order."""
    codec = codec_of()
    assert message == codec.encode("a", Item(Arguments(payload)))
    next_message = codec.encode("b", Item(Arguments(b"2")))
    assert request("b", target_pb.Subject(arguments=b"2")) == next_message
    assert [("a", expected), ("b", Verdict(valid=True, registry_revision=3))] == [
        codec.decode(response(id_)) for id_ in ("a", "b")
    ]


def test_an_opening_that_is_too_large_is_an_error() -> None:
    """No item could be validated without it."""
    codec = codec_of(RegisteredTool("s", "n" * 200))
    with pytest.raises(SidecheckError, match="LIMIT_EXCEEDED"):
        codec.opening()


@pytest.mark.parametrize(
    "error",
    [
        SidecheckError("R", "m", {"a": "b"}, grpc.StatusCode.ABORTED),
        Unavailable("OVERLOADED", "m", {}, grpc.StatusCode.RESOURCE_EXHAUSTED, 0.5),
        InvalidResponse("m"),
        StreamClosed("R", "m", {}, grpc.StatusCode.ABORTED, ["a"], 0.5),
    ],
    ids=lambda error: type(error).__name__,
)
def test_errors_can_be_pickled(error: SidecheckError) -> None:
    """All fields are preserved."""
    copied = pickle.loads(pickle.dumps(error))
    assert (error, vars(error)) == (copied, vars(copied))


def test_a_closed_stream_lists_the_unanswered_items() -> None:
    """The error can be pickled, and is a `StreamClosed` and an `Unavailable`."""
    status = grpc.StatusCode.UNAVAILABLE
    error = StreamUnavailable("SHUTTING_DOWN", "stopping", {}, status, ["a", "b"])
    assert error == pickle.loads(pickle.dumps(error))
    assert ("SHUTTING_DOWN: stopping (items without an outcome: 2)", ("a", "b")) == (
        str(error),
        error.unanswered,
    )
    assert isinstance(error, StreamClosed)
    assert isinstance(error, Unavailable)
