"""What the Python client says to the service of the protocol, without any server."""

from typing import Any

import grpc
import pytest
from google.rpc.status_pb2 import Status
from sidecheck import (
    CheckItem,
    CheckResult,
    Elicitation,
    ProtocolContext,
    ProtocolMessage,
    Rule,
    Sampling,
    Severity,
    SidecheckError,
    Unavailable,
    Verdict,
    Violation,
)
from sidecheck.absence import OnUnavailable
from sidecheck.conversations import Call, Conversations
from sidecheck.exchanges import Exchange
from sidecheck.protocol_conversations import ProtocolConversations
from sidecheck.v1 import info_service_pb2 as info_pb
from sidecheck.v1 import protocol_service_pb2 as protocol_pb
from sidecheck.v1 import verdict_pb2 as verdict_pb
from sidecheck.wire import protocol_requests as requests
from sidecheck.wire import rpcs
from support.conversations import hold

GONE = Unavailable("UNAVAILABLE", "nobody", {}, grpc.StatusCode.UNAVAILABLE)
SAMPLING = Sampling(b"{}")
YES = protocol_pb.CheckResult(verdict=verdict_pb.Verdict(valid=True, enforced=True))
VALID = CheckResult(verdict=Verdict(valid=True))


def conversations(policy: OnUnavailable = "raise") -> ProtocolConversations:
    """Return the conversations of a client with that policy."""
    return ProtocolConversations(Conversations(2.0, policy))


def absent(policy: OnUnavailable) -> CheckResult:
    """Return what stands in for an answer under that policy."""
    allowed = policy == "allow"
    violation = Violation(
        code="SIDECHECK_UNAVAILABLE",
        severity=Severity.WARNING if allowed else Severity.ERROR,
        message="the payload was not judged: UNAVAILABLE: nobody",
    )
    text = "" if allowed else "This could not be checked and was not accepted. Try again later."
    return CheckResult(
        verdict=Verdict(valid=allowed, violations=(violation,), tool_error_text=text)
    )


def test_rules_come_page_by_page() -> None:
    """The token of one asks for the next, under the same version and deadline."""
    answers = [
        protocol_pb.ListRulesResponse(rules=[protocol_pb.Rule(code="A")], next_page_token="more"),
        protocol_pb.ListRulesResponse(rules=[protocol_pb.Rule(code="B")]),
    ]
    told: list[Rule] = []
    calls: list[Call] = []
    for page, answer in zip(conversations().rules("2025-11-25", 0.5), answers, strict=True):
        rules, made = hold(page, answer)
        told += rules
        calls += made
    assert ["A", "B"] == [rule.code for rule in told]
    assert [
        Call(
            rpcs.LIST_RULES,
            protocol_pb.ListRulesRequest(protocol_version="2025-11-25", page_token=token),
            0.5,
        )
        for token in ("", "more")
    ] == calls


@pytest.mark.parametrize(("expected", "given"), [(2.0, None), (0.5, 0.5)])
def test_every_check_has_a_deadline(expected: float, given: float | None) -> None:
    """The client's own holds where the caller gives none."""
    peers = ProtocolContext("2025-06-18")
    value, calls = hold(
        conversations().check(SAMPLING, peers, None, given),
        protocol_pb.CheckSamplingResponse(result=YES),
    )
    _, request = requests.check_request(SAMPLING, peers, None)
    assert (VALID, [Call(rpcs.CHECK_SAMPLING, request, expected)]) == (value, calls)


@pytest.mark.parametrize("policy", ["allow", "deny"])
def test_nobody_there_is_answered_by_policy(policy: OnUnavailable) -> None:
    """As for a payload: one thing, and the rest of many."""
    talk = conversations(policy)
    assert absent(policy) == hold(talk.check(SAMPLING, None, None, None), GONE)[0]
    batch = talk.batch([SAMPLING, SAMPLING], None, None, None)
    limits = info_pb.Limits(message_bytes=1000, batch_items=1)
    value, _ = hold(
        batch,
        info_pb.GetServerInfoResponse(limits=limits),
        protocol_pb.CheckBatchResponse(outcomes=[protocol_pb.CheckOutcome(result=YES)]),
        GONE,
    )
    assert [VALID, absent(policy)] == value


def test_what_has_no_stand_in_is_raised_under_every_policy() -> None:
    """Nobody can make up what a tool's name or a listing is like."""
    talk = conversations("allow")
    for conversation in (
        talk.names(["n"], None, None, None),
        talk.tools([b"{}"], (), None, None, None),
        next(iter(talk.rules("", None))),
    ):
        held: Any = conversation
        with pytest.raises(Unavailable):
            hold(held, GONE)


def test_batches_are_split_by_the_limits_of_the_server() -> None:
    """Order is kept across messages, and refusals stand in their places."""
    items: list[CheckItem] = [SAMPLING, ProtocolMessage(b"{}", "client"), Elicitation(b"x" * 2000)]
    refusal = Status(code=grpc.StatusCode.UNIMPLEMENTED.value[0], message="not served")
    peers = ProtocolContext("2025-11-25")
    value, calls = hold(
        conversations().batch(items, peers, None, None),
        info_pb.GetServerInfoResponse(limits=info_pb.Limits(message_bytes=1000, batch_items=1)),
        protocol_pb.CheckBatchResponse(outcomes=[protocol_pb.CheckOutcome(result=YES)]),
        protocol_pb.CheckBatchResponse(outcomes=[protocol_pb.CheckOutcome(error=refusal)]),
    )
    too_large = value.pop()
    assert isinstance(too_large, SidecheckError)
    assert "LIMIT_EXCEEDED" == too_large.reason
    assert [
        VALID,
        SidecheckError("UNIMPLEMENTED", "not served", {}, grpc.StatusCode.UNIMPLEMENTED),
    ] == value
    assert [
        (rpcs.CHECK_BATCH, requests.batch_request([requests.batch_item(item)], peers, None))
        for item in items[:2]
    ] == [(call.rpc, call.request) for call in calls[1:]]


def test_names_are_several() -> None:
    """One string is many names of one letter, which nobody means."""
    with pytest.raises(TypeError, match="several strings"):
        hold(conversations().names("get_forecast", None, None, None))


def test_a_session_asks_for_the_limits_first() -> None:
    """They bound its messages."""
    peers = ProtocolContext("2025-11-25")
    value, calls = hold(
        conversations().session(peers, None),
        info_pb.GetServerInfoResponse(limits=info_pb.Limits(message_bytes=1000)),
    )
    assert isinstance(value, Exchange)
    assert requests.session_defaults(peers, None) == value.opening()
    assert [rpcs.GET_SERVER_INFO] == [call.rpc for call in calls]
