"""ConversionService with a real server: options, errors, responses, log.

Keywords and decoding are tested with the core.
"""

import json
from collections.abc import Iterator
from typing import Any

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from sidecheck.v1 import conversion_service_pb2 as v1
from sidecheck.v1 import protocol_service_pb2, registry_service_pb2
from sidecheck.v1.conversion_service_pb2_grpc import ConversionServiceStub
from sidecheck.v1.registry_service_pb2_grpc import RegistryServiceStub
from support.conversion_requests import (
    TOOL,
    call_request,
    converted,
    rejection_of,
    target,
    tool_use,
    tools_request,
)
from support.running import RunningServer
from support.wire import info_of

SECRET = "hunter2"


@pytest.fixture(scope="module")
def stub(shared_server: RunningServer) -> Iterator[Any]:
    with grpc.insecure_channel(shared_server.address) as channel:
        yield ConversionServiceStub(channel)


def test_the_health_of_the_service_is_served(shared_server: RunningServer) -> None:
    """The service has a health status by name."""
    with grpc.insecure_channel(shared_server.address) as channel:
        request = health_pb2.HealthCheckRequest(service="sidecheck.v1.ConversionService")
        health: Any = health_pb2_grpc.HealthStub(channel)
        status = health.Check(request).status

    assert health_pb2.HealthCheckResponse.SERVING == status


def test_losses_have_location_action_and_effect(stub: Any) -> None:
    """Losses are sorted by location."""
    losses = converted(stub, api=v1.MODEL_API_GEMINI).losses
    [output] = [loss for loss in losses if loss.pointer == "/outputSchema"]

    assert (v1.Loss.ACTION_DROPPED, v1.Loss.EFFECT_EQUIVALENT) == (output.action, output.effect)
    assert [] == [loss for loss in losses if not (loss.action and loss.effect and loss.message)]
    pointers = [loss.pointer for loss in losses]
    assert sorted(pointers) == pointers


def test_options_are_applied(stub: Any) -> None:
    """Each option changes the converted tool."""
    options = v1.ConversionOptions(
        mode=v1.CONVERSION_MODE_STRICT,
        server_prefix=v1.SERVER_PREFIX_ALWAYS,
        description_length=5,
    )
    request = tools_request(options=options)
    request.tools.add(tool=target(), server="files")
    [conversion] = stub.ConvertTools(request).conversions

    assert ("files", "read.file", "files__read_file") == (
        conversion.server,
        conversion.name,
        conversion.converted.name,
    )
    assert conversion.converted.strict
    assert 5 == len(json.loads(conversion.converted.json)["description"])


def test_an_inconvertible_tool_does_not_affect_others(stub: Any) -> None:
    """Each tool that fails has its own status."""
    request = tools_request(b"{", TOOL)
    request.tools.add()
    invalid, valid, unset = stub.ConvertTools(request).conversions

    assert ("INVALID_TOOL", "INVALID_REQUEST") == (
        info_of(invalid.error).reason,
        info_of(unset.error).reason,
    )
    assert "read_file" == valid.converted.name


def test_registered_tools_are_converted_and_called_by_name(server: RunningServer) -> None:
    """The mapping resolves the definition while it is registered."""
    with grpc.insecure_channel(server.address) as channel:
        stub, registry = ConversionServiceStub(channel), RegistryServiceStub(channel)
        register = registry_service_pb2.RegisterToolsRequest(
            server="files", tools=[target().inline_tool]
        )
        registry.RegisterTools(register)
        request = v1.ConvertToolsRequest(api=v1.MODEL_API_ANTHROPIC, servers=["files"])
        [conversion] = stub.ConvertTools(request).conversions
        call = call_request(tool_use(), conversion.converted.mapping)
        call.ClearField("tool")
        response = stub.ConvertToolCall(call)

        actual = (response.server, response.tool, response.name, response.verdict.valid)
        assert ("files", "read.file", "read_file", True) == actual
        delete = registry_service_pb2.DeleteToolsRequest(server="files", names=["read.file"])
        registry.DeleteTools(delete)
        assert "UNKNOWN_DEFINITION" == rejection_of(stub.ConvertToolCall, call)[0]
        assert ("INVALID_REQUEST", "servers") == rejection_of(stub.ConvertTools, request)


def test_json_strings_are_decoded_and_listed(stub: Any) -> None:
    """Strings are decoded where the schema requires an array."""
    arguments = {"path": "[1]", "lines": "[1, 2]"}
    mapping = converted(stub).mapping
    response = stub.ConvertToolCall(call_request(tool_use(arguments=arguments), mapping))

    assert {"path": "[1]", "lines": [1, 2]} == json.loads(response.call_params)["arguments"]
    assert [("/lines", "JSON_STRING_DECODED")] == [
        (change.instance_location, change.code) for change in response.changes
    ]
    assert response.verdict.valid


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (b"", ("", "PAYLOAD_NOT_JSON")),
        (b"\xff", ("", "PAYLOAD_NOT_JSON")),
        (tool_use() | {"input": "{}"}, ("/input", "CALL_ARGUMENTS_NOT_AN_OBJECT")),
        (b'{"name": "read_file", "input": {"a": 1, "a": 2}}', ("/input/a", "DUPLICATE_KEY")),
    ],
)
def test_an_unreadable_call_has_an_invalid_verdict(
    stub: Any, call: Any, expected: tuple[str, str]
) -> None:
    """The verdict has an error text for the model."""
    response = stub.ConvertToolCall(call_request(call, converted(stub).mapping))

    assert [expected] == [
        (violation.instance_location, violation.code) for violation in response.verdict.violations
    ]
    assert (False, b"") == (response.verdict.valid, response.call_params)
    assert response.verdict.tool_error_text


def test_an_invalid_result_is_converted_to_a_failure(stub: Any) -> None:
    """The tool's output schema applies; the verdict is on the original result."""
    result: Any = {"content": [], "structuredContent": {}}
    tool_result = protocol_service_pb2.ToolResult(json=json.dumps(result).encode(), tool=target())
    response = stub.ConvertToolResult(
        v1.ConvertToolResultRequest(
            api=v1.MODEL_API_ANTHROPIC, result=tool_result, call_id="toolu_1"
        )
    )
    message = json.loads(response.message)

    assert ["REQUIRED"] == [
        violation.code for violation in response.verdict.violations if violation.severity == 1
    ]
    assert (False, True) == (response.verdict.valid, message["is_error"])
    assert "Output validation error: " in json.dumps(message["content"])


def test_the_log_has_counts_and_codes_and_no_values(server: RunningServer) -> None:
    """No values of tools, calls, mappings or results are logged."""
    tool = {"name": SECRET, "inputSchema": {"type": "object", "properties": {SECRET: {}}}}
    with grpc.insecure_channel(server.address) as channel:
        stub = ConversionServiceStub(channel)
        mapping = converted(stub, tool).mapping
        call = tool_use(SECRET, {SECRET: SECRET})
        stub.ConvertToolCall(call_request(call, mapping, tool=target(tool)))
        stub.ConvertToolCall(call_request(tool_use(SECRET, SECRET), mapping, tool=target(tool)))
        rejection_of(stub.ConvertToolCall, call_request(tool_use("x" + SECRET), mapping))
        rejection_of(stub.ConvertToolCall, call_request(call, mapping[:-1], tool=target(tool)))
        tool_result = protocol_service_pb2.ToolResult(json=json.dumps({SECRET: SECRET}).encode())
        stub.ConvertToolResult(
            v1.ConvertToolResultRequest(
                api=v1.MODEL_API_ANTHROPIC, result=tool_result, call_id=SECRET, name=SECRET
            )
        )
        stub.ConvertTools(tools_request(SECRET.encode()))
    text = server.log_text()
    events = [event for event in server.events if event["event"].startswith("rpc.")]

    assert SECRET not in text
    assert [
        ("ConvertTools", "rpc.completed"),
        ("ConvertToolCall", "rpc.completed"),
        ("ConvertToolCall", "rpc.completed"),
        ("ConvertToolCall", "rpc.rejected"),
        ("ConvertToolCall", "rpc.rejected"),
        ("ConvertToolResult", "rpc.completed"),
        ("ConvertTools", "rpc.completed"),
    ] == [(event["method"], event["event"]) for event in events]
    assert (1, 1, 0) == (events[-1]["tools"], events[-1]["errors"], events[-1]["strict"])
