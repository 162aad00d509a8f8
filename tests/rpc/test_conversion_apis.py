"""Conversion of tools, calls and results for every API by a real server."""

import json
from collections.abc import Iterator
from typing import Any

import grpc
import pytest
from sidecheck.v1 import conversion_service_pb2 as v1
from sidecheck.v1 import protocol_service_pb2
from sidecheck.v1.conversion_service_pb2_grpc import ConversionServiceStub
from support.conversion_requests import (
    ARGUMENTS,
    RESULT,
    call_request,
    converted,
    target,
)
from support.running import RunningServer


@pytest.fixture(scope="module")
def stub(shared_server: RunningServer) -> Iterator[Any]:
    with grpc.insecure_channel(shared_server.address) as channel:
        yield ConversionServiceStub(channel)


def chat_call(name: str, arguments: Any) -> Any:
    function = {"name": name, "arguments": json.dumps(arguments)}
    return {"id": "call_1", "type": "function", "function": function}


def ollama_call(name: str, arguments: Any) -> Any:
    return {"id": "call_1", "function": {"name": name, "arguments": arguments}}


def responses_call(name: str, arguments: Any) -> Any:
    function = {"name": name, "arguments": json.dumps(arguments)}
    return {"type": "function_call", "id": "fc_1", "call_id": "call_1", **function}


def anthropic_call(name: str, arguments: Any) -> Any:
    return {"type": "tool_use", "id": "call_1", "name": name, "input": arguments}


def gemini_call(name: str, arguments: Any) -> Any:
    return {"functionCall": {"id": "call_1", "name": name, "args": arguments}}


def bedrock_call(name: str, arguments: Any) -> Any:
    return {"toolUse": {"toolUseId": "call_1", "name": name, "input": arguments}}


def mcp_call(name: str, arguments: Any) -> Any:
    return {"name": name, "arguments": arguments}


NESTED, RESULT_TEXT = ("function", "parameters"), '{"text": "hi"}'
CHAT_RESULT = {"role": "tool", "tool_call_id": "call_1", "content": RESULT_TEXT}
GEMINI_RESULT = {"id": "call_1", "name": "read.file", "response": {"output": RESULT_TEXT}}
#: API, converted name, path of the schema, factory of a call, expected result message.
APIS: Any = [
    pytest.param(v1.MODEL_API_OPENAI_CHAT, "read_file", NESTED, chat_call, CHAT_RESULT, id="chat"),
    pytest.param(
        v1.MODEL_API_OPENAI_RESPONSES,
        "read_file",
        ("parameters",),
        responses_call,
        {"type": "function_call_output", "call_id": "call_1", "output": RESULT_TEXT},
        id="responses",
    ),
    pytest.param(
        v1.MODEL_API_ANTHROPIC,
        "read_file",
        ("input_schema",),
        anthropic_call,
        {"type": "tool_result", "tool_use_id": "call_1", "content": RESULT_TEXT},
        id="anthropic",
    ),
    pytest.param(
        v1.MODEL_API_GEMINI,
        "read.file",
        ("parameters",),
        gemini_call,
        {"functionResponse": GEMINI_RESULT},
        id="gemini",
    ),
    pytest.param(
        v1.MODEL_API_GEMINI_JSON,
        "read.file",
        ("parametersJsonSchema",),
        gemini_call,
        {"functionResponse": GEMINI_RESULT},
        id="gemini-json",
    ),
    pytest.param(
        v1.MODEL_API_BEDROCK,
        "read_file",
        ("toolSpec", "inputSchema", "json"),
        bedrock_call,
        {"toolResult": {"toolUseId": "call_1", "content": [{"text": RESULT_TEXT}]}},
        id="bedrock",
    ),
    pytest.param(
        v1.MODEL_API_MISTRAL,
        "read_file",
        NESTED,
        chat_call,
        {**CHAT_RESULT, "tool_call_id": "rKSxKBV4V", "name": "read_file"},
        id="mistral",
    ),
    pytest.param(
        v1.MODEL_API_OLLAMA,
        "read_file",
        NESTED,
        ollama_call,
        {**CHAT_RESULT, "tool_name": "read_file"},
        id="ollama",
    ),
    pytest.param(v1.MODEL_API_MCP, "read_file", ("inputSchema",), mcp_call, RESULT, id="mcp"),
]


@pytest.mark.parametrize(("api", "name", "schema_path", "make_call", "expected_message"), APIS)
def test_tools_calls_and_results_are_converted_for_each_api(
    stub: Any,
    api: Any,
    name: str,
    schema_path: tuple[str, ...],
    make_call: Any,
    expected_message: Any,
) -> None:
    """The converted call has the tool's MCP name and arguments."""
    tool = converted(stub, api=api)
    schema = json.loads(tool.json)
    for step in schema_path:
        schema = schema[step]

    assert {"path", "lines"} == schema["properties"].keys()
    assert (name, False) == (tool.name, tool.strict)
    call_response = stub.ConvertToolCall(call_request(make_call(name, ARGUMENTS), tool.mapping))
    assert call_response.verdict.valid
    # The id of a call in MCP is that of its JSON-RPC request, which is not in the params.
    call_id = "" if api == v1.MODEL_API_MCP else "call_1"
    assert ("read.file", call_id) == (call_response.tool, call_response.call_id)
    assert {"name": "read.file", "arguments": ARGUMENTS} == json.loads(call_response.call_params)
    result = protocol_service_pb2.ToolResult(json=json.dumps(RESULT).encode(), tool=target())
    result_response = stub.ConvertToolResult(
        v1.ConvertToolResultRequest(api=api, result=result, call_id="call_1", name=name)
    )
    assert (True, expected_message) == (
        result_response.verdict.valid,
        json.loads(result_response.message),
    )


@pytest.mark.parametrize(("api", "name", "schema_path", "make_call", "expected_message"), APIS)
def test_invalid_arguments_are_reported_to_the_model(
    stub: Any, api: Any, name: str, schema_path: Any, make_call: Any, expected_message: Any
) -> None:
    """The message has the model's name of the tool and is a failure of the API."""
    tool = converted(stub, api=api)
    call_response = stub.ConvertToolCall(call_request(make_call(name, {"path": ""}), tool.mapping))
    failure = protocol_service_pb2.ToolResult(json=call_response.verdict.call_tool_result)
    result_response = stub.ConvertToolResult(
        v1.ConvertToolResultRequest(api=api, result=failure, call_id="call_1", name=name)
    )

    assert ["/path"] == [
        violation.instance_location for violation in call_response.verdict.violations
    ]
    assert name in call_response.verdict.tool_error_text
    assert {"path": ""} == json.loads(call_response.call_params)["arguments"]
    assert "Input validation error: " in json.dumps(json.loads(result_response.message))


def test_every_api_is_served(stub: Any) -> None:
    """Every value of the enum has a case."""
    known = {api for api in v1.ModelApi.values() if api}

    assert known == {case.values[0] for case in APIS}
