"""The Python client translates the answers to checks into values."""

from typing import Any

import grpc
import pytest
from google.rpc.status_pb2 import Status
from sidecheck import (
    CheckedNames,
    CheckedTools,
    CheckResult,
    Disposition,
    JsonText,
    NameCollision,
    Rule,
    Severity,
    SidecheckError,
    ToolNameOutcome,
    ToolOutcome,
    Verdict,
    Violation,
)
from sidecheck.v1 import protocol_service_pb2 as protocol_pb
from sidecheck.v1 import verdict_pb2 as verdict_pb
from sidecheck.wire import protocol_responses as responses

FOUND = verdict_pb.Verdict(
    violations=[verdict_pb.Violation(code="C", severity="SEVERITY_ERROR")], enforced=True
)
VERDICT = Verdict(valid=False, violations=(Violation(code="C"),))
ANSWER = protocol_pb.CheckResult(verdict=FOUND, error_response=b'{"jsonrpc": "2.0"}')
EXPECTED = CheckResult(verdict=VERDICT, reply=JsonText(b'{"jsonrpc": "2.0"}'))
REFUSAL = Status(code=grpc.StatusCode.RESOURCE_EXHAUSTED.value[0], message="too large")
REFUSED = SidecheckError("RESOURCE_EXHAUSTED", "too large", {}, grpc.StatusCode.RESOURCE_EXHAUSTED)


@pytest.mark.parametrize(
    "response",
    [
        protocol_pb.CheckElicitationResponse(result=ANSWER),
        protocol_pb.CheckElicitationResultResponse(result=ANSWER),
        protocol_pb.CheckSamplingResponse(result=ANSWER),
        protocol_pb.CheckToolResultResponse(result=ANSWER),
        protocol_pb.CheckMessageResponse(result=ANSWER),
    ],
    ids=lambda response: type(response).__name__,
)
def test_answers_are_translated_whole(response: Any) -> None:
    """The verdict and the reply to send."""
    assert EXPECTED == responses.answer(response)


def test_batches_and_sessions_are_answered_one_by_one() -> None:
    """A refusal stands where the answer would."""
    outcomes = [protocol_pb.CheckOutcome(result=ANSWER), protocol_pb.CheckOutcome(error=REFUSAL)]
    response = protocol_pb.CheckBatchResponse(outcomes=outcomes)
    assert [EXPECTED, REFUSED] == responses.batch_outcomes(response)
    assert [("1", EXPECTED), ("", REFUSED)] == [
        responses.session_answer(protocol_pb.CheckSessionResponse(id=id_, outcome=outcome))
        for id_, outcome in zip(("1", ""), outcomes, strict=True)
    ]


def test_rules_are_translated_whole() -> None:
    """With the token of the page after."""
    rule = protocol_pb.Rule(
        code="C",
        severity="SEVERITY_WARNING",
        protocol_versions=["2025-06-18", "2025-11-25"],
        spec_url="SEP-986",
        requirement="s",
        subjects=["Tool"],
    )
    assert (
        [
            Rule(
                code="C",
                severity=Severity.WARNING,
                protocol_versions=("2025-06-18", "2025-11-25"),
                clause="SEP-986",
                sentence="s",
                subjects=("Tool",),
            )
        ],
        "next",
    ) == responses.rules_page(protocol_pb.ListRulesResponse(rules=[rule], next_page_token="next"))


def test_names_are_translated_whole() -> None:
    """With the words of the SDK, and names that become the same."""
    response = protocol_pb.CheckToolNamesResponse(
        outcomes=[
            protocol_pb.ToolNameOutcome(
                verdict=FOUND, sdk_valid=True, sdk_warnings=["w"], sanitized="a_b"
            )
        ],
        collisions=[protocol_pb.NameCollision(sanitized="a_b", indexes=[0, 2])],
    )
    assert CheckedNames(
        outcomes=(
            ToolNameOutcome(verdict=VERDICT, sdk_valid=True, sdk_warnings=("w",), sanitized="a_b"),
        ),
        collisions=(NameCollision("a_b", (0, 2)),),
    ) == responses.names(response)


@pytest.mark.parametrize(
    ("expected", "treatment"),
    [
        (Disposition.KEEP, 1),
        (Disposition.WARN, 2),
        (Disposition.DROP, 3),
        (Disposition.UNSPECIFIED, 0),
        (Disposition.UNSPECIFIED, 99),
    ],
)
def test_tools_are_translated_whole(expected: Disposition, treatment: Any) -> None:
    """A treatment of a later release has no word yet."""
    response = protocol_pb.CheckToolsResponse(
        outcomes=[
            protocol_pb.ToolOutcome(
                name="n", pointer="/tools/0", disposition=treatment, verdict=FOUND
            )
        ],
        tools_list_verdict=verdict_pb.Verdict(valid=True, enforced=True),
    )
    assert CheckedTools(
        outcomes=(
            ToolOutcome(name="n", pointer="/tools/0", disposition=expected, verdict=VERDICT),
        ),
        listing=Verdict(valid=True),
    ) == responses.tools(response)


def test_treatments_have_the_members_of_the_api() -> None:
    """A treatment added to the API without one here fails."""
    members = {f"TREATMENT_{member.upper()}" for member in Disposition}
    assert set(protocol_pb.ToolOutcome.Disposition.keys()) == members


def test_json_text_is_bytes_that_can_be_decoded() -> None:
    """It goes out as it is, and is false where there is none."""
    text = JsonText(b'{"id": 1}')
    assert (b'{"id": 1}', {"id": 1}) == (text, text.value)
    assert (False, None) == (bool(JsonText()), JsonText().value)
