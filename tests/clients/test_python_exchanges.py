"""What the Python client says in a stream and makes of the answers, without any server."""

import pickle
from typing import Any

import grpc
import pytest
from google.protobuf.message import Message
from sidecheck import (
    Arguments,
    Item,
    Limits,
    Options,
    RegisteredTool,
    SidecheckError,
    StreamEnded,
    StreamUnavailable,
    Target,
    Unavailable,
    Verdict,
)
from sidecheck.conversations import Conversations
from sidecheck.exchanges import PAYLOADS, Exchange
from sidecheck.v1 import info_service_pb2 as info_pb
from sidecheck.v1 import target_pb2 as target_pb
from sidecheck.v1 import validation_service_pb2 as validation_pb
from sidecheck.v1 import verdict_pb2 as verdict_pb
from sidecheck.wire import requests, rpcs

TOOL = RegisteredTool("s", "n")
BOUNDS: dict[str, Any] = {**dict.fromkeys(Limits.__slots__, 1), "message_bytes": 100}
LIMITS = Limits(**BOUNDS)


def exchange_of(
    target: Target | None = None, options: Options | None = None
) -> Exchange[Item, Verdict]:
    """Return the two sides of a stream whose items share *target* and *options*."""
    return Exchange(PAYLOADS, requests.stream_defaults(target, options), LIMITS)


def asked(id_: str, subject: target_pb.Subject | None) -> validation_pb.ValidateStreamRequest:
    """Return the message that asks for one item, or with no subject holds its place."""
    item = None if subject is None else validation_pb.ValidateItem(subject=subject)
    return validation_pb.ValidateStreamRequest(item=validation_pb.StreamItem(id=id_, item=item))


def answered(id_: str) -> validation_pb.ValidateStreamResponse:
    """Return the answer that the item called *id_* is valid."""
    outcome = validation_pb.ValidateOutcome(verdict=verdict_pb.Verdict(valid=True, enforced=True))
    return validation_pb.ValidateStreamResponse(id=id_, outcome=outcome, registry_revision=3)


def test_a_stream_opens_with_what_its_items_share() -> None:
    """Target and options are sent once."""
    options = Options(hide_values=True)
    shared = requests.batch_request([], TOOL, options)
    defaults = validation_pb.StreamDefaults(target=shared.target, options=shared.options)
    assert (
        validation_pb.ValidateStreamRequest(defaults=defaults)
        == exchange_of(TOOL, options).opening()
    )


def test_the_limits_are_asked_for_at_each_opening() -> None:
    """A server may have been replaced by one with closer limits since."""
    talk = Conversations(2.0, "raise")
    for _ in range(2):
        conversation = talk.stream(TOOL, None, None)
        assert rpcs.GET_SERVER_INFO is next(conversation).rpc
        with pytest.raises(StopIteration) as end:
            conversation.send(info_pb.GetServerInfoResponse())
        assert isinstance(end.value.value, Exchange)


@pytest.mark.parametrize(
    ("expected", "message", "payload"),
    [
        pytest.param(
            Verdict(valid=True, registry_revision=3),
            asked("a", target_pb.Subject(arguments=b"1")),
            b"1",
            id="sent",
        ),
        pytest.param(
            SidecheckError(
                "LIMIT_EXCEEDED",
                "the item: 111, more than the limit of 100 (message_bytes)",
                {"bound": "message_bytes", "limit": "100", "found": "111"},
                grpc.StatusCode.RESOURCE_EXHAUSTED,
            ),
            asked("a", None),
            b"x" * 100,
            id="too large",
        ),
        pytest.param(
            SidecheckError(
                "INVALID_REQUEST",
                "the item cannot be sent: a set has no form in JSON; give JSON text as bytes",
                {"field": "subject"},
                grpc.StatusCode.INVALID_ARGUMENT,
            ),
            asked("a", None),
            [{1}],
            id="not JSON",
        ),
        pytest.param(
            SidecheckError(
                "INVALID_REQUEST",
                "the item cannot be sent: Out of range float values are not JSON compliant",
                {"field": "subject"},
                grpc.StatusCode.INVALID_ARGUMENT,
            ),
            asked("a", None),
            float("nan"),
            id="not a JSON number",
        ),
    ],
)
def test_what_cannot_be_sent_is_refused_in_its_place(
    expected: object, message: Message, payload: Any
) -> None:
    """Its id is sent all the same, so that the answers stay in order."""
    exchange = exchange_of()
    assert message == exchange.question("a", Item(Arguments(payload)))
    after = exchange.question("b", Item(Arguments(b"2")))
    assert asked("b", target_pb.Subject(arguments=b"2")) == after
    assert [("a", expected), ("b", Verdict(valid=True, registry_revision=3))] == [
        exchange.answer(answered(id_)) for id_ in ("a", "b")
    ]


def test_an_opening_that_no_message_holds_is_refused() -> None:
    """Nothing could be judged under it."""
    exchange = exchange_of(RegisteredTool("s", "n" * 200))
    with pytest.raises(SidecheckError, match="LIMIT_EXCEEDED"):
        exchange.opening()


def test_the_end_of_a_stream_says_what_has_no_answer() -> None:
    """Also after it crossed a process boundary, and to who waits for an `Unavailable`."""
    status = grpc.StatusCode.UNAVAILABLE
    ended = StreamUnavailable("SHUTTING_DOWN", "stopping", {}, status, ["a", "b"])
    assert ended == pickle.loads(pickle.dumps(ended))
    assert ("SHUTTING_DOWN: stopping (2 items have no answer)", ("a", "b")) == (
        str(ended),
        ended.unanswered,
    )
    assert isinstance(ended, StreamEnded)
    assert isinstance(ended, Unavailable)
