"""The Python client translates responses and failed calls into values."""

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
    Engine,
    JsonText,
    Limits,
    Outcome,
    Registration,
    Repair,
    ServerInfo,
    Severity,
    SidecheckError,
    Tool,
    Unavailable,
    Verdict,
    Violation,
)
from sidecheck.v1 import info_service_pb2 as info_pb
from sidecheck.v1 import registry_service_pb2 as registry_pb
from sidecheck.v1 import target_pb2 as target_pb
from sidecheck.v1 import validation_service_pb2 as validation_pb
from sidecheck.v1 import verdict_pb2 as verdict_pb
from sidecheck.wire import responses

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
    clause="c",
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
        payload=b'{"n":10}',
        valid=True,
        violations=(EXPECTED_VIOLATION,),
        truncated=True,
        changes=(
            Change(pointer="/n", code="STRING_TO_INTEGER", keyword_location="/s", message="m"),
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


def test_verdicts_are_translated_whole() -> None:
    """No field of a verdict or a violation is lost."""
    response = validation_pb.ValidateResponse(verdict=VERDICT, registry_revision=7)
    assert EXPECTED_VERDICT == responses.verdict(response)


@pytest.mark.parametrize(
    ("expected", "severity"),
    [(Severity.ERROR, 1), (Severity.WARNING, 2), (Severity.INFO, 3), (Severity.INFO, 99)],
)
def test_severities_are_translated(expected: Severity, severity: Any) -> None:
    """A severity of a later release never claims to be an error."""
    response = validation_pb.ValidateResponse(
        verdict=verdict_pb.Verdict(violations=[verdict_pb.Violation(severity=severity)])
    )
    assert (Violation(code="", severity=expected),) == responses.verdict(response).violations


def test_an_outcome_without_repair_has_none() -> None:
    """Also one that is enforced, as nearly all are."""
    response = validation_pb.ValidateResponse(verdict=verdict_pb.Verdict(enforced=True))
    assert Verdict(valid=False, enforced=True, repair=None) == responses.verdict(response)


def test_answers_in_a_stream_are_translated_with_their_ids() -> None:
    """Verdicts and refusals, as in a batch."""
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
        responses.streamed(
            validation_pb.ValidateStreamResponse(id=id_, outcome=outcome, registry_revision=7)
        )
        for id_, outcome in outcomes.items()
    ]


def test_a_batch_is_translated_item_by_item() -> None:
    """A refusal stands where the verdict of its item would."""
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
    ] == responses.batch_judgements(response)


def test_the_parts_of_a_registration_become_one() -> None:
    """Outcomes keep their order and the last revision counts."""
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
            Outcome(
                name="n",
                action=Action.CHANGED,
                violations=(EXPECTED_VIOLATION,),
                definition_digest="d",
                input_schema_digest="i",
                output_schema_digest="o",
                previous_definition_digest="p",
            ),
            Outcome(name="m", action=Action.CREATED),
        ),
        removed=("gone",),
        registry_revision=9,
    ) == responses.registration(
        [
            registry_pb.RegisterToolsResponse(
                outcomes=[outcome], removed=["gone"], registry_revision=8
            ),
            registry_pb.RegisterToolsResponse(outcomes=[later], registry_revision=9),
        ]
    )


def test_tools_are_translated_whole() -> None:
    """A definition comes back byte for byte, with its documents."""
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
    assert expected == responses.tool(registry_pb.GetToolResponse(tool=tool))
    assert ([expected], "next") == responses.page(
        registry_pb.ListToolsResponse(tools=[tool], next_page_token="next")
    )


def test_deletions_are_translated_whole() -> None:
    """What was removed and what was not there are told apart."""
    assert Deletion(deleted=("a",), unknown=("b",), registry_revision=3) == responses.deletion(
        registry_pb.DeleteToolsResponse(deleted=["a"], unknown=["b"], registry_revision=3)
    )


def test_the_facts_of_a_server_are_translated_whole() -> None:
    """Limits and engines come with the rest."""
    bounds: dict[str, Any] = {
        name: at for at, name in enumerate(info_pb.Limits.DESCRIPTOR.fields_by_name, 1)
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
    )
    assert ServerInfo(
        version="0.1.0",
        limits=Limits(**bounds),
        dialects=("d",),
        protocol_versions=("p", "q"),
        default_protocol_version="q",
        engines=(Engine("fast", "l", "v"),),
        registry_revision=5,
    ) == responses.server_info(response)


def status_bytes(*details: Message) -> tuple[tuple[str, bytes], ...]:
    """Return the trailing metadata in which *details* travel."""
    return (("grpc-status-details-bin", Status(details=details).SerializeToString()),)


SHUTTING_DOWN = detail(ErrorInfo(reason="SHUTTING_DOWN", domain="sidecheck"))
FOREIGN = detail(ErrorInfo(reason="QUOTA", domain="proxy.example"))
RETRY = detail(RetryInfo())
BROKEN = AnyMessage(type_url="type.googleapis.com/google.rpc.ErrorInfo", value=b"\xff")


@pytest.mark.parametrize(
    ("expected", "code", "metadata"),
    [
        pytest.param(
            SidecheckError("UNKNOWN_TOOL", "m", {"name": "n"}, CODES.NOT_FOUND),
            CODES.NOT_FOUND,
            (("other", "x"), *status_bytes(RETRY, INFO)),
            id="reason among other details",
        ),
        pytest.param(
            SidecheckError("INTERNAL", "m", {}, CODES.INTERNAL), CODES.INTERNAL, (), id="no details"
        ),
        pytest.param(
            SidecheckError("INTERNAL", "m", {}, CODES.INTERNAL),
            CODES.INTERNAL,
            None,
            id="no metadata",
        ),
        pytest.param(
            SidecheckError("RESOURCE_EXHAUSTED", "m", {}, CODES.RESOURCE_EXHAUSTED),
            CODES.RESOURCE_EXHAUSTED,
            status_bytes(FOREIGN),
            id="a reason of another domain",
        ),
        pytest.param(
            SidecheckError("INTERNAL", "m", {}, CODES.INTERNAL),
            CODES.INTERNAL,
            (("grpc-status-details-bin", b"\xff\xff"),),
            id="details that do not decode",
        ),
        pytest.param(
            SidecheckError("UNKNOWN_TOOL", "m", {"name": "n"}, CODES.NOT_FOUND),
            CODES.NOT_FOUND,
            status_bytes(BROKEN, INFO),
            id="one detail that does not decode",
        ),
        pytest.param(
            Unavailable("UNAVAILABLE", "m", {}, CODES.UNAVAILABLE),
            CODES.UNAVAILABLE,
            (),
            id="nobody there",
        ),
        pytest.param(
            Unavailable("DEADLINE_EXCEEDED", "m", {}, CODES.DEADLINE_EXCEEDED),
            CODES.DEADLINE_EXCEEDED,
            (),
            id="too late",
        ),
        pytest.param(
            Unavailable("SHUTTING_DOWN", "m", {}, CODES.UNAVAILABLE),
            CODES.UNAVAILABLE,
            status_bytes(SHUTTING_DOWN),
            id="going away",
        ),
        pytest.param(
            SidecheckError("UNKNOWN_TOOL", "m", {"name": "n"}, CODES.UNAVAILABLE),
            CODES.UNAVAILABLE,
            status_bytes(INFO),
            id="UNAVAILABLE for a reason of its own",
        ),
    ],
)
def test_failed_calls_become_refusals(
    expected: SidecheckError,
    code: grpc.StatusCode,
    metadata: tuple[tuple[str, str | bytes], ...] | None,
) -> None:
    """The reason is Sidecheck's own if there is one, else the name of the status."""
    trailing = None if metadata is None else grpc.aio.Metadata(*metadata)
    error = grpc.aio.AioRpcError(code, grpc.aio.Metadata(), trailing, details="m")
    assert expected == responses.call_refusal(error)
