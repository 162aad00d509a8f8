"""Encoding of validation and registry requests by the Python client."""

from enum import StrEnum
from typing import Any

import pytest
from sidecheck import (
    ABSENT,
    Action,
    Arguments,
    CallParams,
    CallResult,
    ChangePolicy,
    Coercion,
    DefinitionDigest,
    Detail,
    Document,
    Item,
    OnUnknownTool,
    Options,
    RegisteredTool,
    Schema,
    SchemaDigest,
    Severity,
    StructuredContent,
    Subject,
    Target,
    ToolDefinition,
    UnknownArguments,
)
from sidecheck.v1 import options_pb2 as options_pb
from sidecheck.v1 import registry_service_pb2 as registry_pb
from sidecheck.v1 import target_pb2 as target_pb
from sidecheck.v1 import validation_service_pb2 as validation_pb
from sidecheck.v1 import verdict_pb2 as verdict_pb
from sidecheck.wire import registry, validation, values


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
                b'{"type": "string"}',
                (Document("u", b"{}"),),
                "http://json-schema.org/draft-07/schema#",
            ),
            id="schema as text",
        ),
    ],
)
def test_targets_become_messages(expected: target_pb.Target, target: Target) -> None:
    """Each kind of target sets its own field of the oneof."""
    item = Item(StructuredContent(b"1"), target)
    expected_subject = target_pb.Subject(structured_content=b"1")
    assert (
        validation_pb.ValidateRequest(target=expected, subject=expected_subject)
    ) == validation.encode_request(item)
    assert (
        validation_pb.ValidateItem(target=expected, subject=expected_subject)
    ) == validation.encode_item(item)


@pytest.mark.parametrize(
    ("expected", "subject"),
    [
        pytest.param(target_pb.Subject(arguments=b"{}"), Arguments({}), id="arguments"),
        pytest.param(
            target_pb.Subject(structured_content=b"null"), StructuredContent(None), id="null"
        ),
        pytest.param(
            target_pb.Subject(absent_structured_content=target_pb.AbsentContent()),
            StructuredContent(ABSENT),
            id="no structured content",
        ),
        pytest.param(
            target_pb.Subject(call_params=b'{"name":"n"}'), CallParams({"name": "n"}), id="call"
        ),
        pytest.param(
            target_pb.Subject(call_result=b'{"content": []}'),
            CallResult(b'{"content": []}'),
            id="result",
        ),
    ],
)
def test_subjects_become_messages(expected: target_pb.Subject, subject: Subject) -> None:
    """Each kind of subject sets its own field of the oneof."""
    assert expected == validation.encode_item(Item(subject)).subject


def test_an_item_without_target_and_options_leaves_them_unset() -> None:
    """The batch supplies target and options that an item omits."""
    message = validation.encode_item(Item(Arguments(b"{}")))
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
                on_unknown_tool="ON_UNKNOWN_TOOL_ERROR",
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
def test_options_become_messages(expected: options_pb.ValidationOptions, options: Options) -> None:
    """Every option is sent, including the defaults."""
    assert validation_pb.ValidateBatchRequest(options=expected) == validation.encode_batch(
        [], None, options
    )


def test_an_unknown_option_is_an_error() -> None:
    """The error is raised at run time too."""
    with pytest.raises(ValueError, match="invalid detail 'everything'; expected one of"):
        validation.encode_batch([], None, Options(detail="everything"))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("wrapper", "enum", "prefix"),
    [
        pytest.param(options_pb.Detail, Detail, "DETAIL", id="Detail"),
        pytest.param(
            options_pb.UnknownArguments,
            UnknownArguments,
            "UNKNOWN_ARGUMENTS",
            id="UnknownArguments",
        ),
        pytest.param(options_pb.Coercion, Coercion, "COERCION", id="Coercion"),
        pytest.param(
            options_pb.OnUnknownTool, OnUnknownTool, "ON_UNKNOWN_TOOL", id="OnUnknownTool"
        ),
        pytest.param(verdict_pb.Severity, Severity, "SEVERITY", id="Severity"),
    ],
)
def test_enumerations_have_the_members_of_the_api(
    wrapper: Any, enum: type[StrEnum], prefix: str
) -> None:
    """The test fails if the API has a member that is missing here, except UNSPECIFIED."""
    labels = {f"{prefix}_{member.upper().replace('-', '_')}" for member in enum}
    assert set(wrapper.keys()) == labels | {f"{prefix}_UNSPECIFIED"}


def test_actions_have_the_members_of_the_api() -> None:
    """The test fails if the API has an action that is missing here."""
    labels = {f"ACTION_{member.upper()}" for member in Action}
    assert set(registry_pb.RegistrationOutcome.Action.keys()) == labels


@pytest.mark.parametrize("replace", [False, True])
@pytest.mark.parametrize("change_policy", ["accept", "report", "reject"])
def test_registrations_become_messages(replace: bool, change_policy: ChangePolicy) -> None:
    """Mode, policies and reading are sent by name."""
    tools = [values.encode_inline_tool(ToolDefinition(b'{"name": "n"}'))]
    assert registry_pb.RegisterToolsRequest(
        server="s",
        tools=[target_pb.InlineTool(json=b'{"name": "n"}')],
        mode="REGISTRATION_MODE_REPLACE" if replace else "REGISTRATION_MODE_UPSERT",
        change_policy=f"CHANGE_POLICY_{change_policy.upper()}",
        validate_only=True,
        protocol_version="2025-11-25",
        compatibility="COMPATIBILITY_POLICY_REJECT_BREAKING",
        reading="SCHEMA_READING_AS_WRITTEN",
    ) == registry.encode_registration(
        "s",
        tools,
        replace=replace,
        change_policy=change_policy,
        validate_only=True,
        protocol_version="2025-11-25",
        compatibility="reject-breaking",
        reading="as-written",
    )


@pytest.mark.parametrize("size", [0, 1, 127, 128, 16_383, 16_384, 2_097_152])
def test_the_size_that_a_message_adds_is_exact(size: int) -> None:
    """The size of a list element includes its tag and length."""
    item = target_pb.InlineTool(json=b"x" * size)
    request = registry_pb.RegisterToolsRequest(tools=[item])
    assert request.ByteSize() == values.element_bytes(item)
