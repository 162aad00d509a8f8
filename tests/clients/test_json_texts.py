"""JSON text of Python values and of objects of the SDKs."""

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date
from enum import Enum, IntEnum
from types import MappingProxyType
from typing import Any

import pytest
from anthropic.types import ToolUseBlock
from fastmcp import Client as FastMCPClient
from fastmcp import FastMCP
from fastmcp.tools import ToolResult as FastMCPResult
from hypothesis import given
from hypothesis import strategies as st
from mcp import types
from openai.types.chat import ChatCompletionMessageToolCall
from openai.types.chat.chat_completion_message_tool_call import Function
from pydantic import BaseModel, RootModel
from pydantic.dataclasses import dataclass as pydantic_dataclass
from sidecheck import Arguments, Registration
from sidecheck.json_texts import payload_text, protocol_text


class Unit(Enum):
    CELSIUS = "celsius"


class Rank(IntEnum):
    LOW = 1


class Inner(BaseModel):
    a: int | None = None


@dataclass
class Trip:
    """Arguments as a dataclass."""

    city: str
    start: date | None = None
    unit: Unit = Unit.CELSIUS
    inner: Inner = field(default_factory=Inner)


@pydantic_dataclass
class Checked:
    a: int | None = None


TRIP = b'{"city":"Oslo","start":null,"unit":"celsius","inner":{"a":null}}'


@pytest.mark.parametrize(
    ("expected", "payload"),
    [
        pytest.param(b'{"a":1,"a":2', b'{"a":1,"a":2', id="bytes unchanged, even if invalid"),
        pytest.param(b"", b"", id="no bytes"),
        pytest.param(b'{"a":[1,2.5,true,null]}', {"a": [1, 2.5, True, None]}, id="compact"),
        pytest.param(b'"{}"', "{}", id="str is a JSON string, not JSON text"),
        pytest.param('"é\U0001f600"'.encode(), "é\U0001f600", id="text in UTF-8, not escaped"),
        pytest.param(b"18446744073709551617", 2**64 + 1, id="integers exact"),
        pytest.param(b"null", None, id="null"),
        pytest.param(b'{"a":{}}', MappingProxyType({"a": MappingProxyType({})}), id="mappings"),
        pytest.param(b"[1,2]", (1, 2), id="tuple"),
        pytest.param(b'["celsius",1]', [Unit.CELSIUS, Rank.LOW], id="enumerations"),
        pytest.param(TRIP, Trip("Oslo"), id="dataclass"),
        pytest.param(b"[%s]" % TRIP, [Trip("Oslo")], id="dataclass inside of a value"),
        pytest.param(b'{"a":null}', Checked(), id="dataclass of pydantic"),
        pytest.param(b"[1]", RootModel[list[int]]([1]), id="root model"),
        pytest.param(b'{"m":{"a":null}}', {"m": Inner()}, id="model inside of a value"),
        pytest.param(b'{"a":[1,2]}', {"a": {2, 1}}, id="set"),
    ],
)
def test_payloads_become_json_text(expected: bytes, payload: Any) -> None:
    """Bytes are JSON text already; any other value is encoded, and None is null."""
    assert expected == payload_text(payload, "arguments")


DEEP: Any = []
for _ in range(10_000):
    DEEP = [DEEP]


@pytest.mark.parametrize(
    ("expected", "payload"),
    [
        pytest.param("/a is NaN or infinite, which JSON", {"a": float("nan")}, id="NaN"),
        pytest.param("/0 is NaN or infinite, which JSON", [float("inf")], id="infinity"),
        pytest.param("the value has a lone surrogate", "\ud800", id="lone surrogate"),
        pytest.param("/a is of type object, which has no JSON form", {"a": object()}, id="object"),
        pytest.param("the value is of type ModelMetaclass", Inner, id="a class of models"),
        pytest.param("/0 is bytes inside of a value", [b"{}"], id="bytes inside a value"),
        pytest.param("/0/0/0 nests deeper than the limit of 128", DEEP, id="deep"),
        pytest.param("Exceeds the limit", 10**5000, id="too many digits"),
        pytest.param(
            "the value is of the type Arguments of sidecheck",
            Arguments({}),
            id="a value of the client",
        ),
        pytest.param(
            "/x is of the type Registration of sidecheck", {"x": Registration()}, id="inside"
        ),
        pytest.param(
            "/m cannot be serialized as Inner: ",
            {"m": Inner.model_construct(a=object())},
            id="a model that cannot be serialized",
        ),
    ],
)
@pytest.mark.filterwarnings("ignore:Pydantic serializer warnings")
@pytest.mark.parametrize("encode", [payload_text, protocol_text])
def test_what_json_cannot_express_is_an_error(
    encode: Callable[[object, str], bytes], expected: str, payload: Any
) -> None:
    """The message has the parameter and the location."""
    if encode is protocol_text and isinstance(payload, str):
        payload = [payload]
        expected = expected.replace("the value", "/0")
    with pytest.raises(ValueError, match=expected) as raised:
        encode(payload, "arguments")
    assert str(raised.value).startswith("arguments: ")


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(max_size=3) | st.integers(), inner),
    max_leaves=10,
)


@given(value=JSON)
def test_values_are_encoded_alike_with_and_without_objects(value: Any) -> None:
    """A model somewhere in a value changes nothing elsewhere; a root model is its value."""
    for encode, item in ((payload_text, value), (protocol_text, [value])):
        try:
            expected = encode([item, 1], "value")
            assert expected == encode([item, RootModel[int](1)], "value")
        except ValueError as error:
            # A number and a string that are the same name.
            assert "two properties whose JSON name is" in str(error)  # noqa: PT017


TOOL = types.Tool(name="n", input_schema={"type": "object", "properties": {"a": {"default": None}}})
TOOL_JSON = {
    "name": "n",
    "inputSchema": {"type": "object", "properties": {"a": {"default": None}}},
}
TEXT = types.TextContent(type="text", text="t")
TEXT_JSON = {"type": "text", "text": "t"}


@pytest.mark.parametrize(
    ("expected", "value"),
    [
        pytest.param(TOOL_JSON, TOOL, id="tool"),
        pytest.param({"tools": [TOOL_JSON]}, {"tools": [TOOL]}, id="tool inside of an object"),
        pytest.param(
            {"name": "n", "arguments": {"a": None}},
            types.CallToolRequestParams(name="n", arguments={"a": None}),
            id="params, with a null in their arguments",
        ),
        pytest.param(
            {"name": "n", "arguments": {"a": None}},
            {"name": "n", "arguments": Inner()},
            id="params with a model for their arguments, which are a payload",
        ),
        pytest.param(
            {"jsonrpc": "2.0", "id": 1, "result": {"structuredContent": {"a": None}}},
            {"jsonrpc": "2.0", "id": 1, "result": {"structuredContent": Inner()}},
            id="message with a model for its structured content",
        ),
        pytest.param(
            {"jsonrpc": "2.0", "id": 1, "method": "ping"},
            types.JSONRPCRequest(jsonrpc="2.0", id=1, method="ping"),
            id="request",
        ),
        pytest.param(
            {"jsonrpc": "2.0", "id": None, "error": {"code": -32700, "message": "m"}},
            types.JSONRPCError(
                jsonrpc="2.0", id=None, error=types.ErrorData(code=-32700, message="m")
            ),
            id="error without an id, which is required",
        ),
        pytest.param(
            {"sampling": {}},
            types.ClientCapabilities(sampling=types.SamplingCapability()),
            id="capabilities",
        ),
        pytest.param([TEXT_JSON], [TEXT], id="list of content"),
        pytest.param(
            {"content": [TEXT_JSON], "isError": False},
            FastMCPResult(content=[TEXT]),
            id="result of a FastMCP server",
        ),
        pytest.param(
            {
                "content": [TEXT_JSON],
                "structuredContent": {"a": None},
                "_meta": {"m": 1},
                "isError": True,
            },
            FastMCPResult(
                content=[TEXT], structured_content={"a": None}, meta={"m": 1}, is_error=True
            ),
            id="result of a FastMCP server with all fields",
        ),
        pytest.param(
            {
                "id": "call_1",
                "function": {"arguments": "{}", "name": "n"},
                "type": "function",
            },
            ChatCompletionMessageToolCall(
                id="call_1", function=Function(arguments="{}", name="n"), type="function"
            ),
            id="call of OpenAI",
        ),
        pytest.param(
            {"id": "1", "input": {"a": None}, "name": "n", "type": "tool_use"},
            ToolUseBlock(id="1", input={"a": None}, name="n", type="tool_use"),
            id="call of Anthropic",
        ),
    ],
)
def test_objects_of_sdks_have_the_form_of_the_protocol(expected: Any, value: Any) -> None:
    """They are serialized by alias, without nulls of optional properties."""
    assert expected == json.loads(protocol_text(value, "value"))


def test_results_of_the_sdk_are_as_it_sends_them() -> None:
    """The SDK adds the properties of the newest version; older versions allow them."""
    result = types.CallToolResult(content=[TEXT], structured_content={"a": None})
    assert result.model_dump(mode="json", by_alias=True, exclude_none=True) == json.loads(
        protocol_text(result, "result")
    )


def test_objects_of_fastmcp_equal_those_of_the_protocol() -> None:
    """Declared and received objects have the JSON of the wire."""
    server: FastMCP[Any] = FastMCP("s")

    @server.tool
    def add(a: int, b: int = 1) -> int:
        """Adds."""
        return a + b

    async def ask() -> tuple[Any, Any, Any, Any]:
        async with FastMCPClient(server) as client:
            declared = await server.list_tools()
            listed = await client.list_tools()
            arguments = {"a": 1}
            received = await client.call_tool("add", arguments)
            return declared[0], listed[0], received, await client.call_tool_mcp("add", arguments)

    declared, listed, received, raw = asyncio.run(ask())
    assert json.loads(protocol_text(listed, "tool")) == json.loads(protocol_text(declared, "tool"))
    on_the_wire = json.loads(protocol_text(raw, "result"))
    on_the_wire.pop("resultType", None)
    assert on_the_wire == json.loads(protocol_text(received, "result"))
    assert {"result": 2} == on_the_wire["structuredContent"]
