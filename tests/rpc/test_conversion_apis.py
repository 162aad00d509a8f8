"""Every API, through a real server: a tool goes there, and its call and result come back."""

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
    converted,
    target,
    to_restore,
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
    said = {"name": name, "arguments": json.dumps(arguments)}
    return {"type": "function_call", "id": "fc_1", "call_id": "call_1", **said}


def anthropic_call(name: str, arguments: Any) -> Any:
    return {"type": "tool_use", "id": "call_1", "name": name, "input": arguments}


def gemini_call(name: str, arguments: Any) -> Any:
    return {"functionCall": {"id": "call_1", "name": name, "args": arguments}}


def bedrock_call(name: str, arguments: Any) -> Any:
    return {"toolUse": {"toolUseId": "call_1", "name": name, "input": arguments}}


NESTED, HI = ("function", "parameters"), '{"text": "hi"}'
CHAT_SAYS = {"role": "tool", "tool_call_id": "call_1", "content": HI}
GEMINI_SAYS = {"id": "call_1", "name": "read.file", "response": {"output": HI}}
#: The name of the tool, where its schema stands, what makes a call, and what tells a result.
APIS: Any = [
    pytest.param(v1.MODEL_API_OPENAI_CHAT, "read_file", NESTED, chat_call, CHAT_SAYS, id="chat"),
    pytest.param(
        v1.MODEL_API_OPENAI_RESPONSES,
        "read_file",
        ("parameters",),
        responses_call,
        {"type": "function_call_output", "call_id": "call_1", "output": HI},
        id="responses",
    ),
    pytest.param(
        v1.MODEL_API_ANTHROPIC,
        "read_file",
        ("input_schema",),
        anthropic_call,
        {"type": "tool_result", "tool_use_id": "call_1", "content": HI},
        id="anthropic",
    ),
    pytest.param(
        v1.MODEL_API_GEMINI,
        "read.file",
        ("parameters",),
        gemini_call,
        {"functionResponse": GEMINI_SAYS},
        id="gemini",
    ),
    pytest.param(
        v1.MODEL_API_GEMINI_JSON,
        "read.file",
        ("parametersJsonSchema",),
        gemini_call,
        {"functionResponse": GEMINI_SAYS},
        id="gemini-json",
    ),
    pytest.param(
        v1.MODEL_API_BEDROCK,
        "read_file",
        ("toolSpec", "inputSchema", "json"),
        bedrock_call,
        {"toolResult": {"toolUseId": "call_1", "content": [{"text": HI}]}},
        id="bedrock",
    ),
    pytest.param(
        v1.MODEL_API_MISTRAL,
        "read_file",
        NESTED,
        chat_call,
        {**CHAT_SAYS, "name": "read_file"},
        id="mistral",
    ),
    pytest.param(
        v1.MODEL_API_OLLAMA,
        "read_file",
        NESTED,
        ollama_call,
        {**CHAT_SAYS, "tool_name": "read_file"},
        id="ollama",
    ),
]


@pytest.mark.parametrize(("api", "name", "place", "call", "says"), APIS)
def test_a_tool_goes_to_each_api_and_its_call_and_result_come_back(
    stub: Any, api: Any, name: str, place: tuple[str, ...], call: Any, says: Any
) -> None:
    """Whatever the API calls the tool, MCP has its own name and arguments."""
    tool = converted(stub, api=api)
    schema = json.loads(tool.json)
    for step in place:
        schema = schema[step]

    assert {"path", "lines"} == schema["properties"].keys()
    assert (name, False) == (tool.name, tool.strict)
    back = stub.ConvertToolCall(to_restore(call(name, ARGUMENTS), tool.mapping))
    assert back.verdict.valid
    assert ("read.file", "call_1") == (back.tool, back.call_id)
    assert {"name": "read.file", "arguments": ARGUMENTS} == json.loads(back.call_params)
    result = protocol_service_pb2.ToolResult(json=json.dumps(RESULT).encode(), tool=target())
    told = stub.ConvertToolResult(
        v1.ConvertToolResultRequest(api=api, result=result, call_id="call_1", name=name)
    )
    assert (True, says) == (told.verdict.valid, json.loads(told.message))


@pytest.mark.parametrize(("api", "name", "place", "call", "says"), APIS)
def test_a_call_with_wrong_arguments_is_told_the_model(
    stub: Any, api: Any, name: str, place: Any, call: Any, says: Any
) -> None:
    """By the name that it knows, and as the API tells a failure."""
    tool = converted(stub, api=api)
    back = stub.ConvertToolCall(to_restore(call(name, {"path": ""}), tool.mapping))
    failure = protocol_service_pb2.ToolResult(json=back.verdict.call_tool_result)
    told = stub.ConvertToolResult(
        v1.ConvertToolResultRequest(api=api, result=failure, call_id="call_1", name=name)
    )

    assert ["/path"] == [found.instance_location for found in back.verdict.violations]
    assert name in back.verdict.tool_error_text
    assert {"path": ""} == json.loads(back.call_params)["arguments"]
    assert "Input validation error: " in json.dumps(json.loads(told.message))


def test_every_api_is_served(stub: Any) -> None:
    """A value of the enum that had no table would be a request that is never right."""
    known = {each for each in v1.ModelApi.values() if each}

    assert known == {one.values[0] for one in APIS}
