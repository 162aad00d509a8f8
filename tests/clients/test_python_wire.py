"""The Python client translates between values and messages."""

from types import MappingProxyType

import grpc
import pytest
from google.protobuf.any_pb2 import Any as AnyMessage
from google.rpc.error_details_pb2 import ErrorInfo, RetryInfo
from google.rpc.status_pb2 import Status
from sidecheck import (
    Action,
    Arguments,
    Coercion,
    DefinitionDigest,
    Deletion,
    Detail,
    Document,
    Engine,
    Item,
    Limits,
    OnUnknownTool,
    Options,
    Outcome,
    Refused,
    RegisteredTool,
    Registration,
    Schema,
    SchemaDigest,
    ServerInfo,
    Severity,
    StructuredContent,
    Tool,
    ToolDefinition,
    Unavailable,
    UnknownArguments,
    Verdict,
    Violation,
)
from sidecheck.v1 import info_service_pb2 as info_pb
from sidecheck.v1 import options_pb2 as options_pb
from sidecheck.v1 import registry_service_pb2 as registry_pb
from sidecheck.v1 import target_pb2 as target_pb
from sidecheck.v1 import validation_service_pb2 as validation_pb
from sidecheck.v1 import verdict_pb2 as verdict_pb
from sidecheck.wire import requests, responses

CODES = grpc.StatusCode


@pytest.mark.parametrize(
    ("expected", "payload"),
    [
        pytest.param(b'{"a":1,"a":2', b'{"a":1,"a":2', id="bytes, even broken ones, untouched"),
        pytest.param(b'{"a":[1,2.5,true,null]}', {"a": [1, 2.5, True, None]}, id="compact"),
        pytest.param(b'"{}"', "{}", id="str is a JSON string, not JSON text"),
        pytest.param('"é\U0001f600"'.encode(), "é\U0001f600", id="text in UTF-8, not escaped"),
        pytest.param(b"18446744073709551617", 2**64 + 1, id="integers exact"),
        pytest.param(b"null", None, id="null"),
        pytest.param(b'{"a":{}}', MappingProxyType({"a": MappingProxyType({})}), id="mappings"),
        pytest.param(b"[1,2]", (1, 2), id="tuple"),
    ],
)
def test_payloads_become_json_text(expected, payload):
    """A payload given as bytes is text already; any other value is encoded."""
    assert expected == requests.payload_text(payload)


@pytest.mark.parametrize(
    ("expected", "payload"),
    [
        pytest.param(ValueError, {"a": float("nan")}, id="NaN"),
        pytest.param(ValueError, [float("inf")], id="infinity"),
        pytest.param(ValueError, "\ud800", id="lone surrogate"),
        pytest.param(TypeError, {"a": object()}, id="object"),
        pytest.param(TypeError, {1, 2}, id="set"),
        pytest.param(TypeError, [b"{}"], id="bytes inside a value"),
    ],
)
def test_what_json_cannot_express_is_not_sent(expected, payload):
    """Nothing is invented for a value that JSON has no form for."""
    with pytest.raises(expected):
        requests.payload_text(payload)


@pytest.mark.parametrize(
    ("expected", "target"),
    [
        pytest.param(
            target_pb.Target(
                registered_tool=target_pb.RegisteredTool(
                    server="s", name="n", definition_digest="d"
                )
            ),
            RegisteredTool("s", "n", "d"),
            id="registered tool",
        ),
        pytest.param(
            target_pb.Target(definition_digest="d"), DefinitionDigest("d"), id="definition digest"
        ),
        pytest.param(target_pb.Target(schema_digest="d"), SchemaDigest("d"), id="schema digest"),
        pytest.param(
            target_pb.Target(
                inline_tool=target_pb.InlineTool(
                    json=b'{"name":"n"}', documents=[target_pb.Document(uri="u", json=b"true")]
                )
            ),
            ToolDefinition({"name": "n"}, (Document("u", True),)),
            id="tool definition",
        ),
        pytest.param(
            target_pb.Target(
                inline_schema=target_pb.InlineSchema(
                    json=b'{"type": "string"}',
                    documents=[target_pb.Document(uri="u", json=b"{}")],
                    default_dialect="http://json-schema.org/draft-07/schema#",
                )
            ),
            Schema(
                '{"type": "string"}',
                (Document("u", b"{}"),),
                "http://json-schema.org/draft-07/schema#",
            ),
            id="schema as text",
        ),
    ],
)
def test_targets_become_messages(expected, target):
    """Each kind of target sets its own member of the oneof."""
    item = Item(StructuredContent(b"1"), target)
    expected_subject = target_pb.Subject(structured_content=b"1")
    assert (
        validation_pb.ValidateRequest(target=expected, subject=expected_subject)
    ) == requests.validate_request(item)
    assert (
        validation_pb.ValidateItem(target=expected, subject=expected_subject)
    ) == requests.batch_item(item)


def test_an_item_without_target_and_options_leaves_them_unset():
    """What an item leaves out, the batch supplies."""
    message = requests.batch_item(Item(Arguments(b"{}")))
    assert (
        validation_pb.ValidateItem(subject=target_pb.Subject(arguments=b"{}")),
        False,
        False,
    ) == (message, message.HasField("target"), message.HasField("options"))


@pytest.mark.parametrize(
    ("expected", "options"),
    [
        pytest.param(
            options_pb.ValidationOptions(
                detail="DETAIL_ALL",
                max_violations=20,
                unknown_arguments="UNKNOWN_ARGUMENTS_SCHEMA",
                coercion="COERCION_NONE",
                on_unknown_tool="ON_UNKNOWN_TOOL_REFUSE",
            ),
            Options(),
            id="defaults",
        ),
        pytest.param(
            options_pb.ValidationOptions(
                protocol_version="2025-11-25",
                detail="DETAIL_VERDICT_ONLY",
                max_violations=3,
                unknown_arguments="UNKNOWN_ARGUMENTS_STRIP",
                coercion="COERCION_SAFE_SCALARS",
                apply_defaults=True,
                assert_formats=True,
                on_unknown_tool="ON_UNKNOWN_TOOL_SKIP",
                hide_values=True,
            ),
            Options(
                protocol_version="2025-11-25",
                detail=Detail.VERDICT_ONLY,
                max_violations=3,
                unknown_arguments=UnknownArguments.STRIP,
                coercion=Coercion.SAFE_SCALARS,
                apply_defaults=True,
                assert_formats=True,
                on_unknown_tool=OnUnknownTool.SKIP,
                hide_values=True,
            ),
            id="everything set",
        ),
    ],
)
def test_options_become_messages(expected, options):
    """Every option is sent, the documented defaults by name."""
    assert validation_pb.ValidateBatchRequest(options=expected) == requests.batch_request(
        [], None, options
    )


@pytest.mark.parametrize(
    ("wrapper", "enum", "prefix"),
    [
        pytest.param(options_pb.Detail, Detail, "DETAIL", id="Detail"),
        pytest.param(
            options_pb.UnknownArguments, UnknownArguments, "UNKNOWN_ARGUMENTS", id="UnknownArguments"
        ),
        pytest.param(options_pb.Coercion, Coercion, "COERCION", id="Coercion"),
        pytest.param(options_pb.OnUnknownTool, OnUnknownTool, "ON_UNKNOWN_TOOL", id="OnUnknownTool"),
        pytest.param(verdict_pb.Severity, Severity, "SEVERITY", id="Severity"),
    ],
)
def test_enumerations_have_the_members_of_the_api(wrapper, enum, prefix):
    """A member added to the API without one here fails; UNSPECIFIED is only for the wire."""
    members = {f"{prefix}_{member.upper()}" for member in enum}
    assert set(wrapper.keys()) == members | {f"{prefix}_UNSPECIFIED"}


def test_actions_have_the_members_of_the_api():
    """An action added to the API without one here fails."""
    members = {f"ACTION_{member.upper()}" for member in Action}
    assert set(registry_pb.RegistrationOutcome.Action.keys()) == members


@pytest.mark.parametrize("replace", [False, True])
@pytest.mark.parametrize("on_change", ["accept", "report", "refuse"])
def test_registrations_become_messages(replace, on_change):
    """Mode and policy are sent by name."""
    tools = [requests.inline_tool(ToolDefinition('{"name": "n"}'))]
    assert registry_pb.RegisterToolsRequest(
        server="s",
        tools=[target_pb.InlineTool(json=b'{"name": "n"}')],
        mode="REGISTRATION_MODE_REPLACE" if replace else "REGISTRATION_MODE_UPSERT",
        on_change=f"ON_CHANGE_{on_change.upper()}",
        validate_only=True,
    ) == requests.registration_request(
        "s", tools, replace=replace, on_change=on_change, validate_only=True
    )


@pytest.mark.parametrize("size", [0, 1, 127, 128, 16_383, 16_384, 2_097_152])
def test_the_size_that_a_message_adds_is_exact(size):
    """The bytes that a message adds to a list are counted with tag and length."""
    item = target_pb.InlineTool(json=b"x" * size)
    whole = registry_pb.RegisterToolsRequest(tools=[item])
    assert whole.ByteSize() == requests.listed_bytes(item)


VIOLATION = verdict_pb.Violation(
    instance_pointer="/a",
    schema_pointer="/properties/a/type",
    keyword="type",
    code="TYPE",
    severity="SEVERITY_WARNING",
    message="m",
    suggestion="s",
    clause="c",
)
EXPECTED_VIOLATION = Violation(
    instance_pointer="/a",
    schema_pointer="/properties/a/type",
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
)
EXPECTED_VERDICT = Verdict(
    valid=True,
    violations=(EXPECTED_VIOLATION,),
    truncated=True,
    definition_digest="sha256:d",
    schema_digest="sha256:s",
    tool_error_text="t",
    registry_revision=7,
)


def detail(message):
    """Return *message* packed as a detail of a status."""
    packed = AnyMessage()
    packed.Pack(message)
    return packed


INFO = detail(ErrorInfo(reason="UNKNOWN_TOOL", domain="sidecheck", metadata={"name": "n"}))


def test_verdicts_are_translated_whole():
    """No field of a verdict or a violation is lost."""
    response = validation_pb.ValidateResponse(verdict=VERDICT, registry_revision=7)
    assert EXPECTED_VERDICT == responses.verdict(response)


@pytest.mark.parametrize(
    ("expected", "severity"),
    [(Severity.ERROR, 1), (Severity.WARNING, 2), (Severity.INFO, 3), (Severity.INFO, 99)],
)
def test_severities_are_translated(expected, severity):
    """A severity of a later release never claims to be an error."""
    response = validation_pb.ValidateResponse(
        verdict=verdict_pb.Verdict(violations=[verdict_pb.Violation(severity=severity)])
    )
    assert (Violation(code="", severity=expected),) == responses.verdict(response).violations


def test_a_batch_is_translated_item_by_item():
    """A refusal stands where the verdict of its item would."""
    response = validation_pb.ValidateBatchResponse(
        outcomes=[
            validation_pb.ValidateOutcome(verdict=VERDICT),
            validation_pb.ValidateOutcome(
                refusal=Status(code=CODES.NOT_FOUND.value[0], message="no tool", details=[INFO])
            ),
        ],
        registry_revision=7,
    )
    assert [
        EXPECTED_VERDICT,
        Refused("UNKNOWN_TOOL", "no tool", {"name": "n"}, CODES.NOT_FOUND),
    ] == responses.batch_judgements(response)


def test_the_parts_of_a_registration_become_one():
    """Outcomes keep their order and the last revision counts."""
    outcome = registry_pb.RegistrationOutcome(
        name="n",
        action=registry_pb.RegistrationOutcome.ACTION_CHANGED,
        problems=[VIOLATION],
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
                problems=(EXPECTED_VIOLATION,),
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


def test_tools_are_translated_whole():
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


def test_deletions_are_translated_whole():
    """What was removed and what was not there are told apart."""
    assert Deletion(
        deleted=("a",), unknown=("b",), registry_revision=3
    ) == responses.deletion(
        registry_pb.DeleteToolsResponse(deleted=["a"], unknown=["b"], registry_revision=3)
    )


def test_the_facts_of_a_server_are_translated_whole():
    """Limits and engines come with the rest."""
    bounds = {field.name: at for at, field in enumerate(info_pb.Limits.DESCRIPTOR.fields, 1)}
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


def status_bytes(*details):
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
            Refused("UNKNOWN_TOOL", "m", {"name": "n"}, CODES.NOT_FOUND),
            CODES.NOT_FOUND,
            (("other", "x"), *status_bytes(RETRY, INFO)),
            id="reason among other details",
        ),
        pytest.param(
            Refused("INTERNAL", "m", {}, CODES.INTERNAL), CODES.INTERNAL, (), id="no details"
        ),
        pytest.param(
            Refused("INTERNAL", "m", {}, CODES.INTERNAL), CODES.INTERNAL, None, id="no metadata"
        ),
        pytest.param(
            Refused("RESOURCE_EXHAUSTED", "m", {}, CODES.RESOURCE_EXHAUSTED),
            CODES.RESOURCE_EXHAUSTED,
            status_bytes(FOREIGN),
            id="a reason of another domain",
        ),
        pytest.param(
            Refused("INTERNAL", "m", {}, CODES.INTERNAL),
            CODES.INTERNAL,
            (("grpc-status-details-bin", b"\xff\xff"),),
            id="details that do not decode",
        ),
        pytest.param(
            Refused("UNKNOWN_TOOL", "m", {"name": "n"}, CODES.NOT_FOUND),
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
            Refused("UNKNOWN_TOOL", "m", {"name": "n"}, CODES.UNAVAILABLE),
            CODES.UNAVAILABLE,
            status_bytes(INFO),
            id="UNAVAILABLE for a reason of its own",
        ),
    ],
)
def test_failed_calls_become_refusals(expected, code, metadata):
    """The reason is Sidecheck's own if there is one, else the name of the status."""
    trailing = None if metadata is None else grpc.aio.Metadata(*metadata)
    error = grpc.aio.AioRpcError(code, grpc.aio.Metadata(), trailing, details="m")
    assert expected == responses.call_refusal(error)
