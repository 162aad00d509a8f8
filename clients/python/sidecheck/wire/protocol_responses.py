"""From the responses of the service of the protocol to values."""

from typing import Final, TypeAlias

from sidecheck.findings import (
    CheckedNames,
    CheckedTools,
    CheckOutcome,
    CheckResult,
    Disposition,
    NameCollision,
    Rule,
    ToolNameOutcome,
    ToolOutcome,
)
from sidecheck.texts import JsonText
from sidecheck.v1 import protocol_service_pb2 as protocol_pb
from sidecheck.wire.responses import carried, judged, severity, status_refusal

__all__ = ["answer", "batch_outcomes", "names", "rules_page", "session_answer", "tools"]

#: A response that holds one answer.
Answered: TypeAlias = (
    protocol_pb.CheckElicitationResponse
    | protocol_pb.CheckElicitationResultResponse
    | protocol_pb.CheckSamplingResponse
    | protocol_pb.CheckToolResultResponse
    | protocol_pb.CheckMessageResponse
)

TREATMENTS: Final = {
    protocol_pb.ToolOutcome.DISPOSITION_KEEP: Disposition.KEEP,
    protocol_pb.ToolOutcome.DISPOSITION_WARN: Disposition.WARN,
    protocol_pb.ToolOutcome.DISPOSITION_DROP: Disposition.DROP,
}


def rules_page(response: protocol_pb.ListRulesResponse) -> tuple[list[Rule], str]:
    """Return the rules of a page and the token of the next, "" after the last."""
    rules = [
        carried(
            one,
            Rule,
            severity=severity(one.severity),
            protocol_versions=tuple(one.protocol_versions),
            subjects=tuple(one.subjects),
        )
        for one in response.rules
    ]
    return rules, response.next_page_token


def names(response: protocol_pb.CheckToolNamesResponse) -> CheckedNames:
    """Translate the answer to names."""
    return CheckedNames(
        outcomes=tuple(
            carried(
                one,
                ToolNameOutcome,
                verdict=judged(one.verdict),
                sdk_warnings=tuple(one.sdk_warnings),
            )
            for one in response.outcomes
        ),
        collisions=tuple(
            NameCollision(one.sanitized, tuple(one.indexes)) for one in response.collisions
        ),
    )


def tools(response: protocol_pb.CheckToolsResponse) -> CheckedTools:
    """Translate the answer to tool definitions."""
    return CheckedTools(
        outcomes=tuple(
            carried(
                one,
                ToolOutcome,
                treatment=TREATMENTS.get(one.disposition, Disposition.UNSPECIFIED),
                verdict=judged(one.verdict),
            )
            for one in response.outcomes
        ),
        listing=judged(response.tools_list_verdict),
    )


def checked(message: protocol_pb.CheckResult) -> CheckResult:
    """Translate what was found in one thing."""
    return CheckResult(verdict=judged(message.verdict), reply=JsonText(message.error_response))


def answer(response: Answered) -> CheckResult:
    """Translate the answer to one thing."""
    return checked(response.result)


def outcome(message: protocol_pb.CheckOutcome) -> CheckOutcome:
    """Translate the answer to one thing of many."""
    if message.HasField("answer"):
        return checked(message.result)
    return status_refusal(message.error)


def batch_outcomes(response: protocol_pb.CheckBatchResponse) -> list[CheckOutcome]:
    """Translate the answers to many things."""
    return [outcome(one) for one in response.outcomes]


def session_answer(response: protocol_pb.CheckSessionResponse) -> tuple[str, CheckOutcome]:
    """Return the id of a message of a session, "" where it could not be read, and its answer."""
    return response.id, outcome(response.outcome)
