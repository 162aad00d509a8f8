"""ConversionService, through a real server: options, errors, what is told and what is logged.

What becomes of each keyword is tested with the core, and what a mapping undoes as well.
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


def test_its_health_is_told(shared_server: RunningServer) -> None:
    """By its name, like that of every service."""
    with grpc.insecure_channel(shared_server.address) as channel:
        request_for = health_pb2.HealthCheckRequest(service="sidecheck.v1.ConversionService")
        health: Any = health_pb2_grpc.HealthStub(channel)
        status = health.Check(request_for).status

    assert health_pb2.HealthCheckResponse.SERVING == status


def test_losses_are_told_with_what_was_done(stub: Any) -> None:
    """Every one has a place, an action and a direction."""
    losses = converted(stub, api=v1.MODEL_API_GEMINI).losses
    [output] = [loss for loss in losses if loss.pointer == "/outputSchema"]

    assert (v1.Loss.ACTION_DROPPED, v1.Loss.EFFECT_EQUIVALENT) == (output.action, output.effect)
    assert [] == [loss for loss in losses if not (loss.action and loss.effect and loss.message)]
    pointers = [loss.pointer for loss in losses]
    assert sorted(pointers) == pointers


def test_options_are_heeded(stub: Any) -> None:
    """Each of them changes the answer."""
    options = v1.ConversionOptions(
        mode=v1.CONVERSION_MODE_STRICT,
        server_prefix=v1.SERVER_PREFIX_ALWAYS,
        description_length=5,
    )
    request = tools_request(options=options)
    request.tools.add(tool=target(), server="files")
    [entry] = stub.ConvertTools(request).conversions

    assert ("files", "read.file", "files__read_file") == (
        entry.server,
        entry.name,
        entry.converted.name,
    )
    assert entry.converted.strict
    assert 5 == len(json.loads(entry.converted.json)["description"])


def test_one_tool_that_cannot_be_converted_does_not_affect_the_others(stub: Any) -> None:
    """It has a status of its own."""
    request = tools_request(b"{", TOOL)
    request.tools.add()
    bad, good, none = stub.ConvertTools(request).conversions

    assert ("INVALID_TOOL", "INVALID_REQUEST") == (
        info_of(bad.error).reason,
        info_of(none.error).reason,
    )
    assert "read_file" == good.converted.name


def test_registered_tools_are_converted_and_called_by_name(server: RunningServer) -> None:
    """A mapping is enough to find the definition again, as long as it is registered."""
    with grpc.insecure_channel(server.address) as channel:
        stub, registry = ConversionServiceStub(channel), RegistryServiceStub(channel)
        register = registry_service_pb2.RegisterToolsRequest(
            server="files", tools=[target().inline_tool]
        )
        registry.RegisterTools(register)
        request = v1.ConvertToolsRequest(api=v1.MODEL_API_ANTHROPIC, servers=["files"])
        [entry] = stub.ConvertTools(request).conversions
        call = call_request(tool_use(), entry.converted.mapping)
        call.ClearField("tool")
        back = stub.ConvertToolCall(call)

        reported = (back.server, back.tool, back.name, back.verdict.valid)
        assert ("files", "read.file", "read_file", True) == reported
        named = registry_service_pb2.DeleteToolsRequest(server="files", names=["read.file"])
        registry.DeleteTools(named)
        assert "UNKNOWN_DEFINITION" == rejection_of(stub.ConvertToolCall, call)[0]
        assert ("INVALID_REQUEST", "servers") == rejection_of(stub.ConvertTools, request)


def test_strings_that_hold_json_are_decoded_and_told(stub: Any) -> None:
    """Where the schema demands an array."""
    twice = {"path": "[1]", "lines": "[1, 2]"}
    mapping = converted(stub).mapping
    back = stub.ConvertToolCall(call_request(tool_use(arguments=twice), mapping))

    assert {"path": "[1]", "lines": [1, 2]} == json.loads(back.call_params)["arguments"]
    assert [("/lines", "JSON_STRING_DECODED")] == [
        (change.instance_location, change.code) for change in back.changes
    ]
    assert back.verdict.valid


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (b"", ("", "PAYLOAD_NOT_JSON")),
        (b"\xff", ("", "PAYLOAD_NOT_JSON")),
        (tool_use() | {"input": "{}"}, ("/input", "CALL_ARGUMENTS_NOT_AN_OBJECT")),
        (b'{"name": "read_file", "input": {"a": 1, "a": 2}}', ("/input/a", "DUPLICATE_KEY")),
    ],
)
def test_a_call_that_cannot_be_read_is_an_answer(
    stub: Any, call: Any, expected: tuple[str, str]
) -> None:
    """An invalid verdict, with what to tell the model."""
    back = stub.ConvertToolCall(call_request(call, converted(stub).mapping))

    assert [expected] == [
        (entry.instance_location, entry.code) for entry in back.verdict.violations
    ]
    assert (False, b"") == (back.verdict.valid, back.call_params)
    assert back.verdict.tool_error_text


def test_an_invalid_result_is_told_as_a_failure(stub: Any) -> None:
    """The output schema of the tool is heeded; the verdict is on what was given."""
    result: Any = {"content": [], "structuredContent": {}}
    sent = protocol_service_pb2.ToolResult(json=json.dumps(result).encode(), tool=target())
    reported = stub.ConvertToolResult(
        v1.ConvertToolResultRequest(api=v1.MODEL_API_ANTHROPIC, result=sent, call_id="toolu_1")
    )
    message = json.loads(reported.message)

    assert ["REQUIRED"] == [
        found.code for found in reported.verdict.violations if found.severity == 1
    ]
    assert (False, True) == (reported.verdict.valid, message["is_error"])
    assert "Output validation error: " in json.dumps(message["content"])


def test_the_log_has_counts_and_codes_and_no_values(server: RunningServer) -> None:
    """Neither of tools, nor of calls, mappings or results."""
    tool = {"name": SECRET, "inputSchema": {"type": "object", "properties": {SECRET: {}}}}
    with grpc.insecure_channel(server.address) as channel:
        stub = ConversionServiceStub(channel)
        mapping = converted(stub, tool).mapping
        call = tool_use(SECRET, {SECRET: SECRET})
        stub.ConvertToolCall(call_request(call, mapping, tool=target(tool)))
        stub.ConvertToolCall(call_request(tool_use(SECRET, SECRET), mapping, tool=target(tool)))
        rejection_of(stub.ConvertToolCall, call_request(tool_use("x" + SECRET), mapping))
        rejection_of(stub.ConvertToolCall, call_request(call, mapping[:-1], tool=target(tool)))
        sent = protocol_service_pb2.ToolResult(json=json.dumps({SECRET: SECRET}).encode())
        stub.ConvertToolResult(
            v1.ConvertToolResultRequest(
                api=v1.MODEL_API_ANTHROPIC, result=sent, call_id=SECRET, name=SECRET
            )
        )
        stub.ConvertTools(tools_request(SECRET.encode()))
    text = server.log_text()
    reported = [event for event in server.events if event["event"].startswith("rpc.")]

    assert SECRET not in text
    assert [
        ("ConvertTools", "rpc.completed"),
        ("ConvertToolCall", "rpc.completed"),
        ("ConvertToolCall", "rpc.completed"),
        ("ConvertToolCall", "rpc.rejected"),
        ("ConvertToolCall", "rpc.rejected"),
        ("ConvertToolResult", "rpc.completed"),
        ("ConvertTools", "rpc.completed"),
    ] == [(event["method"], event["event"]) for event in reported]
    assert (1, 1, 0) == (reported[-1]["tools"], reported[-1]["errors"], reported[-1]["strict"])
