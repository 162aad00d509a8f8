"""A definition has the same outcome in every method that accepts it."""

import json
from collections.abc import Iterator
from typing import Any

import grpc
import pytest
from sidecheck.v1 import conversion_service_pb2 as conversion
from sidecheck.v1 import protocol_service_pb2 as protocol
from sidecheck.v1 import registry_service_pb2 as registry
from sidecheck.v1 import target_pb2, validation_service_pb2, verdict_pb2
from sidecheck.v1.conversion_service_pb2_grpc import ConversionServiceStub
from sidecheck.v1.protocol_service_pb2_grpc import ProtocolServiceStub
from sidecheck.v1.registry_service_pb2_grpc import RegistryServiceStub
from sidecheck.v1.validation_service_pb2_grpc import ValidationServiceStub
from support.running import RunningServer
from support.wire import error_info_of, info_of

SCHEMA = {"type": "object"}
EMPTY_NAME = ("TOOL_NAME_EMPTY", "/name")
DEFINITIONS: list[tuple[str, Any, list[tuple[str, str]], str]] = [
    ("nothing wrong", {"name": "t", "inputSchema": SCHEMA}, [], ""),
    ("an empty name", {"name": "", "inputSchema": SCHEMA}, [EMPTY_NAME], ""),
    (
        "a null description",
        {"name": "t", "description": None, "inputSchema": SCHEMA},
        [("NULL_PROPERTY_DROPPED", "/description")],
        "",
    ),
    (
        "no output schema, as null",
        {"name": "t", "inputSchema": SCHEMA, "outputSchema": None},
        [("NULL_PROPERTY_DROPPED", "/outputSchema")],
        "",
    ),
    (
        "Python's names",
        {"name": "t", "input_schema": SCHEMA},
        [("SNAKE_CASE_PROPERTY_RENAMED", "/input_schema")],
        "",
    ),
    (
        "a list as output",
        {"name": "t", "inputSchema": SCHEMA, "outputSchema": {"type": "array"}},
        [("OUTPUT_SCHEMA_WRAPPED", "/outputSchema")],
        "",
    ),
    ("no name", {"inputSchema": SCHEMA}, [("REQUIRED", "")], "REQUIRED"),
    ("a number as name", {"name": 7, "inputSchema": SCHEMA}, [("TYPE", "/name")], "TYPE"),
    ("no input schema", {"name": "t"}, [("REQUIRED", "")], "REQUIRED"),
    (
        "null as input schema",
        {"name": "t", "inputSchema": None},
        [("TYPE", "/inputSchema")],
        "TYPE",
    ),
    ("a list", [{"name": "t", "inputSchema": SCHEMA}], [("TYPE", "")], "TYPE"),
]


@pytest.fixture(scope="module")
def channel(shared_server: RunningServer) -> Iterator[grpc.Channel]:
    with grpc.insecure_channel(shared_server.address) as channel:
        yield channel


@pytest.mark.parametrize(
    ("tool", "violations", "code"),
    [pytest.param(*case, id=name) for name, *case in DEFINITIONS],
)
def test_every_method_reads_a_definition_alike(
    channel: grpc.Channel, tool: Any, violations: list[tuple[str, str]], code: str
) -> None:
    """*code* is that of the error where a tool is used, or "" where it can be."""
    inline = target_pb2.InlineTool(json=json.dumps(tool).encode())
    request = registry.RegisterToolsRequest(server="s", tools=[inline], validate_only=True)
    registered = RegistryServiceStub(channel).RegisterTools(request).outcomes[0]
    checked = (
        ProtocolServiceStub(channel).CheckTools(protocol.CheckToolsRequest(tools=[inline])).outcomes
    )

    assert violations == _summary(registered.violations)
    assert violations == _summary(checked[0].verdict.violations)
    assert bool(code) == (registered.action == registry.RegistrationOutcome.ACTION_REJECTED)
    assert bool(code) != checked[0].verdict.valid
    assert code == _code_of_validation(channel, inline)
    assert code == _code_of_conversion(channel, inline)


def _summary(violations: Any) -> list[tuple[str, str]]:
    return [
        (violation.code, violation.instance_location)
        for violation in violations
        if violation.severity != verdict_pb2.SEVERITY_INFO
    ]


def _code_of_validation(channel: grpc.Channel, tool: target_pb2.InlineTool) -> str:
    request = validation_service_pb2.ValidateRequest(
        target=target_pb2.Target(inline_tool=tool), subject=target_pb2.Subject(arguments=b"{}")
    )
    try:
        response = ValidationServiceStub(channel).Validate(request)
    except grpc.RpcError as error:
        info = error_info_of(error)
        assert info.reason == "INVALID_TOOL"
        return str(info.metadata["code"])
    assert response.verdict.valid
    return ""


def _code_of_conversion(channel: grpc.Channel, tool: target_pb2.InlineTool) -> str:
    target = target_pb2.Target(inline_tool=tool)
    request = conversion.ConvertToolsRequest(
        api=conversion.MODEL_API_ANTHROPIC, tools=[conversion.ToolToConvert(tool=target)]
    )
    (outcome,) = ConversionServiceStub(channel).ConvertTools(request).conversions
    if not outcome.HasField("error"):
        assert outcome.converted.name
        return ""
    info = info_of(outcome.error)
    assert info.reason == "INVALID_TOOL"
    return str(info.metadata["code"])
