"""Responses name the items that a request's limit of steps left out."""

import json
from collections.abc import Iterator
from typing import Any

import grpc
import pytest
from google.protobuf.message import Message
from sidecheck import Arguments, BlockingClient, Item, Schema, SidecheckError, Verdict
from sidecheck.v1 import (
    conversion_service_pb2,
    protocol_service_pb2,
    registry_service_pb2,
    target_pb2,
    validation_service_pb2,
    verdict_pb2,
)
from sidecheck.v1.conversion_service_pb2_grpc import ConversionServiceStub
from sidecheck.v1.protocol_service_pb2_grpc import ProtocolServiceStub
from sidecheck.v1.registry_service_pb2_grpc import RegistryServiceStub
from sidecheck.v1.validation_service_pb2_grpc import ValidationServiceStub
from support.running import RunningServer
from support.wire import info_of

MESSAGE = (
    "not reached: the items before it took all 1 steps of the request (request_steps); "
    "send it again in another request"
)
METADATA = {"bound": "request_steps", "limit": "1"}
VIOLATION = verdict_pb2.Violation(
    code="LIMIT_EXCEEDED", severity=verdict_pb2.SEVERITY_ERROR, message=MESSAGE
)
VERDICT = verdict_pb2.Verdict(violations=[VIOLATION], enforced=True)


@pytest.fixture(scope="module")
def server_address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Return the address of a server with one step per request, which the first item takes."""
    running = RunningServer(tmp_path_factory.mktemp("server"), SIDECHECK_LIMITS__REQUEST_STEPS="1")
    yield running.address
    running.close()


@pytest.fixture
def channel(server_address: str) -> Iterator[grpc.Channel]:
    """Return a channel to the server."""
    with grpc.insecure_channel(server_address) as channel:
        yield channel


def tool(name: str) -> target_pb2.InlineTool:
    """Return a definition so large that the next definition is in another group."""
    definition = {
        "name": name,
        "description": "x" * 60_000,
        "inputSchema": {"type": "object", "properties": {name: {"type": "string"}}},
    }
    return target_pb2.InlineTool(json=json.dumps(definition).encode())


def errors_of(outcomes: Any) -> list[tuple[str, dict[str, str]] | None]:
    """Return the message and metadata of the error of each outcome, None without an error."""
    return [
        (outcome.error.message, dict(info_of(outcome.error).metadata))
        if outcome.HasField("error")
        else None
        for outcome in outcomes
    ]


def test_payloads_of_a_batch(channel: grpc.Channel) -> None:
    """The first payload is validated."""
    schema = target_pb2.InlineSchema(json=b'{"type": "integer"}')
    items = [validation_service_pb2.ValidateItem(subject=target_pb2.Subject(arguments=b"1"))] * 3
    stub: Any = ValidationServiceStub(channel)
    response = stub.ValidateBatch(
        validation_service_pb2.ValidateBatchRequest(
            target=target_pb2.Target(inline_schema=schema), items=items
        )
    )

    assert response.outcomes[0].verdict.valid
    assert [None, (MESSAGE, METADATA), (MESSAGE, METADATA)] == errors_of(response.outcomes)


def test_payloads_of_a_batch_of_the_python_client(server_address: str) -> None:
    """The client returns the error of the second item."""
    with BlockingClient(server_address) as client:
        items = [Item(Arguments(number)) for number in (1, 2)]
        first, second = client.validate_batch(items, target=Schema({"type": "integer"}))

    assert isinstance(first, Verdict)
    assert first.valid
    assert isinstance(second, SidecheckError)
    assert ("LIMIT_EXCEEDED", MESSAGE, METADATA) == (second.reason, second.message, second.metadata)


def test_items_of_a_batch_of_checks(channel: grpc.Channel) -> None:
    """The first item is checked."""
    item = protocol_service_pb2.CheckItem(
        message=protocol_service_pb2.ProtocolMessage(
            json=b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}'
        )
    )
    stub: Any = ProtocolServiceStub(channel)
    response = stub.CheckBatch(protocol_service_pb2.CheckBatchRequest(items=[item] * 3))

    assert response.outcomes[0].result.verdict.valid
    assert [None, (MESSAGE, METADATA), (MESSAGE, METADATA)] == errors_of(response.outcomes)


def test_tools_to_check(channel: grpc.Channel) -> None:
    """The first group is checked; the other tools are rejected, without a name."""
    stub: Any = ProtocolServiceStub(channel)
    response = stub.CheckTools(
        protocol_service_pb2.CheckToolsRequest(tools=[tool("a"), tool("b"), tool("c")])
    )
    not_reached = protocol_service_pb2.ToolOutcome(
        disposition=protocol_service_pb2.ToolOutcome.DISPOSITION_DROP, verdict=VERDICT
    )

    assert ("a", True) == (response.outcomes[0].name, response.outcomes[0].verdict.valid)
    assert [not_reached] * 2 == response.outcomes[1:]


def test_tools_to_register(channel: grpc.Channel) -> None:
    """Tools that are not reached are rejected, and REPLACE then removes no tool."""
    stub: Any = RegistryServiceStub(channel)

    def register(*names: str) -> Any:
        return stub.RegisterTools(
            registry_service_pb2.RegisterToolsRequest(
                server="s",
                tools=map(tool, names),
                mode=registry_service_pb2.REGISTRATION_MODE_REPLACE,
            )
        )

    register("kept")
    response = register("a", "b", "c")
    listed = stub.ListTools(registry_service_pb2.ListToolsRequest(server="s"))
    replaced = register("a")
    not_reached = registry_service_pb2.RegistrationOutcome(
        action=registry_service_pb2.RegistrationOutcome.ACTION_REJECTED, violations=[VIOLATION]
    )

    created = registry_service_pb2.RegistrationOutcome.ACTION_CREATED
    assert ("a", created) == (response.outcomes[0].name, response.outcomes[0].action)
    assert [not_reached] * 2 == response.outcomes[1:]
    assert [] == list(response.removed)
    assert ["a", "kept"] == [registered.name for registered in listed.tools]
    assert ["kept"] == list(replaced.removed)


def test_tools_to_convert(channel: grpc.Channel) -> None:
    """The first tool is converted."""
    stub: Any = ConversionServiceStub(channel)
    response = stub.ConvertTools(
        conversion_service_pb2.ConvertToolsRequest(
            api=conversion_service_pb2.MODEL_API_OPENAI_CHAT,
            tools=[
                conversion_service_pb2.ToolToConvert(tool=target_pb2.Target(inline_tool=tool(name)))
                for name in ("a", "b")
            ],
        )
    )

    assert "a" == response.conversions[0].converted.name
    assert [None, (MESSAGE, METADATA)] == errors_of(response.conversions)


def test_names(channel: grpc.Channel) -> None:
    """Names that are not reached have no collisions."""
    stub: Any = ProtocolServiceStub(channel)
    response = stub.CheckToolNames(
        protocol_service_pb2.CheckToolNamesRequest(names=["a", "b", "b"])
    )
    not_reached = protocol_service_pb2.ToolNameOutcome(verdict=VERDICT)

    assert [
        protocol_service_pb2.ToolNameOutcome(
            verdict=verdict_pb2.Verdict(valid=True, enforced=True), sdk_valid=True, sanitized="a"
        ),
        not_reached,
        not_reached,
    ] == list(response.outcomes)
    assert [] == list(response.collisions)


def test_one_subject_beyond_the_limit(channel: grpc.Channel) -> None:
    """The request fails as a whole: a repetition would not get further."""
    schemas = [
        {"name": f"t{n}", "inputSchema": {"type": "object", "properties": {f"a{n}": {}}}}
        for n in range(70)
    ]
    params = {"maxTokens": 1, "messages": [], "tools": schemas}
    request: Message = protocol_service_pb2.CheckSamplingRequest(
        context=protocol_service_pb2.ProtocolContext(protocol_version="2025-11-25"),
        sampling=protocol_service_pb2.Sampling(params=json.dumps(params).encode()),
    )
    stub: Any = ProtocolServiceStub(channel)
    with pytest.raises(grpc.RpcError) as raised:
        stub.CheckSampling(request)
    error: Any = raised.value

    assert grpc.StatusCode.RESOURCE_EXHAUSTED is error.code()
    assert "the request takes too long: more than the limit of 1 (request_steps)" == error.details()
