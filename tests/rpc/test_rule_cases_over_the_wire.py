"""The cases of the rules, through a real server."""

from collections.abc import Iterator
from typing import Any

import grpc
import pytest
from sidecheck.v1 import protocol_service_pb2 as v1
from sidecheck.v1 import verdict_pb2
from sidecheck.v1.protocol_service_pb2_grpc import ProtocolServiceStub
from sidecheck_server.core.types import Severity, Verdict
from support.checking import OPTIONS, answer_to, batch_item, context_of, session_answers
from support.rule_cases import RuleCase, rule_cases, verdict_of
from support.running import RunningServer

SINGLE = list(rule_cases("elicitation", "elicitation_result", "sampling", "tool_result", "message"))
SEVERITIES = {
    verdict_pb2.SEVERITY_ERROR: Severity.ERROR,
    verdict_pb2.SEVERITY_WARNING: Severity.WARNING,
    verdict_pb2.SEVERITY_INFO: Severity.INFO,
}
TEXTS = (
    *("instance_location", "keyword_location", "keyword", "code"),
    *("message", "suggestion", "clause"),
)


@pytest.fixture(scope="module")
def stub(shared_server: RunningServer) -> Iterator[Any]:
    with grpc.insecure_channel(shared_server.address) as channel:
        yield ProtocolServiceStub(channel)


def told(verdict: verdict_pb2.Verdict) -> list[Any]:
    return [
        (SEVERITIES[one.severity], *(getattr(one, name) for name in TEXTS))
        for one in verdict.violations
    ]


def found(verdict: Verdict) -> list[Any]:
    return [(one.severity, *(getattr(one, name) for name in TEXTS)) for one in verdict.violations]


@pytest.mark.parametrize("case", SINGLE, ids=str)
def test_a_server_finds_what_the_core_finds(stub: Any, case: RuleCase) -> None:
    """And says whether it is valid; what breaks a rule is not for the caller to overlook."""
    core, verdict = verdict_of(case), answer_to(stub, case).verdict

    assert found(core) == told(verdict)
    assert (core.valid, core.truncated, True) == (
        verdict.valid,
        verdict.truncated,
        verdict.enforced,
    )


def test_a_batch_says_what_single_calls_say(stub: Any) -> None:
    """Of all cases that are checked in one context, in their order."""
    by_context: dict[bytes, list[RuleCase]] = {}
    for case in SINGLE:
        by_context.setdefault(context_of(case).SerializeToString(), []).append(case)
    differing = []
    for context, cases in by_context.items():
        request = v1.CheckBatchRequest(
            context=v1.ProtocolContext.FromString(context),
            options=OPTIONS,
            items=map(batch_item, cases),
        )
        answers = [one.answer for one in stub.CheckBatch(request).outcomes]
        assert len(cases) == len(answers)
        differing += [
            str(case)
            for case, answer in zip(cases, answers, strict=True)
            if answer != answer_to(stub, case)
        ]

    assert [] == differing


@pytest.mark.parametrize("case", list(rule_cases("session")), ids=str)
def test_a_stream_finds_what_a_session_breaks(stub: Any, case: RuleCase) -> None:
    """Each message has its answer, with pointers into it."""
    at = [
        f"/{place}{one.instance_location}"
        for place, answer in enumerate(session_answers(stub, case))
        for one in answer.verdict.violations
        if one.code == case.code
    ]

    assert sorted(case.at) == sorted(at)
