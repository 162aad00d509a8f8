"""What the Python client says and makes of the answers, without any server."""

from typing import Any

import grpc
import pytest
from google.rpc.status_pb2 import Status
from sidecheck import (
    Arguments,
    Item,
    Options,
    Payload,
    RegisteredTool,
    Severity,
    SidecheckError,
    Unavailable,
    Verdict,
    Violation,
)
from sidecheck.absence import OnUnavailable
from sidecheck.conversations import Call, Conversation, Conversations, split
from sidecheck.v1 import info_service_pb2 as info_pb
from sidecheck.v1 import validation_service_pb2 as validation_pb
from sidecheck.v1 import verdict_pb2 as verdict_pb
from sidecheck.wire import requests, rpcs
from sidecheck.wire.responses import Judgement
from support.conversations import hold

TOOL = RegisteredTool("s", "n")
GONE = Unavailable("UNAVAILABLE", "nobody", {}, grpc.StatusCode.UNAVAILABLE)
EXHAUSTED = SidecheckError("LIMIT_EXCEEDED", "closer", {}, grpc.StatusCode.RESOURCE_EXHAUSTED)
ALLOWED = Verdict(
    valid=True,
    violations=(
        Violation(
            code="SIDECHECK_UNAVAILABLE",
            severity=Severity.WARNING,
            message="the payload was not judged: UNAVAILABLE: nobody",
        ),
    ),
)
DENIED = Verdict(
    valid=False,
    violations=(
        Violation(
            code="SIDECHECK_UNAVAILABLE",
            message="the payload was not judged: UNAVAILABLE: nobody",
        ),
    ),
    tool_error_text="This could not be checked and was not accepted. Try again later.",
)


def told(**limits: Any) -> info_pb.GetServerInfoResponse:
    """Return the facts of a server with these limits."""
    return info_pb.GetServerInfoResponse(limits=info_pb.Limits(**limits))


def judged(*verdicts: bool) -> validation_pb.ValidateBatchResponse:
    """Return the answer to a batch: valid or not, by item."""
    return validation_pb.ValidateBatchResponse(
        outcomes=[
            validation_pb.ValidateOutcome(verdict=verdict_pb.Verdict(valid=valid, enforced=True))
            for valid in verdicts
        ]
    )


def items(*payloads: Payload) -> list[Item]:
    """Return an item for each of the texts."""
    return [Item(Arguments(payload)) for payload in payloads]


ASKED_FOR_LIMITS = Call(rpcs.GET_SERVER_INFO, info_pb.GetServerInfoRequest(), 2.0)


@pytest.mark.parametrize(
    ("expected", "sizes"),
    [
        pytest.param([], [], id="nothing"),
        pytest.param([[1, 2, 3]], [1, 2, 3], id="all in one"),
        pytest.param([[5, 5], [1]], [5, 5, 1], id="full to the byte"),
        pytest.param([[1, 1, 1], [1, 1]], [1, 1, 1, 1, 1], id="full by number"),
        pytest.param([[1], [11], [1]], [1, 11, 1], id="too large alone"),
        pytest.param([[11], [12]], [11, 12], id="only too large ones"),
    ],
)
def test_parts_keep_both_bounds(expected: list[list[int]], sizes: list[int]) -> None:
    """Parts are in order, and only what alone is too large breaks the bound."""
    parts = split(sizes, most_bytes=10, most_items=3)
    assert expected == [sizes[part] for part in parts]


@pytest.mark.parametrize(("expected", "given"), [(2.0, None), (0.5, 0.5)])
def test_every_call_has_a_deadline(expected: float, given: float | None) -> None:
    """The client's own holds where the caller gives none."""
    item = Item(Arguments(b"{}"), TOOL)
    response = validation_pb.ValidateResponse(verdict=verdict_pb.Verdict(valid=True, enforced=True))
    value, calls = hold(Conversations(2.0, "raise").validate(item, given), response)
    assert (
        Verdict(valid=True),
        [Call(rpcs.VALIDATE, requests.validate_request(item), expected)],
    ) == (value, calls)


@pytest.mark.parametrize(
    ("expected", "policy"),
    [pytest.param(ALLOWED, "allow", id="allow"), pytest.param(DENIED, "deny", id="deny")],
)
def test_nobody_there_is_answered_by_policy(expected: Verdict, policy: OnUnavailable) -> None:
    """The stand-in says by its code that nobody judged, for one payload and for many."""
    talk = Conversations(2.0, policy)
    assert expected == hold(talk.validate(Item(Arguments(b"{}"), TOOL), None), GONE)[0]
    batch = talk.validate_batch(items(b"1", b"2"), TOOL, None, None)
    assert [expected, expected] == hold(batch, GONE)[0]


def test_what_was_judged_before_the_server_went_stays() -> None:
    """The rest of a batch is answered by policy and asked for no more."""
    talk = Conversations(2.0, "deny")
    conversation = talk.validate_batch(items(b"1", b"2", b"3"), TOOL, None, None)
    value, calls = hold(conversation, told(message_bytes=1000, batch_items=1), judged(True), GONE)
    assert ([Verdict(valid=True), DENIED, DENIED], 3) == (value, len(calls))


@pytest.mark.parametrize("policy", ["raise", "allow", "deny"])
def test_refusals_are_raised_under_every_policy(policy: OnUnavailable) -> None:
    """A server that answers is not unavailable."""
    refusal = SidecheckError("UNKNOWN_TOOL", "no tool", {}, grpc.StatusCode.NOT_FOUND)
    conversation = Conversations(2.0, policy).validate(Item(Arguments(b"{}"), TOOL), None)
    with pytest.raises(SidecheckError) as raised:
        hold(conversation, refusal)
    assert refusal == raised.value


def test_nobody_there_is_raised_by_default() -> None:
    """Raise is a policy too, and holds for the registry under all of them."""
    with pytest.raises(Unavailable):
        hold(Conversations(2.0, "raise").validate_batch(items(b"1"), TOOL, None, None), GONE)
    with pytest.raises(Unavailable):
        hold(Conversations(2.0, "allow").get("s", "n", None), GONE)


def test_batches_are_split_by_the_limits_of_the_server() -> None:
    """The limits are asked for once; order is kept across messages."""
    talk, options = Conversations(2.0, "raise"), Options(hide_values=True)
    payloads = [b"1", b"2", b"3"]

    def part(*texts: bytes) -> Call:
        messages = [requests.batch_item(item) for item in items(*texts)]
        return Call(rpcs.VALIDATE_BATCH, requests.batch_request(messages, TOOL, options), 2.0)

    value, calls = hold(
        talk.validate_batch(items(*payloads), TOOL, options, None),
        told(message_bytes=1000, batch_items=2),
        judged(True, False),
        judged(True),
    )
    assert (
        [Verdict(valid=True), Verdict(valid=False), Verdict(valid=True)],
        [ASKED_FOR_LIMITS, part(b"1", b"2"), part(b"3")],
    ) == (value, calls)
    again = hold(talk.validate_batch(items(b"4"), TOOL, options, None), judged(True))
    assert ([Verdict(valid=True)], [part(b"4")]) == again


def test_no_message_is_larger_than_the_server_receives() -> None:
    """Sizes count the target and the options that the items share."""
    payloads = [b'"%s"' % (b"x" * size) for size in range(200)]
    conversation = Conversations(2.0, "raise").validate_batch(items(*payloads), TOOL, None, None)
    next(conversation)
    sizes, judgements = drain(conversation, told(message_bytes=512, batch_items=1000))
    assert (200, True, True) == (len(judgements), max(sizes) <= 512, max(sizes) > 500)


def drain(
    conversation: Conversation[list[Judgement]], answer: object
) -> tuple[list[int], list[Judgement]]:
    """Answer every message with valid verdicts; return the sizes of the messages too."""
    sizes: list[int] = []
    try:
        while True:
            request = conversation.send(answer).request
            assert isinstance(request, validation_pb.ValidateBatchRequest)
            sizes.append(request.ByteSize())
            answer = judged(*[True] * len(request.items))
    except StopIteration as end:
        return sizes, end.value


def test_an_item_that_no_message_holds_is_refused_by_itself() -> None:
    """It costs the others nothing and is not sent."""
    size = requests.listed_bytes(requests.batch_item(items(b"x" * 900)[0]))
    value, calls = hold(
        Conversations(2.0, "raise").validate_batch(items(b"1", b"x" * 900, b"2"), TOOL, None, None),
        told(message_bytes=500, batch_items=10),
        judged(True),
        judged(False),
    )
    refusal = SidecheckError(
        "LIMIT_EXCEEDED",
        f"the item: {size}, more than the limit of 500 (message_bytes)",
        {"bound": "message_bytes", "limit": "500", "found": str(size)},
        grpc.StatusCode.RESOURCE_EXHAUSTED,
    )
    assert [Verdict(valid=True), refusal, Verdict(valid=False)] == value
    assert 3 == len(calls)


def test_limits_are_asked_for_again_when_they_no_longer_hold() -> None:
    """A server may be replaced by one with closer limits."""
    talk = Conversations(2.0, "raise")
    with pytest.raises(SidecheckError):
        hold(
            talk.validate_batch(items(b"1"), TOOL, None, None),
            told(message_bytes=1000, batch_items=2),
            EXHAUSTED,
        )
    conversation = talk.validate_batch(items(b"1"), TOOL, None, None)
    assert ASKED_FOR_LIMITS == next(conversation)


def test_an_empty_batch_asks_nobody() -> None:
    """There is nothing to judge."""
    assert ([], []) == hold(Conversations(2.0, "raise").validate_batch([], TOOL, None, None))


def test_a_payload_that_cannot_be_encoded_sends_nothing() -> None:
    """The batch fails as a whole, before any part of it is judged."""
    batch = Conversations(2.0, "allow").validate_batch(items(b"1", [{1, 2}]), TOOL, None, None)
    with pytest.raises(TypeError, match="a set has no form in JSON"):
        hold(batch)


def test_refusals_inside_a_batch_are_returned() -> None:
    """Also one that says UNAVAILABLE: the server was there."""
    refusal = Status(code=grpc.StatusCode.UNAVAILABLE.value[0], message="worker died")
    value, _ = hold(
        Conversations(2.0, "allow").validate_batch(items(b"1"), TOOL, None, None),
        told(message_bytes=1000, batch_items=2),
        validation_pb.ValidateBatchResponse(
            outcomes=[validation_pb.ValidateOutcome(error=refusal)]
        ),
    )
    assert [Unavailable("UNAVAILABLE", "worker died", {}, grpc.StatusCode.UNAVAILABLE)] == value
