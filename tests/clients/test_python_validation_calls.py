"""Calls of the Python client that validate payloads, without a server."""

from collections.abc import Callable
from typing import Any, TypeAlias

import grpc
import pytest
from google.rpc.status_pb2 import Status
from sidecheck import (
    Arguments,
    BlockingClient,
    Item,
    OnUnavailable,
    Options,
    Payload,
    RegisteredTool,
    Severity,
    SidecheckError,
    Unavailable,
    ValidateOutcome,
    Verdict,
    Violation,
)
from sidecheck._blocking.connection import split
from sidecheck.v1 import info_service_pb2 as info_pb
from sidecheck.v1 import validation_service_pb2 as validation_pb
from sidecheck.v1 import verdict_pb2 as verdict_pb
from sidecheck.wire import validation, values
from support.scripted_calls import Call, ScriptedChannel, replay, scripted_client

TOOL = RegisteredTool("s", "n")

#: Function that validates a batch with a client.
Batch: TypeAlias = Callable[[BlockingClient], list[ValidateOutcome]]

GONE = Unavailable("UNAVAILABLE", "nobody", {}, grpc.StatusCode.UNAVAILABLE)
EXHAUSTED = SidecheckError("LIMIT_EXCEEDED", "closer", {}, grpc.StatusCode.RESOURCE_EXHAUSTED)
ALLOWED = Verdict(
    valid=True,
    violations=(
        Violation(
            code="SIDECHECK_UNAVAILABLE",
            severity=Severity.WARNING,
            message="not validated: UNAVAILABLE: nobody",
        ),
    ),
)
DENIED = Verdict(
    valid=False,
    violations=(
        Violation(
            code="SIDECHECK_UNAVAILABLE",
            message="not validated: UNAVAILABLE: nobody",
        ),
    ),
    tool_error_text="This could not be validated and was rejected. Try again later.",
)


def server_info(**limits: Any) -> info_pb.GetServerInfoResponse:
    """Return the response of a server with these limits."""
    return info_pb.GetServerInfoResponse(limits=info_pb.Limits(**limits))


def batch_response(*verdicts: bool) -> validation_pb.ValidateBatchResponse:
    """Return a batch response with these verdicts."""
    return validation_pb.ValidateBatchResponse(
        outcomes=[
            validation_pb.ValidateOutcome(verdict=verdict_pb.Verdict(valid=valid, enforced=True))
            for valid in verdicts
        ]
    )


def items(*payloads: Payload) -> list[Item]:
    """Return an item for each payload."""
    return [Item(Arguments(payload)) for payload in payloads]


INFO_CALL = Call(info_pb.GetServerInfoRequest(), 2.0)


@pytest.mark.parametrize(
    ("expected", "sizes"),
    [
        pytest.param([], [], id="nothing"),
        pytest.param([[1, 2, 3]], [1, 2, 3], id="single part"),
        pytest.param([[5, 5], [1]], [5, 5, 1], id="maximum of bytes"),
        pytest.param([[1, 1, 1], [1, 1]], [1, 1, 1, 1, 1], id="maximum of items"),
        pytest.param([[1], [11], [1]], [1, 11, 1], id="single item too large"),
        pytest.param([[11], [12]], [11, 12], id="all items too large"),
    ],
)
def test_parts_respect_both_bounds(expected: list[list[int]], sizes: list[int]) -> None:
    """Parts are in order; only a single item may exceed the maximum of bytes."""
    slices = split(sizes, max_bytes=10, max_items=3)
    assert expected == [sizes[slice_] for slice_ in slices]


def validate_single(client: BlockingClient) -> Verdict:
    """Validate one payload."""
    return client.validate(TOOL, b"{}")


def validate_batch(*payloads: Payload, options: Options | None = None) -> Batch:
    """Return a function that validates a batch of *payloads*."""
    return lambda client: client.validate_batch(items(*payloads), target=TOOL, options=options)


@pytest.mark.parametrize(("expected", "timeout"), [(2.0, None), (0.5, 0.5)])
def test_each_call_has_a_deadline(expected: float, timeout: float | None) -> None:
    """The default is the timeout of the client."""
    response = validation_pb.ValidateResponse(verdict=verdict_pb.Verdict(valid=True, enforced=True))
    verdict, calls = replay(
        scripted_client(), lambda client: client.validate(TOOL, b"{}", timeout=timeout), response
    )
    request = validation.encode_request(Item(Arguments(b"{}"), TOOL))
    assert (Verdict(valid=True), [Call(request, expected)]) == (verdict, calls)


@pytest.mark.parametrize(
    ("expected", "policy"),
    [pytest.param(ALLOWED, "allow", id="allow"), pytest.param(DENIED, "deny", id="deny")],
)
def test_the_policy_applies_while_no_server_responds(
    expected: Verdict, policy: OnUnavailable
) -> None:
    """Single payloads and batches have the fallback verdict."""
    client = scripted_client(policy)
    assert expected == replay(client, validate_single, GONE)[0]
    assert [expected, expected] == replay(client, validate_batch(b"1", b"2"), GONE)[0]


def test_verdicts_before_an_interruption_are_returned() -> None:
    """The policy applies to the rest of the batch, which is not sent."""
    outcomes, calls = replay(
        scripted_client("deny"),
        validate_batch(b"1", b"2", b"3"),
        server_info(message_bytes=1000, batch_items=1),
        batch_response(True),
        GONE,
    )
    assert ([Verdict(valid=True), DENIED, DENIED], 3) == (outcomes, len(calls))


@pytest.mark.parametrize("policy", ["error", "allow", "deny"])
def test_errors_are_raised_under_every_policy(policy: OnUnavailable) -> None:
    """A server that responds is not unavailable."""
    error = SidecheckError("UNKNOWN_TOOL", "no tool", {}, grpc.StatusCode.NOT_FOUND)
    with pytest.raises(SidecheckError) as raised:
        replay(scripted_client(policy), validate_single, error)
    assert error == raised.value


def test_unavailable_is_the_outcome_of_items_by_default() -> None:
    """Items that were answered keep their verdicts; each of the others has its own error."""
    outcomes, calls = replay(
        scripted_client("error"),
        validate_batch(b"1", b"2", b"3"),
        server_info(message_bytes=1000, batch_items=1),
        batch_response(True),
        GONE,
    )
    assert ([Verdict(valid=True), GONE, GONE], 3) == (outcomes, len(calls))
    assert outcomes[1] is not outcomes[2]


def test_unavailable_is_raised_by_default() -> None:
    """Registry calls raise it under every policy."""
    with pytest.raises(Unavailable):
        replay(scripted_client("error"), validate_single, GONE)
    with pytest.raises(Unavailable):
        replay(scripted_client("allow"), lambda client: client.get("s", "n"), GONE)


def test_batches_are_split_by_the_limits_of_the_server() -> None:
    """The limits are fetched once; outcomes are in order across messages."""
    client, options = scripted_client(), Options(hide_values=True)

    def batch_call(*texts: bytes) -> Call:
        messages = [validation.encode_item(item) for item in items(*texts)]
        return Call(validation.encode_batch(messages, TOOL, options), 2.0)

    outcomes, calls = replay(
        client,
        validate_batch(b"1", b"2", b"3", options=options),
        server_info(message_bytes=1000, batch_items=2),
        batch_response(True, False),
        batch_response(True),
    )
    assert (
        [Verdict(valid=True), Verdict(valid=False), Verdict(valid=True)],
        [INFO_CALL, batch_call(b"1", b"2"), batch_call(b"3")],
    ) == (outcomes, calls)
    second_replay = replay(client, validate_batch(b"4", options=options), batch_response(True))
    assert ([Verdict(valid=True)], [batch_call(b"4")]) == second_replay


def test_no_message_is_larger_than_the_server_accepts() -> None:
    """Sizes include the target and the options that items share."""
    payloads = [b'"%s"' % (b"x" * size) for size in range(200)]

    def respond(request: validation_pb.ValidateBatchRequest) -> Any:
        return batch_response(*[True] * len(request.items))

    client = scripted_client()
    channel: Any = ScriptedChannel(
        server_info(message_bytes=512, batch_items=1000), *[respond] * len(payloads)
    )
    client._connection._transport = channel
    outcomes = validate_batch(*payloads)(client)
    sizes = [call.request.ByteSize() for call in channel.calls]
    assert (200, True, True) == (len(outcomes), max(sizes) <= 512, max(sizes) > 500)


def test_an_item_too_large_for_any_message_is_an_error_of_its_own() -> None:
    """It does not affect other items and is not sent."""
    size = values.element_bytes(validation.encode_item(items(b"x" * 900)[0]))
    outcomes, calls = replay(
        scripted_client(),
        validate_batch(b"1", b"x" * 900, b"2"),
        server_info(message_bytes=500, batch_items=10),
        batch_response(True),
        batch_response(False),
    )
    error = SidecheckError(
        "LIMIT_EXCEEDED",
        f"item too large: {size} bytes exceed the limit of 500 (message_bytes)",
        {"bound": "message_bytes", "limit": "500", "found": str(size)},
        grpc.StatusCode.RESOURCE_EXHAUSTED,
    )
    assert [Verdict(valid=True), error, Verdict(valid=False)] == outcomes
    assert 3 == len(calls)


def test_limits_are_fetched_again_once_exceeded() -> None:
    """A server may be replaced by one with lower limits."""
    client, limits = scripted_client(), server_info(message_bytes=1000, batch_items=2)
    with pytest.raises(SidecheckError):
        replay(client, validate_batch(b"1"), limits, EXHAUSTED)
    _, calls = replay(client, validate_batch(b"1"), limits, batch_response(True))
    assert INFO_CALL == calls[0]


def test_an_empty_batch_makes_no_call() -> None:
    """There is nothing to validate."""
    assert ([], []) == replay(scripted_client(), validate_batch())


def test_a_payload_that_cannot_be_encoded_sends_nothing() -> None:
    """The whole batch fails before any message is sent."""
    with pytest.raises(
        ValueError, match="arguments: /0 is of type complex, which has no JSON form"
    ):
        replay(scripted_client("allow"), validate_batch(b"1", [1j]))


def test_errors_inside_a_batch_are_returned() -> None:
    """This applies to UNAVAILABLE too, since the server responded about the item."""
    status = Status(code=grpc.StatusCode.UNAVAILABLE.value[0], message="worker died")
    outcomes, _ = replay(
        scripted_client("allow"),
        validate_batch(b"1"),
        server_info(message_bytes=1000, batch_items=2),
        validation_pb.ValidateBatchResponse(outcomes=[validation_pb.ValidateOutcome(error=status)]),
    )
    assert [
        SidecheckError("UNAVAILABLE", "worker died", {}, grpc.StatusCode.UNAVAILABLE)
    ] == outcomes
