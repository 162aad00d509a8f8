"""Calls of the Python client to ProtocolService, without a server."""

from collections.abc import Callable

import grpc
import pytest
from google.rpc.status_pb2 import Status
from sidecheck import (
    BlockingClient,
    CheckItem,
    CheckResult,
    Elicitation,
    OnUnavailable,
    ProtocolContext,
    ProtocolMessage,
    Sampling,
    Severity,
    SidecheckError,
    Unavailable,
    Verdict,
    Violation,
)
from sidecheck.v1 import info_service_pb2 as info_pb
from sidecheck.v1 import protocol_service_pb2 as protocol_pb
from sidecheck.v1 import verdict_pb2 as verdict_pb
from sidecheck.wire import protocol
from support.scripted_calls import Call, replay, scripted_client

GONE = Unavailable("UNAVAILABLE", "nobody", {}, grpc.StatusCode.UNAVAILABLE)
SAMPLING = Sampling(b"{}")
YES = protocol_pb.CheckResult(verdict=verdict_pb.Verdict(valid=True, enforced=True))
VALID = CheckResult(verdict=Verdict(valid=True))


def fallback_result(policy: OnUnavailable) -> CheckResult:
    """Return the result of the policy for an unavailable server."""
    allowed = policy == "allow"
    violation = Violation(
        code="SIDECHECK_UNAVAILABLE",
        severity=Severity.WARNING if allowed else Severity.ERROR,
        message="not validated: UNAVAILABLE: nobody",
    )
    text = "" if allowed else "This could not be validated and was rejected. Try again later."
    return CheckResult(
        verdict=Verdict(valid=allowed, violations=(violation,), tool_error_text=text)
    )


def test_rules_are_listed_by_pages() -> None:
    """Requests for further pages have the token, the version and the deadline."""
    codes, calls = replay(
        scripted_client(),
        lambda client: [
            rule.code for rule in client.protocol.list_rules("2025-11-25", timeout=0.5)
        ],
        protocol_pb.ListRulesResponse(rules=[protocol_pb.Rule(code="A")], next_page_token="more"),
        protocol_pb.ListRulesResponse(rules=[protocol_pb.Rule(code="B")]),
    )
    assert ["A", "B"] == codes
    assert [
        Call(
            protocol_pb.ListRulesRequest(protocol_version="2025-11-25", page_token=token),
            0.5,
        )
        for token in ("", "more")
    ] == calls


@pytest.mark.parametrize(("expected", "timeout"), [(2.0, None), (0.5, 0.5)])
def test_each_check_has_a_deadline(expected: float, timeout: float | None) -> None:
    """The default is the timeout of the client."""
    context = ProtocolContext("2025-06-18")
    result, calls = replay(
        scripted_client(),
        lambda client: client.protocol.check_sampling(b"{}", context=context, timeout=timeout),
        protocol_pb.CheckSamplingResponse(result=YES),
    )
    assert (VALID, [Call(protocol.encode_check(SAMPLING, context, None), expected)]) == (
        result,
        calls,
    )


@pytest.mark.parametrize("policy", ["allow", "deny"])
def test_the_policy_applies_while_no_server_responds(policy: OnUnavailable) -> None:
    """The policy applies to single checks and to the rest of a batch."""
    client = scripted_client(policy)
    single, _ = replay(client, lambda client: client.protocol.check_sampling(b"{}"), GONE)
    assert fallback_result(policy) == single
    outcomes, _ = replay(
        client,
        lambda client: client.protocol.check_batch([SAMPLING, SAMPLING]),
        info_pb.GetServerInfoResponse(limits=info_pb.Limits(message_bytes=1000, batch_items=1)),
        protocol_pb.CheckBatchResponse(outcomes=[protocol_pb.CheckOutcome(result=YES)]),
        GONE,
    )
    assert [VALID, fallback_result(policy)] == outcomes


@pytest.mark.parametrize(
    "call",
    [
        pytest.param(lambda client: client.protocol.check_names(["n"]), id="names"),
        pytest.param(lambda client: client.protocol.check_tools(b"{}"), id="tools"),
        pytest.param(lambda client: [*client.protocol.list_rules()], id="rules"),
    ],
)
def test_results_without_a_fallback_are_errors_under_every_policy(
    call: Callable[[BlockingClient], object],
) -> None:
    """Checks of names and tools and the list of rules have no fallback."""
    with pytest.raises(Unavailable):
        replay(scripted_client("allow"), call, GONE)


def test_batches_are_split_by_the_limits_of_the_server() -> None:
    """Outcomes are in order across messages, and errors are outcomes."""
    items: list[CheckItem] = [SAMPLING, ProtocolMessage(b"{}", "client"), Elicitation(b"x" * 2000)]
    status = Status(code=grpc.StatusCode.UNIMPLEMENTED.value[0], message="not served")
    context = ProtocolContext("2025-11-25")
    outcomes, calls = replay(
        scripted_client(),
        lambda client: client.protocol.check_batch(items, context=context),
        info_pb.GetServerInfoResponse(limits=info_pb.Limits(message_bytes=1000, batch_items=1)),
        protocol_pb.CheckBatchResponse(outcomes=[protocol_pb.CheckOutcome(result=YES)]),
        protocol_pb.CheckBatchResponse(outcomes=[protocol_pb.CheckOutcome(error=status)]),
    )
    too_large = outcomes.pop()
    assert isinstance(too_large, SidecheckError)
    assert "LIMIT_EXCEEDED" == too_large.reason
    assert [
        VALID,
        SidecheckError("UNIMPLEMENTED", "not served", {}, grpc.StatusCode.UNIMPLEMENTED),
    ] == outcomes
    assert [
        protocol.encode_batch([protocol.encode_item(item)], context, None) for item in items[:2]
    ] == [call.request for call in calls[1:]]


def test_a_single_name_is_an_error() -> None:
    """A string would be iterated as names of a single letter."""
    with pytest.raises(TypeError, match="not a single string"):
        replay(scripted_client(), lambda client: client.protocol.check_names("get_forecast"))
