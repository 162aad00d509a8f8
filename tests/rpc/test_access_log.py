"""Levels and fields of the access log."""

import logging
from typing import Any

import pytest
from google.rpc.status_pb2 import Status
from sidecheck.v1 import (
    conversion_service_pb2,
    inference_service_pb2,
    info_service_pb2,
    protocol_service_pb2,
    registry_service_pb2,
    target_pb2,
    validation_service_pb2,
    verdict_pb2,
)
from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.evaluate import DISAGREEMENT
from sidecheck_server.observability.log_events import EVENTS
from sidecheck_server.rpc.access_log import OutcomeCounter, log_fields
from sidecheck_server.rpc.status import status_from_error

SECRET = "hunter2"
VALID = verdict_pb2.Verdict(valid=True, schema_digest="sha256:1", definition_digest="sha256:2")
Outcome = registry_service_pb2.RegistrationOutcome
Conversion = conversion_service_pb2.ToolConversion
Converted = conversion_service_pb2.ConvertedTool


def invalid(*codes: str) -> verdict_pb2.Verdict:
    """Return a verdict with a secret in every field that may repeat text of the request."""
    return verdict_pb2.Verdict(
        violations=[
            verdict_pb2.Violation(
                code=code,
                instance_location=f"/{SECRET}",
                keyword_location=f"/properties/{SECRET}",
                message=SECRET,
                suggestion=SECRET,
            )
            for code in codes
        ],
        schema_digest="sha256:1",
        tool_error_text=SECRET,
        enforced=True,
    )


def batch(*outcomes: Any) -> validation_service_pb2.ValidateBatchResponse:
    return validation_service_pb2.ValidateBatchResponse(
        outcomes=[
            validation_service_pb2.ValidateOutcome(
                **{"error" if isinstance(outcome, Status) else "verdict": outcome}
            )
            for outcome in outcomes
        ]
    )


ERROR = status_from_error(RequestError(ErrorReason.UNKNOWN_TOOL, SECRET))
CASES = [
    pytest.param(
        validation_service_pb2.ValidateResponse(verdict=VALID),
        (logging.DEBUG, {"outcome": "valid"}),
        id="valid",
    ),
    pytest.param(
        validation_service_pb2.ValidateResponse(verdict=invalid("TYPE", "ENUM", "TYPE")),
        (
            logging.INFO,
            {
                "outcome": "invalid",
                "violations": 3,
                "codes": ["ENUM", "TYPE"],
                "schema": "sha256:1",
            },
        ),
        id="invalid",
    ),
    pytest.param(
        validation_service_pb2.ValidateResponse(verdict=invalid(DISAGREEMENT)),
        (
            logging.ERROR,
            {
                "outcome": "invalid",
                "violations": 1,
                "codes": [DISAGREEMENT],
                "schema": "sha256:1",
            },
        ),
        id="the engines disagree",
    ),
    pytest.param(
        registry_service_pb2.RegisterToolsResponse(
            outcomes=[
                Outcome(name=SECRET, action=action)
                for action in (Outcome.ACTION_CREATED, Outcome.ACTION_REJECTED)
            ],
            removed=[SECRET],
            registry_revision=7,
        ),
        (logging.INFO, {"tools": 2, "rejected": 1, "removed": 1, "revision": 7}),
        id="a registration",
    ),
    pytest.param(
        registry_service_pb2.DeleteToolsResponse(deleted=[SECRET], unknown=[SECRET]),
        (logging.INFO, {"deleted": 1}),
        id="a removal",
    ),
    pytest.param(
        registry_service_pb2.ListToolsResponse(
            tools=[registry_service_pb2.Tool(name=SECRET, json=SECRET.encode())]
        ),
        (logging.DEBUG, {}),
        id="a list",
    ),
    pytest.param(
        conversion_service_pb2.ConvertToolsResponse(
            conversions=[
                Conversion(server=SECRET, name=SECRET, error=ERROR),
                Conversion(name=SECRET, converted=Converted(json=SECRET.encode(), strict=True)),
                Conversion(name=SECRET, converted=Converted(name=SECRET)),
            ],
            request=invalid("REQUEST_TOOLS"),
        ),
        (logging.INFO, {"tools": 3, "errors": 1, "strict": 1, "codes": ["REQUEST_TOOLS"]}),
        id="a conversion of tools",
    ),
    pytest.param(
        conversion_service_pb2.ConvertToolsResponse(
            conversions=[Conversion(name=SECRET, converted=Converted())], request=VALID
        ),
        (logging.DEBUG, {"tools": 1, "errors": 0, "strict": 0, "codes": []}),
        id="a conversion without violations",
    ),
    pytest.param(
        conversion_service_pb2.ConvertToolCallResponse(
            tool=SECRET, call_id=SECRET, call_params=SECRET.encode(), verdict=invalid("TYPE")
        ),
        (
            logging.INFO,
            {"outcome": "invalid", "violations": 1, "codes": ["TYPE"], "schema": "sha256:1"},
        ),
        id="a call with wrong arguments",
    ),
    pytest.param(
        conversion_service_pb2.ConvertToolResultResponse(
            message=SECRET.encode(), verdict=invalid("TYPE")
        ),
        (logging.INFO, {"outcome": "invalid", "violations": 1, "codes": ["TYPE"]}),
        id="an invalid result",
    ),
    pytest.param(
        inference_service_pb2.InferToolsResponse(
            tools=[
                inference_service_pb2.InferredTool(json=SECRET.encode(), function=SECRET),
                inference_service_pb2.InferredTool(json=SECRET.encode(), function=SECRET),
            ],
            diagnostics=[
                inference_service_pb2.Diagnostic(
                    code=code, severity=severity, message=SECRET, function=SECRET, parameter=SECRET
                )
                for code, severity in (("B", "SEVERITY_ERROR"), ("A", "SEVERITY_WARNING")) * 2
            ],
        ),
        (logging.INFO, {"tools": 2, "errors": 2, "codes": ["A", "B"]}),
        id="an inference with errors",
    ),
    pytest.param(
        inference_service_pb2.InferToolsResponse(
            diagnostics=[
                inference_service_pb2.Diagnostic(code="A", severity="SEVERITY_WARNING"),
            ]
        ),
        (logging.DEBUG, {"tools": 0, "errors": 0, "codes": ["A"]}),
        id="an inference with a warning",
    ),
    pytest.param(
        protocol_service_pb2.CheckMessageResponse(
            result=protocol_service_pb2.CheckResult(
                verdict=invalid("METHOD_UNKNOWN", "TYPE"), error_response=SECRET.encode()
            )
        ),
        (
            logging.INFO,
            {"outcome": "invalid", "violations": 2, "codes": ["METHOD_UNKNOWN", "TYPE"]},
        ),
        id="a message with errors",
    ),
    pytest.param(
        protocol_service_pb2.CheckSamplingResponse(
            result=protocol_service_pb2.CheckResult(verdict=VALID)
        ),
        (logging.DEBUG, {"outcome": "valid"}),
        id="a check without violations",
    ),
    pytest.param(
        protocol_service_pb2.CheckToolResultResponse(
            result=protocol_service_pb2.CheckResult(
                verdict=verdict_pb2.Verdict(
                    valid=True, violations=[verdict_pb2.Violation(code="W", message=SECRET)]
                )
            )
        ),
        (logging.DEBUG, {"outcome": "valid", "violations": 1, "codes": ["W"]}),
        id="a check with a warning",
    ),
    pytest.param(
        protocol_service_pb2.CheckElicitationResponse(
            result=protocol_service_pb2.CheckResult(verdict=invalid("TYPE", DISAGREEMENT))
        ),
        (
            logging.ERROR,
            {"outcome": "invalid", "violations": 2, "codes": [DISAGREEMENT, "TYPE"]},
        ),
        id="the engines disagree about a value in a message",
    ),
    pytest.param(
        protocol_service_pb2.CheckToolNamesResponse(
            outcomes=[
                protocol_service_pb2.ToolNameOutcome(
                    verdict=verdict, sdk_warnings=[SECRET], sanitized=SECRET
                )
                for verdict in (VALID, invalid("B"), invalid("A", "B"))
            ]
        ),
        (logging.INFO, {"names": 3, "invalid": 2, "codes": ["A", "B"]}),
        id="names",
    ),
    pytest.param(
        protocol_service_pb2.CheckToolsResponse(
            outcomes=[protocol_service_pb2.ToolOutcome(name=SECRET, verdict=VALID)],
            tools_list_verdict=invalid("TYPE"),
        ),
        (logging.DEBUG, {"tools": 1, "invalid": 0, "codes": []}),
        id="tools",
    ),
    pytest.param(
        info_service_pb2.GetServerInfoResponse(), (logging.DEBUG, {}), id="server information"
    ),
    pytest.param(target_pb2.Target(schema_digest=SECRET), (logging.DEBUG, {}), id="anything else"),
]


@pytest.mark.parametrize(("response", "expected"), CASES)
def test_a_response_is_logged_by_outcome_and_counts(
    response: Any, expected: tuple[int, dict[str, Any]]
) -> None:
    """The level depends on the outcome; content is never logged."""
    _, fields = log_fields(response)
    assert expected == log_fields(response)
    assert fields.keys() <= EVENTS["rpc.completed"].optional_fields.keys()
    assert SECRET not in str(log_fields(response))


@pytest.mark.parametrize(
    ("outcomes", "expected"),
    [
        pytest.param(
            [VALID, VALID],
            (logging.DEBUG, {"items": 2, "invalid": 0, "errors": 0}),
            id="a valid batch",
        ),
        pytest.param(
            [VALID, invalid("TYPE"), ERROR, invalid("TYPE")],
            (logging.INFO, {"items": 4, "invalid": 2, "errors": 1}),
            id="a mixed batch",
        ),
        pytest.param(
            [VALID, ERROR],
            (logging.INFO, {"items": 2, "invalid": 0, "errors": 1}),
            id="a batch with an error",
        ),
        pytest.param(
            [], (logging.DEBUG, {"items": 0, "invalid": 0, "errors": 0}), id="an empty batch"
        ),
        pytest.param(
            [VALID, invalid("TYPE"), invalid(DISAGREEMENT), invalid(DISAGREEMENT)],
            (
                logging.ERROR,
                {"items": 4, "invalid": 3, "errors": 0, "disagreeing": ["sha256:1"]},
            ),
            id="a batch in which the engines disagree",
        ),
    ],
)
def test_a_batch_is_logged_by_counts(outcomes: list[Any], expected: Any) -> None:
    """Outcomes are counted as they are validated; classifying skips valid ones."""
    counter, classifying = OutcomeCounter(), OutcomeCounter(len(outcomes))
    for outcome in batch(*outcomes).outcomes:
        counter.add(outcome)
        if outcome.HasField("error") or not outcome.verdict.valid:
            classifying.classify(outcome)

    assert [expected, expected] == [counter.log_fields(), classifying.log_fields()]
    assert SECRET not in str(counter.log_fields())


def test_a_batch_of_checks_is_logged_by_counts() -> None:
    """Checks are counted like validations."""
    verdicts = [VALID, invalid("TYPE"), invalid("TYPE", DISAGREEMENT)]
    counter = OutcomeCounter()
    for verdict in verdicts:
        result = protocol_service_pb2.CheckResult(verdict=verdict, error_response=SECRET.encode())
        counter.add(protocol_service_pb2.CheckOutcome(result=result))
    counter.add(protocol_service_pb2.CheckOutcome(error=ERROR))

    counts = {"items": 4, "invalid": 2, "errors": 1, "disagreeing": ["sha256:1"]}
    assert (logging.ERROR, counts) == counter.log_fields()
