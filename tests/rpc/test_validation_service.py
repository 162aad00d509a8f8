"""ValidationService, through a real server."""

import json
from collections.abc import Iterator
from typing import Any

import grpc
import pytest
from sidecheck.v1 import (
    options_pb2,
    registry_service_pb2,
    target_pb2,
    validation_service_pb2,
    verdict_pb2,
)
from sidecheck.v1.registry_service_pb2_grpc import RegistryServiceStub
from sidecheck.v1.validation_service_pb2_grpc import ValidationServiceStub
from support.running import RunningServer
from support.wire import info_of, refusal_of

TOOL = {
    "name": "greet",
    "inputSchema": {
        "type": "object",
        "properties": {"name": {"type": "string"}},
        "required": ["name"],
        "additionalProperties": False,
    },
    "outputSchema": {
        "type": "object",
        "properties": {"greeting": {"type": "string"}},
        "required": ["greeting"],
    },
}
SERVER = "validation-service"
SCHEMA = target_pb2.Target(inline_schema=target_pb2.InlineSchema(json=b'{"type": "integer"}'))


@pytest.fixture(scope="module")
def channel(shared_server: RunningServer) -> Iterator[grpc.Channel]:
    with grpc.insecure_channel(shared_server.address) as channel:
        yield channel


@pytest.fixture(scope="module")
def stub(channel: grpc.Channel) -> ValidationServiceStub:
    return ValidationServiceStub(channel)


@pytest.fixture(scope="module")
def registered(channel: grpc.Channel) -> Iterator[Any]:
    """The outcome of registering TOOL, which is removed in the end."""
    stub: Any = RegistryServiceStub(channel)
    request = registry_service_pb2.RegisterToolsRequest(
        server=SERVER, tools=[target_pb2.InlineTool(json=json.dumps(TOOL).encode())]
    )
    yield stub.RegisterTools(request).outcomes[0]
    stub.DeleteTools(registry_service_pb2.DeleteToolsRequest(server=SERVER, all=True))


def ask(
    target: target_pb2.Target | None,
    payload: Any = None,
    options: options_pb2.ValidationOptions | None = None,
    **subject: Any,
) -> validation_service_pb2.ValidateRequest:
    if not subject:
        subject = {"arguments": json.dumps(payload).encode()}
    return validation_service_pb2.ValidateRequest(
        target=target, subject=target_pb2.Subject(**subject), options=options
    )


def named(name: str = "greet", **pin: str) -> target_pb2.Target:
    return target_pb2.Target(
        registered_tool=target_pb2.RegisteredTool(server=SERVER, name=name, **pin)
    )


def test_a_registered_tool_judges_by_its_name(stub: Any, registered: Any) -> None:
    """The answer names both digests and the revision."""
    response = stub.Validate(ask(named(), {"name": "Ada"}))

    assert (
        verdict_pb2.Verdict(
            valid=True,
            definition_digest=registered.definition_digest,
            schema_digest=registered.input_schema_digest,
            enforced=True,
        )
        == response.verdict
    )
    assert response.registry_revision >= 1


def test_every_way_to_name_a_schema_gives_the_same_verdict(stub: Any, registered: Any) -> None:
    """By name, pinned, by either digest, and sent along."""
    tool = target_pb2.InlineTool(json=json.dumps(TOOL).encode())
    schema = target_pb2.InlineSchema(json=json.dumps(TOOL["inputSchema"]).encode())
    targets = [
        named(),
        named(definition_digest=registered.definition_digest),
        target_pb2.Target(definition_digest=registered.definition_digest),
        target_pb2.Target(schema_digest=registered.input_schema_digest),
        target_pb2.Target(inline_tool=tool),
        target_pb2.Target(inline_schema=schema),
    ]
    got = [stub.Validate(ask(target, {"nam": 1})).verdict for target in targets]
    whole = [(found.violations, found.schema_digest) for found in got]

    assert [whole[0]] * len(targets) == whole
    assert [True, True, True, False, True, False] == [bool(one.definition_digest) for one in got]


def test_structured_content_is_judged_under_the_output_schema(stub: Any, registered: Any) -> None:
    """And gets no advice for a model, which did not write it."""
    verdict = stub.Validate(ask(named(), structured_content=b"{}")).verdict

    assert ["REQUIRED"] == [found.code for found in verdict.violations]
    assert registered.output_schema_digest == verdict.schema_digest
    assert verdict.tool_error_text == ""


def test_invalid_arguments_come_with_a_text_for_the_model(stub: Any, registered: Any) -> None:
    """It names the tool's faults and the nearest name."""
    text = stub.Validate(ask(named(), {"nme": "Ada"})).verdict.tool_error_text

    assert "name" in text
    assert "nme" in text


def test_values_can_be_left_out_of_messages(stub: Any) -> None:
    """hide_values keeps what the payload holds out of the whole answer."""
    schema = target_pb2.InlineSchema(json=b'{"maxLength": 3, "enum": ["a"], "pattern": "^x"}')
    request = ask(
        target_pb2.Target(inline_schema=schema),
        "hunter2-secret",
        options_pb2.ValidationOptions(hide_values=True),
    )

    assert b"hunter2" not in stub.Validate(request).SerializeToString()


REFUSED = [
    pytest.param(ask(None, 1), "INVALID_REQUEST", "INVALID_ARGUMENT", id="no target"),
    pytest.param(
        validation_service_pb2.ValidateRequest(target=SCHEMA),
        "INVALID_REQUEST",
        "INVALID_ARGUMENT",
        id="no subject",
    ),
    *(
        pytest.param(request, "INVALID_REQUEST", "INVALID_ARGUMENT", id=f"no tool for {what}")
        for what, request in {
            "params": ask(SCHEMA, call_params=b"{}"),
            "a result": ask(SCHEMA, call_result=b"{}"),
            "absence": ask(SCHEMA, absent_structured_content=target_pb2.AbsentContent()),
        }.items()
    ),
    pytest.param(ask(named("nobody"), {}), "UNKNOWN_TOOL", "NOT_FOUND", id="unknown tool"),
    pytest.param(
        ask(named(definition_digest="sha256:00"), {}),
        "DEFINITION_MISMATCH",
        "FAILED_PRECONDITION",
        id="another definition than the pinned one",
    ),
    pytest.param(
        ask(target_pb2.Target(definition_digest="sha256:00"), {}),
        "UNKNOWN_DEFINITION",
        "NOT_FOUND",
        id="unknown definition",
    ),
    pytest.param(
        ask(target_pb2.Target(schema_digest="sha256:00"), {}),
        "UNKNOWN_SCHEMA",
        "NOT_FOUND",
        id="unknown schema",
    ),
    pytest.param(
        ask(target_pb2.Target(inline_tool=target_pb2.InlineTool(json=b'{"name": "x"}')), {}),
        "INVALID_TOOL",
        "INVALID_ARGUMENT",
        id="a tool without an input schema",
    ),
    pytest.param(
        ask(
            target_pb2.Target(
                inline_tool=target_pb2.InlineTool(json=b'{"name": "x", "inputSchema": {}}')
            ),
            structured_content=b"{}",
        ),
        "NO_OUTPUT_SCHEMA",
        "FAILED_PRECONDITION",
        id="structured content of a tool without an output schema",
    ),
    pytest.param(
        ask(SCHEMA, 1, options_pb2.ValidationOptions(protocol_version="2020-01-01")),
        "UNKNOWN_PROTOCOL_VERSION",
        "INVALID_ARGUMENT",
        id="unknown protocol version",
    ),
    pytest.param(
        ask(SCHEMA, "x" * (1 << 20)), "LIMIT_EXCEEDED", "RESOURCE_EXHAUSTED", id="too large"
    ),
]


@pytest.mark.parametrize(("request_", "reason", "code"), REFUSED)
def test_what_cannot_be_judged_is_refused(
    stub: Any, registered: Any, request_: Any, reason: str, code: str
) -> None:
    """With a status and a reason, never with a verdict."""
    with pytest.raises(grpc.RpcError) as caught:
        stub.Validate(request_)

    assert (reason, code) == (refusal_of(caught.value).reason, caught.value.code().name)


def test_a_batch_answers_each_item_by_itself(stub: Any, registered: Any) -> None:
    """In order; items may replace the target; one refusal costs the others nothing."""
    items = [
        validation_service_pb2.ValidateItem(subject=target_pb2.Subject(arguments=payload))
        for payload in (b"1", b'"x"', b"{")
    ]
    items.append(
        validation_service_pb2.ValidateItem(
            target=named("nobody"), subject=target_pb2.Subject(arguments=b"{}")
        )
    )
    items.append(
        validation_service_pb2.ValidateItem(
            target=named(), subject=target_pb2.Subject(arguments=b'{"name": "Ada"}')
        )
    )
    response = stub.ValidateBatch(
        validation_service_pb2.ValidateBatchRequest(target=SCHEMA, items=items)
    )
    got = [
        info_of(one.refusal).reason
        if one.HasField("refusal")
        else [found.code for found in one.verdict.violations]
        for one in response.outcomes
    ]

    assert [[], ["TYPE"], ["PAYLOAD_NOT_JSON"], "UNKNOWN_TOOL", []] == got


def test_a_batch_beyond_the_limit_is_refused_whole(stub: Any) -> None:
    """With the bound named."""
    item = validation_service_pb2.ValidateItem(subject=target_pb2.Subject(arguments=b"1"))
    request = validation_service_pb2.ValidateBatchRequest(target=SCHEMA, items=[item] * 10_001)
    with pytest.raises(grpc.RpcError) as caught:
        stub.ValidateBatch(request)

    assert "batch_items" == refusal_of(caught.value).metadata["bound"]


@pytest.mark.parametrize("garbage", [b"\xff", b"\x0a\x7f", b"GET / HTTP/1.1"], ids=repr)
def test_bytes_that_are_no_message_are_refused(channel: grpc.Channel, garbage: bytes) -> None:
    """As a request that is wrong, not as a fault of the server."""
    call: Any = channel.unary_unary("/sidecheck.v1.ValidationService/Validate")
    with pytest.raises(grpc.RpcError) as caught:
        call(garbage)

    assert "INVALID_ARGUMENT" == caught.value.code().name
    assert "sidecheck.v1.ValidateRequest" == refusal_of(caught.value).metadata["expected"]


def test_the_same_bytes_get_the_same_answer(stub: Any) -> None:
    """Byte for byte."""
    request = ask(
        target_pb2.Target(
            inline_schema=target_pb2.InlineSchema(json=json.dumps(TOOL["inputSchema"]).encode())
        ),
        {"b": 1, "a": 2, "name": 3},
    )

    assert 1 == len({stub.Validate(request).SerializeToString() for _ in range(20)})
