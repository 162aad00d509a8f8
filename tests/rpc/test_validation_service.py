"""ValidationService with a real server."""

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
from support.wire import error_info_of, info_of

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
    """Yield the outcome of registering TOOL, which is deleted at the end."""
    stub: Any = RegistryServiceStub(channel)
    request = registry_service_pb2.RegisterToolsRequest(
        server=SERVER, tools=[target_pb2.InlineTool(json=json.dumps(TOOL).encode())]
    )
    yield stub.RegisterTools(request).outcomes[0]
    stub.DeleteTools(registry_service_pb2.DeleteToolsRequest(server=SERVER, all=True))


def request_for(
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


def test_a_registered_tool_is_resolved_by_name(stub: Any, registered: Any) -> None:
    """The response has both digests and the revision."""
    response = stub.Validate(request_for(named(), {"name": "Ada"}))

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


def test_every_target_kind_has_the_same_verdict(stub: Any, registered: Any) -> None:
    """Targets are name, pinned name, either digest, inline tool and inline schema."""
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
    results = [stub.Validate(request_for(target, {"nam": 1})).verdict for target in targets]
    contents = [(verdict.violations, verdict.schema_digest) for verdict in results]

    assert [contents[0]] * len(targets) == contents
    assert [True, True, True, False, True, False] == [
        bool(verdict.definition_digest) for verdict in results
    ]


def test_structured_content_is_validated_against_the_output_schema(
    stub: Any, registered: Any
) -> None:
    """There is no error text, since a model did not write the content."""
    verdict = stub.Validate(request_for(named(), structured_content=b"{}")).verdict

    assert ["REQUIRED"] == [violation.code for violation in verdict.violations]
    assert registered.output_schema_digest == verdict.schema_digest
    assert verdict.tool_error_text == ""


def test_invalid_arguments_have_an_error_text(stub: Any, registered: Any) -> None:
    """The text has the unknown name and the nearest known one."""
    text = stub.Validate(request_for(named(), {"nme": "Ada"})).verdict.tool_error_text

    assert "name" in text
    assert "nme" in text


def test_values_can_be_hidden(stub: Any) -> None:
    """With hide_values, the response has no values of the payload."""
    schema = target_pb2.InlineSchema(json=b'{"maxLength": 3, "enum": ["a"], "pattern": "^x"}')
    request = request_for(
        target_pb2.Target(inline_schema=schema),
        "hunter2-secret",
        options_pb2.ValidationOptions(hide_values=True),
    )

    assert b"hunter2" not in stub.Validate(request).SerializeToString()


INVALID_REQUESTS = [
    pytest.param(request_for(None, 1), "INVALID_REQUEST", "INVALID_ARGUMENT", id="no target"),
    pytest.param(
        validation_service_pb2.ValidateRequest(target=SCHEMA),
        "INVALID_REQUEST",
        "INVALID_ARGUMENT",
        id="no subject",
    ),
    *(
        pytest.param(
            request, "INVALID_REQUEST", "INVALID_ARGUMENT", id=f"no tool for {description}"
        )
        for description, request in {
            "params": request_for(SCHEMA, call_params=b"{}"),
            "a result": request_for(SCHEMA, call_result=b"{}"),
            "absence": request_for(SCHEMA, absent_structured_content=target_pb2.AbsentContent()),
        }.items()
    ),
    pytest.param(request_for(named("nobody"), {}), "UNKNOWN_TOOL", "NOT_FOUND", id="unknown tool"),
    pytest.param(
        request_for(named(definition_digest="sha256:00"), {}),
        "DEFINITION_MISMATCH",
        "FAILED_PRECONDITION",
        id="another definition than the pinned one",
    ),
    pytest.param(
        request_for(target_pb2.Target(definition_digest="sha256:00"), {}),
        "UNKNOWN_DEFINITION",
        "NOT_FOUND",
        id="unknown definition",
    ),
    pytest.param(
        request_for(target_pb2.Target(schema_digest="sha256:00"), {}),
        "UNKNOWN_SCHEMA",
        "NOT_FOUND",
        id="unknown schema",
    ),
    pytest.param(
        request_for(
            target_pb2.Target(inline_tool=target_pb2.InlineTool(json=b'{"name": "x"}')), {}
        ),
        "INVALID_TOOL",
        "INVALID_ARGUMENT",
        id="a tool without an input schema",
    ),
    pytest.param(
        request_for(
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
        request_for(SCHEMA, 1, options_pb2.ValidationOptions(protocol_version="2020-01-01")),
        "UNKNOWN_PROTOCOL_VERSION",
        "INVALID_ARGUMENT",
        id="unknown protocol version",
    ),
    pytest.param(
        request_for(SCHEMA, "x" * (1 << 20)), "LIMIT_EXCEEDED", "RESOURCE_EXHAUSTED", id="too large"
    ),
]


@pytest.mark.parametrize(("request_", "reason", "code"), INVALID_REQUESTS)
def test_invalid_requests_are_rejected(
    stub: Any, registered: Any, request_: Any, reason: str, code: str
) -> None:
    """The error has a status code and a reason."""
    with pytest.raises(grpc.RpcError) as raised:
        stub.Validate(request_)

    assert (reason, code) == (error_info_of(raised.value).reason, raised.value.code().name)


def test_a_batch_has_an_outcome_per_item(stub: Any, registered: Any) -> None:
    """Items can override the target; errors do not affect other items."""
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
    results = [
        info_of(outcome.error).reason
        if outcome.HasField("error")
        else [violation.code for violation in outcome.verdict.violations]
        for outcome in response.outcomes
    ]

    assert [[], ["TYPE"], ["PAYLOAD_NOT_JSON"], "UNKNOWN_TOOL", []] == results


def test_a_batch_beyond_the_limit_is_rejected(stub: Any) -> None:
    """The error names the limit."""
    item = validation_service_pb2.ValidateItem(subject=target_pb2.Subject(arguments=b"1"))
    request = validation_service_pb2.ValidateBatchRequest(target=SCHEMA, items=[item] * 10_001)
    with pytest.raises(grpc.RpcError) as raised:
        stub.ValidateBatch(request)

    assert "batch_items" == error_info_of(raised.value).metadata["bound"]


@pytest.mark.parametrize("garbage", [b"\xff", b"\x0a\x7f", b"GET / HTTP/1.1"], ids=repr)
def test_malformed_bytes_are_rejected(channel: grpc.Channel, garbage: bytes) -> None:
    """The error is INVALID_ARGUMENT, not INTERNAL."""
    call: Any = channel.unary_unary("/sidecheck.v1.ValidationService/Validate")
    with pytest.raises(grpc.RpcError) as raised:
        call(garbage)

    assert "INVALID_ARGUMENT" == raised.value.code().name
    assert "sidecheck.v1.ValidateRequest" == error_info_of(raised.value).metadata["expected"]


def test_responses_are_deterministic(stub: Any) -> None:
    """Equal requests have responses with equal bytes."""
    request = request_for(
        target_pb2.Target(
            inline_schema=target_pb2.InlineSchema(json=json.dumps(TOOL["inputSchema"]).encode())
        ),
        {"b": 1, "a": 2, "name": 3},
    )

    assert 1 == len({stub.Validate(request).SerializeToString() for _ in range(20)})
