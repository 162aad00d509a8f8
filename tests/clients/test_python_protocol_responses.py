"""Decoding of protocol check responses by the Python client."""

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
from sidecheck.wire import protocol, tool_checks

VERDICT_MESSAGE = verdict_pb.Verdict(
    violations=[verdict_pb.Violation(code="C", severity="SEVERITY_ERROR")], enforced=True
)
VERDICT = Verdict(valid=False, violations=(Violation(code="C"),))
RESULT = protocol_pb.CheckResult(verdict=VERDICT_MESSAGE, error_response=b'{"jsonrpc": "2.0"}')
EXPECTED = CheckResult(verdict=VERDICT, error_response=JsonText(b'{"jsonrpc": "2.0"}'))
STATUS = Status(code=grpc.StatusCode.RESOURCE_EXHAUSTED.value[0], message="too large")
ERROR = SidecheckError("RESOURCE_EXHAUSTED", "too large", {}, grpc.StatusCode.RESOURCE_EXHAUSTED)


@pytest.mark.parametrize(
    "response",
    [
        protocol_pb.CheckElicitationResponse(result=RESULT),
        protocol_pb.CheckElicitationResultResponse(result=RESULT),
        protocol_pb.CheckSamplingResponse(result=RESULT),
        protocol_pb.CheckToolResultResponse(result=RESULT),
        protocol_pb.CheckMessageResponse(result=RESULT),
    ],
    ids=lambda response: type(response).__name__,
)
def test_results_are_decoded_completely(response: Any) -> None:
    """A result has a verdict and the error response to send."""
    assert EXPECTED == protocol.decode_response(response)


def test_batches_and_sessions_have_one_outcome_per_item() -> None:
    """The outcome of an item that cannot be checked is an error."""
    outcomes = [protocol_pb.CheckOutcome(result=RESULT), protocol_pb.CheckOutcome(error=STATUS)]
    response = protocol_pb.CheckBatchResponse(outcomes=outcomes)
    assert [EXPECTED, ERROR] == protocol.decode_batch(response)
    assert [("1", EXPECTED), ("", ERROR)] == [
        protocol.decode_session_response(protocol_pb.CheckSessionResponse(id=id_, outcome=outcome))
        for id_, outcome in zip(("1", ""), outcomes, strict=True)
    ]


def test_rules_are_decoded_completely() -> None:
    """The result has the token of the next page."""
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
                spec_url="SEP-986",
                requirement="s",
                subjects=("Tool",),
            )
        ],
        "next",
    ) == protocol.decode_rules(protocol_pb.ListRulesResponse(rules=[rule], next_page_token="next"))


def test_names_are_decoded_completely() -> None:
    """The result has the warnings of the SDK and name collisions."""
    response = protocol_pb.CheckToolNamesResponse(
        outcomes=[
            protocol_pb.ToolNameOutcome(
                verdict=VERDICT_MESSAGE, sdk_valid=True, sdk_warnings=["w"], sanitized="a_b"
            )
        ],
        collisions=[protocol_pb.NameCollision(sanitized="a_b", indexes=[0, 2])],
    )
    assert CheckedNames(
        outcomes=(
            ToolNameOutcome(verdict=VERDICT, sdk_valid=True, sdk_warnings=("w",), sanitized="a_b"),
        ),
        collisions=(NameCollision("a_b", (0, 2)),),
    ) == tool_checks.decode_names(response, 1)


@pytest.mark.parametrize(
    ("expected", "disposition"),
    [
        (Disposition.KEEP, 1),
        (Disposition.WARN, 2),
        (Disposition.DROP, 3),
        (Disposition.UNSPECIFIED, 0),
        (Disposition.UNSPECIFIED, 99),
    ],
)
def test_tools_are_decoded_completely(expected: Disposition, disposition: Any) -> None:
    """An unknown disposition is decoded to UNSPECIFIED."""
    response = protocol_pb.CheckToolsResponse(
        outcomes=[
            protocol_pb.ToolOutcome(
                name="n", pointer="/tools/0", disposition=disposition, verdict=VERDICT_MESSAGE
            )
        ],
        tools_list_verdict=verdict_pb.Verdict(valid=True, enforced=True),
    )
    assert CheckedTools(
        outcomes=(
            ToolOutcome(name="n", pointer="/tools/0", disposition=expected, verdict=VERDICT),
        ),
        tools_list_verdict=Verdict(valid=True),
    ) == tool_checks.decode_tools(response, 1)


def test_dispositions_match_the_api() -> None:
    """The test fails if the API has a disposition without a member here."""
    labels = {f"DISPOSITION_{disposition.upper()}" for disposition in Disposition}
    assert set(protocol_pb.ToolOutcome.Disposition.keys()) == labels


def test_json_text_is_bytes_that_can_be_decoded() -> None:
    """`JsonText` is falsy and has the value None if it is empty."""
    text = JsonText(b'{"id": 1}')
    assert (b'{"id": 1}', {"id": 1}) == (text, text.value)
    assert (False, None) == (bool(JsonText()), JsonText().value)
