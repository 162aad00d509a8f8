"""Decoding of responses and failed calls by the Python client."""

from typing import Any

import grpc
import grpc.aio
import pytest
from google.protobuf.any_pb2 import Any as AnyMessage
from google.protobuf.message import Message
from google.rpc.error_details_pb2 import ErrorInfo, RetryInfo
from google.rpc.status_pb2 import Status
from sidecheck import (
    Action,
    Change,
    Deletion,
    Document,
    EngineInfo,
    JsonText,
    Limits,
    Registration,
    RegistrationOutcome,
    Repair,
    ServerInfo,
    Severity,
    SidecheckError,
    Tool,
    Unavailable,
    Verdict,
    Violation,
)
from sidecheck._blocking.registry import join_registrations
from sidecheck.v1 import info_service_pb2 as info_pb
from sidecheck.v1 import registry_service_pb2 as registry_pb
from sidecheck.v1 import target_pb2 as target_pb
from sidecheck.v1 import validation_service_pb2 as validation_pb
from sidecheck.v1 import verdict_pb2 as verdict_pb
from sidecheck.wire import errors, registry, validation
from sidecheck.wire.decoders.info import decode_server_info

CODES = grpc.StatusCode

VIOLATION = verdict_pb.Violation(
    instance_location="/a",
    keyword_location="/properties/a/type",
    keyword="type",
    code="TYPE",
    severity="SEVERITY_WARNING",
    message="m",
    suggestion="s",
    spec_url="c",
)
EXPECTED_VIOLATION = Violation(
    instance_location="/a",
    keyword_location="/properties/a/type",
    keyword="type",
    code="TYPE",
    severity=Severity.WARNING,
    message="m",
    suggestion="s",
    spec_url="c",
)
VERDICT = verdict_pb.Verdict(
    valid=True,
    violations=[VIOLATION],
    truncated=True,
    definition_digest="sha256:d",
    schema_digest="sha256:s",
    tool_error_text="t",
    enforced=False,
    repair=verdict_pb.Repair(
        payload=b'{"n":10}',
        valid=True,
        violations=[VIOLATION],
        truncated=True,
        changes=[
            verdict_pb.Change(
                instance_location="/n", code="STRING_TO_INTEGER", keyword_location="/s", message="m"
            )
        ],
    ),
    call_tool_result=b'{"isError": true}',
    json_rpc_error=b'{"code": -32602}',
)
EXPECTED_VERDICT = Verdict(
    valid=True,
    violations=(EXPECTED_VIOLATION,),
    truncated=True,
    definition_digest="sha256:d",
    schema_digest="sha256:s",
    tool_error_text="t",
    registry_revision=7,
    enforced=False,
    repair=Repair(
        payload=JsonText(b'{"n":10}'),
        valid=True,
        violations=(EXPECTED_VIOLATION,),
        truncated=True,
        changes=(
            Change(
                instance_location="/n", code="STRING_TO_INTEGER", keyword_location="/s", message="m"
            ),
        ),
    ),
    call_tool_result=JsonText(b'{"isError": true}'),
    json_rpc_error=JsonText(b'{"code": -32602}'),
)


def detail(message: Message) -> AnyMessage:
    """Return *message* packed as a detail of a status."""
    packed = AnyMessage()
    packed.Pack(message)
    return packed


INFO = detail(ErrorInfo(reason="UNKNOWN_TOOL", domain="sidecheck", metadata={"name": "n"}))


def test_verdicts_are_decoded_completely() -> None:
    """No field of a verdict or a violation is lost."""
    response = validation_pb.ValidateResponse(verdict=VERDICT, registry_revision=7)
    assert EXPECTED_VERDICT == validation.decode_response(response)


@pytest.mark.parametrize(
    ("expected", "severity"),
    [(Severity.ERROR, 1), (Severity.WARNING, 2), (Severity.INFO, 3), (Severity.INFO, 99)],
)
def test_severities_are_decoded(expected: Severity, severity: Any) -> None:
    """An unknown severity is decoded to INFO."""
    response = validation_pb.ValidateResponse(
        verdict=verdict_pb.Verdict(violations=[verdict_pb.Violation(severity=severity)])
    )
    assert (Violation(code="", severity=expected),) == validation.decode_response(
        response
    ).violations


def test_an_outcome_without_repair_has_none() -> None:
    """This applies to enforced verdicts too."""
    response = validation_pb.ValidateResponse(verdict=verdict_pb.Verdict(enforced=True))
    assert Verdict(valid=False, enforced=True, repair=None) == validation.decode_response(response)


def test_stream_responses_are_decoded_with_their_ids() -> None:
    """Outcomes are verdicts or errors, as in a batch."""
    outcomes = {
        "a": validation_pb.ValidateOutcome(verdict=VERDICT),
        "": validation_pb.ValidateOutcome(
            error=Status(code=CODES.NOT_FOUND.value[0], message="no tool", details=[INFO])
        ),
    }
    assert [
        ("a", EXPECTED_VERDICT),
        ("", SidecheckError("UNKNOWN_TOOL", "no tool", {"name": "n"}, CODES.NOT_FOUND)),
    ] == [
        validation.decode_stream_response(
            validation_pb.ValidateStreamResponse(id=id_, outcome=outcome, registry_revision=7)
        )
        for id_, outcome in outcomes.items()
    ]


def test_a_batch_has_one_outcome_per_item() -> None:
    """The error of an item is its outcome."""
    response = validation_pb.ValidateBatchResponse(
        outcomes=[
            validation_pb.ValidateOutcome(verdict=VERDICT),
            validation_pb.ValidateOutcome(
                error=Status(code=CODES.NOT_FOUND.value[0], message="no tool", details=[INFO])
            ),
        ],
        registry_revision=7,
    )
    assert [
        EXPECTED_VERDICT,
        SidecheckError("UNKNOWN_TOOL", "no tool", {"name": "n"}, CODES.NOT_FOUND),
    ] == validation.decode_batch(response)


def test_partial_registrations_are_joined() -> None:
    """Outcomes are in order, and the last revision is returned."""
    outcome = registry_pb.RegistrationOutcome(
        name="n",
        action=registry_pb.RegistrationOutcome.ACTION_CHANGED,
        violations=[VIOLATION],
        definition_digest="d",
        input_schema_digest="i",
        output_schema_digest="o",
        previous_definition_digest="p",
    )
    later = registry_pb.RegistrationOutcome(
        name="m", action=registry_pb.RegistrationOutcome.ACTION_CREATED
    )
    assert Registration(
        outcomes=(
            RegistrationOutcome(
                name="n",
                action=Action.CHANGED,
                violations=(EXPECTED_VIOLATION,),
                definition_digest="d",
                input_schema_digest="i",
                output_schema_digest="o",
                previous_definition_digest="p",
            ),
            RegistrationOutcome(name="m", action=Action.CREATED),
        ),
        removed=("gone",),
        registry_revision=9,
    ) == join_registrations(
        [
            registry.decode_registration(response, 1)
            for response in (
                registry_pb.RegisterToolsResponse(
                    outcomes=[outcome], removed=["gone"], registry_revision=8
                ),
                registry_pb.RegisterToolsResponse(outcomes=[later], registry_revision=9),
            )
        ]
    )


def test_tools_are_decoded_completely() -> None:
    """A definition is returned byte for byte, with its documents."""
    tool = registry_pb.Tool(
        server="s",
        name="n",
        json=b'{ "name": "n" }',
        documents=[target_pb.Document(uri="u", json=b"{}")],
        definition_digest="d",
        input_schema_digest="i",
        output_schema_digest="o",
        revision=4,
    )
    expected = Tool(
        server="s",
        name="n",
        json=b'{ "name": "n" }',
        documents=(Document("u", b"{}"),),
        definition_digest="d",
        input_schema_digest="i",
        output_schema_digest="o",
        revision=4,
    )
    assert expected == registry.decode_tool(registry_pb.GetToolResponse(tool=tool))
    assert ([expected], "next") == registry.decode_page(
        registry_pb.ListToolsResponse(tools=[tool], next_page_token="next")
    )


def test_deletions_are_decoded_completely() -> None:
    """Deleted and unknown names are separate."""
    assert Deletion(
        deleted=("a",), unknown=("b",), registry_revision=3
    ) == registry.decode_deletion(
        registry_pb.DeleteToolsResponse(deleted=["a"], unknown=["b"], registry_revision=3),
        named=True,
    )


def test_server_info_is_decoded_completely() -> None:
    """Limits and engines are included."""
    bounds: dict[str, Any] = {
        name: number for number, name in enumerate(info_pb.Limits.DESCRIPTOR.fields_by_name, 1)
    }
    bounds["allow_backtracking"] = True
    response = info_pb.GetServerInfoResponse(
        version="0.1.0",
        limits=info_pb.Limits(**bounds),
        dialects=["d"],
        protocol_versions=["p", "q"],
        default_protocol_version="q",
        engines=[info_pb.EngineInfo(name="fast", library="l", version="v")],
        registry_revision=5,
        server="grpc",
    )
    assert ServerInfo(
        version="0.1.0",
        limits=Limits(**bounds),
        dialects=("d",),
        protocol_versions=("p", "q"),
        default_protocol_version="q",
        engines=(EngineInfo(name="fast", library="l", version="v"),),
        registry_revision=5,
        server="grpc",
    ) == decode_server_info(response)


def status_bytes(*details: Message) -> tuple[tuple[str, bytes], ...]:
    """Return the trailing metadata with *details*."""
    return (("grpc-status-details-bin", Status(details=details).SerializeToString()),)


SHUTTING_DOWN = detail(ErrorInfo(reason="SHUTTING_DOWN", domain="sidecheck"))
FOREIGN = detail(ErrorInfo(reason="QUOTA", domain="proxy.example"))
OVERLOADED = detail(ErrorInfo(reason="OVERLOADED", domain="sidecheck"))
INTERNAL = detail(ErrorInfo(reason="INTERNAL", domain="sidecheck", metadata={"error_id": "7"}))
RETRY = detail(RetryInfo(retry_delay={"seconds": 2, "nanos": 500_000_000}))
BROKEN = AnyMessage(type_url="type.googleapis.com/google.rpc.ErrorInfo", value=b"\xff")


@pytest.mark.parametrize(
    ("expected", "code", "metadata"),
    [
        pytest.param(
            SidecheckError("UNKNOWN_TOOL", "m", {"name": "n"}, CODES.NOT_FOUND, 2.5),
            CODES.NOT_FOUND,
            (("other", "x"), *status_bytes(RETRY, INFO)),
            id="reason among other details",
        ),
        pytest.param(
            SidecheckError("NOT_FOUND", "m", {}, CODES.NOT_FOUND),
            CODES.NOT_FOUND,
            (),
            id="a code that only applications set",
        ),
        pytest.param(
            SidecheckError("INTERNAL", "m", {"error_id": "7"}, CODES.INTERNAL),
            CODES.INTERNAL,
            status_bytes(INTERNAL),
            id="a failure of the server",
        ),
        pytest.param(
            Unavailable("INTERNAL", "m", {}, CODES.INTERNAL), CODES.INTERNAL, (), id="no details"
        ),
        pytest.param(
            Unavailable("INTERNAL", "m", {}, CODES.INTERNAL),
            CODES.INTERNAL,
            None,
            id="no metadata",
        ),
        pytest.param(
            Unavailable("RESOURCE_EXHAUSTED", "m", {}, CODES.RESOURCE_EXHAUSTED, 2.5),
            CODES.RESOURCE_EXHAUSTED,
            status_bytes(FOREIGN, RETRY),
            id="a reason of another domain",
        ),
        pytest.param(
            Unavailable("INTERNAL", "m", {}, CODES.INTERNAL),
            CODES.INTERNAL,
            (("grpc-status-details-bin", b"\xff\xff"),),
            id="details that do not decode",
        ),
        pytest.param(
            SidecheckError("UNKNOWN_TOOL", "m", {"name": "n"}, CODES.NOT_FOUND),
            CODES.NOT_FOUND,
            status_bytes(BROKEN, INFO),
            id="single detail that does not decode",
        ),
        pytest.param(
            Unavailable("UNAVAILABLE", "m", {}, CODES.UNAVAILABLE),
            CODES.UNAVAILABLE,
            (),
            id="no server",
        ),
        pytest.param(
            Unavailable("DEADLINE_EXCEEDED", "m", {}, CODES.DEADLINE_EXCEEDED),
            CODES.DEADLINE_EXCEEDED,
            (),
            id="deadline exceeded",
        ),
        pytest.param(
            Unavailable("SHUTTING_DOWN", "m", {}, CODES.UNAVAILABLE),
            CODES.UNAVAILABLE,
            status_bytes(SHUTTING_DOWN),
            id="shutting down",
        ),
        pytest.param(
            Unavailable("OVERLOADED", "m", {}, CODES.RESOURCE_EXHAUSTED, 2.5),
            CODES.RESOURCE_EXHAUSTED,
            status_bytes(OVERLOADED, RETRY),
            id="overloaded",
        ),
        pytest.param(
            SidecheckError("UNKNOWN_TOOL", "m", {"name": "n"}, CODES.UNAVAILABLE),
            CODES.UNAVAILABLE,
            status_bytes(INFO),
            id="UNAVAILABLE with another reason",
        ),
    ],
)
def test_failed_calls_become_errors(
    expected: SidecheckError,
    code: grpc.StatusCode,
    metadata: tuple[tuple[str, str | bytes], ...] | None,
) -> None:
    """The reason is that of Sidecheck, or else the name of the status code."""
    trailing = None if metadata is None else grpc.aio.Metadata(*metadata)
    error = grpc.aio.AioRpcError(code, grpc.aio.Metadata(), trailing, details="m")
    assert expected == errors.decode_call_error(error)
