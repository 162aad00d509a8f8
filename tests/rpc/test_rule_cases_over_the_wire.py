"""Cases of the rules, with a real server."""

from collections.abc import Iterator
from typing import Any

import grpc
import pytest
from sidecheck.v1 import protocol_service_pb2 as v1
from sidecheck.v1 import verdict_pb2
from sidecheck.v1.protocol_service_pb2_grpc import ProtocolServiceStub
from sidecheck_server.core.types import Severity, Violation
from support.checking import OPTIONS, answer_to, batch_item, context_of, session_answers
from support.rule_cases import RuleCase, rule_cases, verdict_of
from support.running import RunningServer

SINGLE = list(rule_cases("elicitation", "elicitation_result", "sampling", "tool_result", "message"))
SEVERITIES = {
    verdict_pb2.SEVERITY_ERROR: Severity.ERROR,
    verdict_pb2.SEVERITY_WARNING: Severity.WARNING,
    verdict_pb2.SEVERITY_INFO: Severity.INFO,
}


@pytest.fixture(scope="module")
def stub(shared_server: RunningServer) -> Iterator[Any]:
    with grpc.insecure_channel(shared_server.address) as channel:
        yield ProtocolServiceStub(channel)


def from_proto(verdict: verdict_pb2.Verdict) -> list[Violation]:
    return [
        Violation(
            violation.instance_location,
            violation.keyword_location,
            violation.keyword,
            violation.code,
            violation.message,
            SEVERITIES[violation.severity],
            violation.suggestion,
            violation.spec_url,
        )
        for violation in verdict.violations
    ]


@pytest.mark.parametrize("case", SINGLE, ids=str)
def test_a_server_returns_the_violations_of_the_core(stub: Any, case: RuleCase) -> None:
    """Validity agrees too, and every verdict is enforced."""
    core, verdict = verdict_of(case), answer_to(stub, case).verdict

    assert list(core.violations) == from_proto(verdict)
    assert (core.valid, core.truncated, True) == (
        verdict.valid,
        verdict.truncated,
        verdict.enforced,
    )


def test_batches_agree_with_single_calls(stub: Any) -> None:
    """Cases are batched by context, in order."""
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
        results = [outcome.result for outcome in stub.CheckBatch(request).outcomes]
        assert len(cases) == len(results)
        differing += [
            str(case)
            for case, result in zip(cases, results, strict=True)
            if result != answer_to(stub, case)
        ]

    assert [] == differing


@pytest.mark.parametrize("case", list(rule_cases("session")), ids=str)
def test_a_stream_reports_violations_of_a_session(stub: Any, case: RuleCase) -> None:
    """Locations are prefixed by the index of the message."""
    locations = [
        f"/{index}{violation.instance_location}"
        for index, result in enumerate(session_answers(stub, case))
        for violation in result.verdict.violations
        if violation.code == case.code
    ]

    assert sorted(case.at) == sorted(locations)
