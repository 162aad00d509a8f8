"""The Python client converts for the APIs of providers of models, with both of its faces."""

import json
from typing import Any

import pytest
from sidecheck import (
    Client,
    ConversionOptions,
    Converted,
    DefinitionDigest,
    Document,
    Loss,
    Mode,
    ModelApi,
    Options,
    RegisteredTool,
    ServerPrefix,
    SidecheckError,
    ToolDefinition,
    ToolToConvert,
)
from support.weather_tools import ALERTS, FORECAST, register

#: A tool whose name no API but Gemini takes.
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
STRICT = ConversionOptions(mode=Mode.STRICT)
RESULT = {"content": [{"type": "text", "text": "06:12"}]}


def chat_call(name: str, arguments: Any) -> dict[str, Any]:
    """Return the call of a model, as Chat Completions gives it."""
    function = {"name": name, "arguments": json.dumps(arguments)}
    return {"id": "call_1", "type": "function", "function": function}


async def test_a_bad_tool_costs_the_others_nothing(client: Client) -> None:
    """Each is converted or refused by itself, whatever form it is given in."""
    done = await client.conversion.convert_tools(
        ModelApi.ANTHROPIC,
        [TIDES, {"name": "bad"}, json.dumps(FORECAST), ToolDefinition(json.dumps(ALERTS).encode())],
    )
    refused = done.conversions[1].outcome

    assert ["get_tides", "get_forecast", "get_alerts"] == [tool["name"] for tool in done.tools]
    assert ["get.tides", "bad", "get_forecast", "get_alerts"] == [
        one.name for one in done.conversions
    ]
    assert isinstance(refused, SidecheckError)
    assert "INVALID_TOOL" == refused.reason
    assert done.request.valid


async def test_a_loss_has_its_place_and_what_it_means(client: Client) -> None:
    """All of them, by pointer."""
    done = await client.conversion.convert_tools(ModelApi.OPENAI_CHAT, [TIDES], options=STRICT)
    (tool,) = done.converted

    assert (True, "") == (tool.strict, tool.not_strict_reason)
    assert {
        ("/inputSchema", "required", "encoded", "same"),
        ("/inputSchema/properties/port", "minLength", "described", "wider"),
        ("/name", "", "encoded", "same"),
    } == {(loss.pointer, loss.keyword, loss.action, loss.direction) for loss in tool.losses}
    assert all(isinstance(loss, Loss) and loss.message for loss in tool.losses)


async def test_why_a_tool_is_not_strict_is_told(client: Client) -> None:
    """Where the mode prefers it."""
    how = ConversionOptions(mode=Mode.STRICT_IF_LOSSLESS)
    done = await client.conversion.convert_tools(ModelApi.OPENAI_CHAT, [TIDES], options=how)
    (tool,) = done.converted

    assert not tool.strict
    assert "/inputSchema/properties/port" in tool.not_strict_reason


async def test_registered_tools_are_converted_too(client: Client) -> None:
    """By name, by digest, or all of a server; of one that is there twice the last counts.

    Names tell servers apart.
    """
    await register(client, FORECAST, ALERTS)
    registered = await client.get("weather", "get_alerts")
    done = await client.conversion.convert_tools(
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
    ] == [(one.server, one.name, isinstance(one.outcome, Converted)) for one in done.conversions]
    assert ["sea__get_tides", "weather__get_alerts", "weather__get_forecast"] == [
        one.name for one in done.converted
    ]


async def test_prefixes_and_documents_are_as_asked(client: Client) -> None:
    """Options hold, and a definition brings what it refers to."""
    schema = {"type": "object", "properties": {"city": {"$ref": "https://example.com/city"}}}
    tool = ToolDefinition(
        {"name": "by_city", "inputSchema": schema},
        (Document("https://example.com/city", {"type": "string"}),),
    )
    how = ConversionOptions(server_prefix=ServerPrefix.ALWAYS)
    given = [ToolToConvert(tool, "maps")]
    done = await client.conversion.convert_tools(ModelApi.OLLAMA, given, options=how)

    assert ["maps__by_city"] == [one["function"]["name"] for one in done.tools]
    assert "string" in json.dumps(done.tools)


async def test_a_call_comes_back(client: Client) -> None:
    """By the plans of all tools of the request, and with the tool that was sent along."""
    done = await client.conversion.convert_tools(
        ModelApi.OPENAI_CHAT, [FORECAST, TIDES], options=STRICT
    )
    call = chat_call("get_tides", {"port": "Oslo", "days": None})
    restored = await client.conversion.restore_call(call, done.plans, tool=ToolDefinition(TIDES))

    assert ("get.tides", "call_1", {"port": "Oslo"}) == (
        restored.tool,
        restored.call_id,
        restored.arguments,
    )
    assert {"name": "get.tides", "arguments": {"port": "Oslo"}} == restored.call_params.value
    assert restored.verdict.valid
    assert [("/days", "SYNTHETIC_NULL_REMOVED")] == [
        (change.pointer, change.code) for change in restored.changes
    ]


async def test_a_call_is_judged_under_the_original(client: Client) -> None:
    """That of the registry, which the plan names; one plan is enough."""
    await register(client, TIDES)
    done = await client.conversion.convert_tools(
        ModelApi.OPENAI_CHAT, [RegisteredTool("weather", "get.tides")], options=STRICT
    )
    call = chat_call("get_tides", {"port": "Os", "days": None})
    restored = await client.conversion.restore_call(call, done.plans[0])
    hidden = await client.conversion.restore_call(
        json.dumps(chat_call("get_tides", {"port": "Secret", "days": "Secret"})),
        json.loads(done.plans[0]),
        options=Options(hide_values=True),
    )

    assert ("weather", "get.tides") == (restored.server, restored.tool)
    assert ["MIN_LENGTH"] == [found.code for found in restored.verdict.violations]
    assert "port" in restored.verdict.tool_error_text
    assert ["TYPE"] == [found.code for found in hidden.verdict.violations]
    assert "Secret" not in hidden.verdict.tool_error_text


async def test_a_call_that_cannot_be_read_is_an_answer(client: Client) -> None:
    """Without arguments, rather than with none."""
    done = await client.conversion.convert_tools(ModelApi.OPENAI_CHAT, [TIDES])
    call = chat_call("get_tides", {})
    call["function"]["arguments"] = '{"port": "Os'
    tool = ToolDefinition(TIDES)
    restored = await client.conversion.restore_call(call, done.plans, tool=tool)

    assert (b"", None, False) == (
        restored.call_params,
        restored.arguments,
        restored.verdict.valid,
    )
    assert ["/function/arguments"] == [
        found.instance_location for found in restored.verdict.violations
    ]


@pytest.mark.parametrize(
    ("reason", "call", "plans"),
    [
        ("MAPPING_MISMATCH", chat_call("get_tide", {}), None),
        ("INVALID_MAPPING", chat_call("get_tides", {}), b"{}"),
        ("INVALID_REQUEST", chat_call("get_tides", {}), []),
    ],
)
async def test_plans_that_do_not_fit_are_refused(
    client: Client, reason: str, call: Any, plans: Any
) -> None:
    """Nothing is guessed."""
    done = await client.conversion.convert_tools(ModelApi.OPENAI_CHAT, [TIDES])
    given = done.plans if plans is None else plans
    with pytest.raises(SidecheckError) as caught:
        await client.conversion.restore_call(call, given, tool=ToolDefinition(TIDES))

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
    """In the form of the API."""
    told = await client.conversion.convert_result(api, RESULT, call_id="c", name="get_tides")

    assert (expected, (), True) == (told.message.value, told.losses, told.verdict.valid)


async def test_of_an_invalid_result_the_model_is_told_a_failure(client: Client) -> None:
    """By the output schema of its tool, or the text contract."""
    convert = client.conversion.convert_result
    told = await convert(ModelApi.ANTHROPIC, RESULT, call_id="c", tool=ToolDefinition(ALERTS))
    plain = await convert(ModelApi.ANTHROPIC, {**RESULT, "_meta": {}}, call_id="c", profile="text")

    assert [False, False] == [told.verdict.valid, plain.verdict.valid]
    assert [True, True] == [one.message.value["is_error"] for one in (told, plain)]
    assert "06:12" not in told.message.decode()


async def test_an_id_that_the_api_needs_is_asked_for(client: Client) -> None:
    """Without it the model could not tell what is answered."""
    with pytest.raises(SidecheckError, match="INVALID_REQUEST"):
        await client.conversion.convert_result(ModelApi.ANTHROPIC, RESULT)
