"""Conversions by the Python client, asynchronous and blocking, with a real server."""

import json
from typing import Any

import pytest
from sidecheck import (
    Client,
    ConversionMode,
    ConversionOptions,
    ConvertedTool,
    DefinitionDigest,
    Document,
    Loss,
    ModelApi,
    Options,
    RegisteredTool,
    ServerPrefix,
    SidecheckError,
    ToolDefinition,
    ToolToConvert,
)
from support.weather_tools import ALERTS, FORECAST, register

#: A tool whose name only Gemini accepts.
TIDES = {
    "name": "get.tides",
    "description": "Tells when the water is high.",
    "inputSchema": {
        "type": "object",
        "properties": {
            "port": {"type": "string", "minLength": 3},
            "days": {"type": "integer", "minimum": 1},
        },
        "required": ["port"],
        "additionalProperties": False,
    },
}
STRICT = ConversionOptions(mode=ConversionMode.STRICT)
RESULT = {"content": [{"type": "text", "text": "06:12"}]}


def chat_call(name: str, arguments: Any) -> dict[str, Any]:
    """Return a tool call in the format of Chat Completions."""
    function = {"name": name, "arguments": json.dumps(arguments)}
    return {"id": "call_1", "type": "function", "function": function}


async def test_a_bad_tool_does_not_affect_the_others(client: Client) -> None:
    """Every tool, in any form, has its own outcome."""
    converted = await client.conversion.convert_tools(
        ModelApi.ANTHROPIC,
        [
            TIDES,
            {"name": "bad"},
            json.dumps(FORECAST).encode(),
            ToolDefinition(json.dumps(ALERTS).encode()),
        ],
    )
    error = converted.conversions[1].outcome

    assert ["get_tides", "get_forecast", "get_alerts"] == [tool["name"] for tool in converted.tools]
    assert ["get.tides", "bad", "get_forecast", "get_alerts"] == [
        conversion.name for conversion in converted.conversions
    ]
    assert isinstance(error, SidecheckError)
    assert "INVALID_TOOL" == error.reason
    assert converted.request.valid


async def test_a_loss_has_a_pointer_and_an_effect(client: Client) -> None:
    """Losses also have a keyword, an action and a message."""
    converted = await client.conversion.convert_tools(ModelApi.OPENAI_CHAT, [TIDES], options=STRICT)
    (tool,) = converted.converted

    assert (True, "") == (tool.strict, tool.not_strict_reason)
    assert {
        ("/inputSchema", "required", "encoded", "equivalent"),
        ("/inputSchema/properties/port", "minLength", "described", "widened"),
        ("/name", "", "encoded", "equivalent"),
    } == {(loss.pointer, loss.keyword, loss.action, loss.effect) for loss in tool.losses}
    assert all(isinstance(loss, Loss) and loss.message for loss in tool.losses)


async def test_the_reason_why_a_tool_is_not_strict_is_returned(client: Client) -> None:
    """This is the case in the mode `STRICT_IF_LOSSLESS`."""
    options = ConversionOptions(mode=ConversionMode.STRICT_IF_LOSSLESS)
    converted = await client.conversion.convert_tools(
        ModelApi.OPENAI_CHAT, [TIDES], options=options
    )
    (tool,) = converted.converted

    assert not tool.strict
    assert "/inputSchema/properties/port" in tool.not_strict_reason


async def test_registered_tools_are_converted_too(client: Client) -> None:
    """Tools may be selected by name, by digest or by server.

    Of equal tools only the last is converted; prefixes distinguish servers.
    """
    await register(client, FORECAST, ALERTS)
    registered = await client.get("weather", "get_alerts")
    converted = await client.conversion.convert_tools(
        ModelApi.MISTRAL,
        [
            RegisteredTool("weather", "get_alerts"),
            DefinitionDigest(registered.definition_digest),
            ToolToConvert(ToolDefinition(TIDES), "sea"),
        ],
        servers=["weather"],
    )

    assert [
        ("weather", "get_alerts", False),
        ("weather", "get_alerts", False),
        ("sea", "get.tides", True),
        ("weather", "get_alerts", True),
        ("weather", "get_forecast", True),
    ] == [
        (conversion.server, conversion.name, isinstance(conversion.outcome, ConvertedTool))
        for conversion in converted.conversions
    ]
    assert ["sea__get_tides", "weather__get_alerts", "weather__get_forecast"] == [
        tool.name for tool in converted.converted
    ]


async def test_prefixes_and_documents_are_applied(client: Client) -> None:
    """The prefix option is applied, and references to documents are resolved."""
    schema = {"type": "object", "properties": {"city": {"$ref": "https://example.com/city"}}}
    tool = ToolDefinition(
        {"name": "by_city", "inputSchema": schema},
        (Document("https://example.com/city", {"type": "string"}),),
    )
    options = ConversionOptions(server_prefix=ServerPrefix.ALWAYS)
    tools = [ToolToConvert(tool, "maps")]
    converted = await client.conversion.convert_tools(ModelApi.OLLAMA, tools, options=options)

    assert ["maps__by_city"] == [item["function"]["name"] for item in converted.tools]
    assert "string" in json.dumps(converted.tools)


async def test_a_call_is_converted_back(client: Client) -> None:
    """The mappings of all tools of a request and an inline tool may be passed."""
    converted = await client.conversion.convert_tools(
        ModelApi.OPENAI_CHAT, [FORECAST, TIDES], options=STRICT
    )
    call = chat_call("get_tides", {"port": "Oslo", "days": None})
    restored = await client.conversion.convert_tool_call(
        call, converted.mappings, tool=ToolDefinition(TIDES)
    )

    assert ("get.tides", "call_1", {"port": "Oslo"}) == (
        restored.tool,
        restored.call_id,
        restored.arguments,
    )
    assert {"name": "get.tides", "arguments": {"port": "Oslo"}} == restored.call_params.value
    assert restored.verdict.valid
    assert [("/days", "SYNTHETIC_NULL_REMOVED")] == [
        (change.instance_location, change.code) for change in restored.changes
    ]


async def test_a_call_is_validated_against_the_original(client: Client) -> None:
    """The mapping identifies the registered tool; a single mapping may be passed."""
    await register(client, TIDES)
    converted = await client.conversion.convert_tools(
        ModelApi.OPENAI_CHAT, [RegisteredTool("weather", "get.tides")], options=STRICT
    )
    call = chat_call("get_tides", {"port": "Os", "days": None})
    restored = await client.conversion.convert_tool_call(call, converted.mappings[0])
    hidden = await client.conversion.convert_tool_call(
        json.dumps(chat_call("get_tides", {"port": "Secret", "days": "Secret"})).encode(),
        json.loads(converted.mappings[0]),
        options=Options(hide_values=True),
    )

    assert ("weather", "get.tides") == (restored.server, restored.tool)
    assert ["MIN_LENGTH"] == [violation.code for violation in restored.verdict.violations]
    assert "port" in restored.verdict.tool_error_text
    assert ["TYPE"] == [violation.code for violation in hidden.verdict.violations]
    assert "Secret" not in hidden.verdict.tool_error_text


async def test_a_call_that_cannot_be_read_has_a_verdict(client: Client) -> None:
    """It has no arguments, which differs from empty ones."""
    converted = await client.conversion.convert_tools(ModelApi.OPENAI_CHAT, [TIDES])
    call = chat_call("get_tides", {})
    call["function"]["arguments"] = '{"port": "Os'
    tool = ToolDefinition(TIDES)
    restored = await client.conversion.convert_tool_call(call, converted.mappings, tool=tool)

    assert (b"", None, False) == (
        restored.call_params,
        restored.arguments,
        restored.verdict.valid,
    )
    assert ["/function/arguments"] == [
        violation.instance_location for violation in restored.verdict.violations
    ]


@pytest.mark.parametrize(
    ("reason", "call", "mappings"),
    [
        ("MAPPING_MISMATCH", chat_call("get_tide", {}), None),
        ("INVALID_MAPPING", chat_call("get_tides", {}), b"{}"),
        ("INVALID_REQUEST", chat_call("get_tides", {}), []),
    ],
)
async def test_mappings_that_do_not_match_are_errors(
    client: Client, reason: str, call: Any, mappings: Any
) -> None:
    """A call needs a matching, valid mapping."""
    converted = await client.conversion.convert_tools(ModelApi.OPENAI_CHAT, [TIDES])
    if mappings is None:
        mappings = converted.mappings
    with pytest.raises(SidecheckError) as caught:
        await client.conversion.convert_tool_call(call, mappings, tool=ToolDefinition(TIDES))

    assert reason == caught.value.reason


@pytest.mark.parametrize(
    ("expected", "api"),
    [
        ({"role": "tool", "tool_call_id": "c", "content": "06:12"}, ModelApi.OPENAI_CHAT),
        (
            {"type": "function_call_output", "call_id": "c", "output": "06:12"},
            ModelApi.OPENAI_RESPONSES,
        ),
        ({"type": "tool_result", "tool_use_id": "c", "content": "06:12"}, ModelApi.ANTHROPIC),
        (
            {"toolResult": {"toolUseId": "c", "content": [{"text": "06:12"}]}},
            ModelApi.BEDROCK,
        ),
    ],
)
async def test_a_result_becomes_a_message(client: Client, expected: Any, api: ModelApi) -> None:
    """The message has the format of the API."""
    result = await client.conversion.convert_tool_result(api, RESULT, call_id="c", name="get_tides")

    assert (expected, (), True) == (result.message.value, result.losses, result.verdict.valid)


async def test_an_invalid_result_is_reported_to_the_model(client: Client) -> None:
    """Violations of the output schema or the text contract become errors."""
    convert = client.conversion.convert_tool_result
    result = await convert(ModelApi.ANTHROPIC, RESULT, call_id="c", tool=ToolDefinition(ALERTS))
    text_result = await convert(
        ModelApi.ANTHROPIC, {**RESULT, "_meta": {}}, call_id="c", profile="text"
    )

    assert [False, False] == [result.verdict.valid, text_result.verdict.valid]
    assert [True, True] == [item.message.value["is_error"] for item in (result, text_result)]
    assert "06:12" not in result.message.decode()


async def test_a_missing_call_id_is_an_error(client: Client) -> None:
    """The API of the model needs it to match the result to its call."""
    with pytest.raises(SidecheckError, match="INVALID_REQUEST"):
        await client.conversion.convert_tool_result(ModelApi.ANTHROPIC, RESULT)
