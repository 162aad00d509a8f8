"""ConversionService, through a real server: options, refusals, what is told and what is logged.

What becomes of each keyword is tested with the core, and what a plan undoes as well.
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
    converted,
    refused,
    target,
    to_convert,
    to_restore,
    tool_use,
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
        asked = health_pb2.HealthCheckRequest(service="sidecheck.v1.ConversionService")
        health: Any = health_pb2_grpc.HealthStub(channel)
        status = health.Check(asked).status

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
    request = to_convert(options=options)
    request.tools.add(tool=target(), server="files")
    [one] = stub.ConvertTools(request).conversions

    assert ("files", "read.file", "files__read_file") == (one.server, one.name, one.converted.name)
    assert one.converted.strict
    assert 5 == len(json.loads(one.converted.json)["description"])


def test_one_tool_that_cannot_be_converted_costs_the_others_nothing(stub: Any) -> None:
    """It has a status of its own."""
    request = to_convert(b"{", TOOL)
    request.tools.add()
    bad, good, none = stub.ConvertTools(request).conversions

    assert ("INVALID_TOOL", "INVALID_REQUEST") == (
        info_of(bad.refused).reason,
        info_of(none.refused).reason,
    )
    assert "read_file" == good.converted.name


def test_registered_tools_are_converted_and_called_by_name(server: RunningServer) -> None:
    """A plan is enough to find the definition again, as long as it is registered."""
    with grpc.insecure_channel(server.address) as channel:
        stub, registry = ConversionServiceStub(channel), RegistryServiceStub(channel)
        register = registry_service_pb2.RegisterToolsRequest(
            server="files", tools=[target().inline_tool]
        )
        registry.RegisterTools(register)
        request = v1.ConvertToolsRequest(api=v1.MODEL_API_ANTHROPIC, servers=["files"])
        [one] = stub.ConvertTools(request).conversions
        call = to_restore(tool_use(), one.converted.mapping)
        call.ClearField("tool")
        back = stub.ConvertToolCall(call)

        told = (back.server, back.tool, back.name, back.verdict.valid)
        assert ("files", "read.file", "read_file", True) == told
        named = registry_service_pb2.DeleteToolsRequest(server="files", names=["read.file"])
        registry.DeleteTools(named)
        assert "UNKNOWN_DEFINITION" == refused(stub.ConvertToolCall, call)[0]
        assert ("INVALID_REQUEST", "servers") == refused(stub.ConvertTools, request)


def test_strings_that_hold_json_are_decoded_and_told(stub: Any) -> None:
    """Where the schema demands an array."""
    twice = {"path": "[1]", "lines": "[1, 2]"}
    plan = converted(stub).mapping
    back = stub.ConvertToolCall(to_restore(tool_use(arguments=twice), plan))

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
    back = stub.ConvertToolCall(to_restore(call, converted(stub).mapping))

    assert [expected] == [(one.instance_location, one.code) for one in back.verdict.violations]
    assert (False, b"") == (back.verdict.valid, back.call_params)
    assert back.verdict.tool_error_text


def test_an_invalid_result_is_told_as_a_failure(stub: Any) -> None:
    """The output schema of the tool is heeded; the verdict is on what was given."""
    result: Any = {"content": [], "structuredContent": {}}
    sent = protocol_service_pb2.ToolResult(json=json.dumps(result).encode(), tool=target())
    told = stub.ConvertToolResult(
        v1.ConvertToolResultRequest(api=v1.MODEL_API_ANTHROPIC, result=sent, call_id="toolu_1")
    )
    message = json.loads(told.message)

    assert ["REQUIRED"] == [found.code for found in told.verdict.violations if found.severity == 1]
    assert (False, True) == (told.verdict.valid, message["is_error"])
    assert "Output validation error: " in json.dumps(message["content"])


def test_the_log_has_counts_and_codes_and_no_values(server: RunningServer) -> None:
    """Neither of tools, nor of calls, plans or results."""
    tool = {"name": SECRET, "inputSchema": {"type": "object", "properties": {SECRET: {}}}}
    with grpc.insecure_channel(server.address) as channel:
        stub = ConversionServiceStub(channel)
        plan = converted(stub, tool).mapping
        call = tool_use(SECRET, {SECRET: SECRET})
        stub.ConvertToolCall(to_restore(call, plan, tool=target(tool)))
        stub.ConvertToolCall(to_restore(tool_use(SECRET, SECRET), plan, tool=target(tool)))
        refused(stub.ConvertToolCall, to_restore(tool_use("x" + SECRET), plan))
        refused(stub.ConvertToolCall, to_restore(call, plan[:-1], tool=target(tool)))
        sent = protocol_service_pb2.ToolResult(json=json.dumps({SECRET: SECRET}).encode())
        stub.ConvertToolResult(
            v1.ConvertToolResultRequest(
                api=v1.MODEL_API_ANTHROPIC, result=sent, call_id=SECRET, name=SECRET
            )
        )
        stub.ConvertTools(to_convert(SECRET.encode()))
    text = server.log_text()
    told = [event for event in server.events if event["event"].startswith("rpc.")]

    assert SECRET not in text
    assert [
        ("ConvertTools", "rpc.answered"),
        ("ConvertToolCall", "rpc.answered"),
        ("ConvertToolCall", "rpc.answered"),
        ("ConvertToolCall", "rpc.refused"),
        ("ConvertToolCall", "rpc.refused"),
        ("ConvertToolResult", "rpc.answered"),
        ("ConvertTools", "rpc.answered"),
    ] == [(event["method"], event["event"]) for event in told]
    assert (1, 1, 0) == (told[-1]["tools"], told[-1]["refused"], told[-1]["strict"])
