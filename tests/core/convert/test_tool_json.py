"""Tools in the JSON of each provider, checked against the vendors' own types."""

import json
from dataclasses import replace
from typing import Any

import pytest
from providers import validate_tool
from sidecheck_server.core.convert.converted_tool import ToolForm, combine_tools, tool_json
from sidecheck_server.core.convert.providers import PROVIDERS
from sidecheck_server.core.convert.schema_size import SchemaSize
from sidecheck_server.core.convert.types import ModelApi

_SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string", "description": "Where"}},
    "required": ["city"],
}
_OF_GEMINI = {
    "type": "OBJECT",
    "properties": {"city": {"type": "STRING", "description": "Where"}},
    "required": ["city"],
}
_OUTPUT = {"type": "object", "properties": {"degrees": {"type": "number"}}}
_NOTHING = {"type": "object", "properties": {}}


def _form(schema: Any, **changes: Any) -> ToolForm:
    form = ToolForm(
        tool="weather.get",
        definition_digest="0" * 64,
        description="Tells the weather",
        parameters=json.dumps(schema).encode(),
        output_schema=None,
        strict=None,
        decoder=None,
        losses=(),
        not_strict_reason="",
        size=SchemaSize(1, 1, 4, 0, 0, 0, 0),
    )
    return replace(form, **changes)


WHOLE: dict[ModelApi, tuple[ToolForm, dict[str, Any]]] = {
    ModelApi.OPENAI_CHAT: (
        _form(_SCHEMA, strict=False),
        {
            "type": "function",
            "function": {
                "name": "weather_get",
                "description": "Tells the weather",
                "parameters": _SCHEMA,
                "strict": False,
            },
        },
    ),
    ModelApi.OPENAI_RESPONSES: (
        _form(_SCHEMA, strict=True, output_schema=json.dumps(_OUTPUT).encode()),
        {
            "type": "function",
            "name": "weather_get",
            "description": "Tells the weather",
            "parameters": _SCHEMA,
            "strict": True,
            "output_schema": _OUTPUT,
        },
    ),
    ModelApi.ANTHROPIC: (
        _form(_SCHEMA, strict=False),
        {
            "name": "weather_get",
            "description": "Tells the weather",
            "input_schema": _SCHEMA,
            "strict": False,
        },
    ),
    ModelApi.GEMINI: (
        _form(_OF_GEMINI),
        {
            "name": "weather_get",
            "description": "Tells the weather",
            "parameters": _OF_GEMINI,
        },
    ),
    ModelApi.GEMINI_JSON: (
        _form(_SCHEMA),
        {
            "name": "weather_get",
            "description": "Tells the weather",
            "parametersJsonSchema": _SCHEMA,
        },
    ),
    ModelApi.BEDROCK: (
        _form(_SCHEMA, strict=False),
        {
            "toolSpec": {
                "name": "weather_get",
                "description": "Tells the weather",
                "inputSchema": {"json": _SCHEMA},
            }
        },
    ),
    ModelApi.MISTRAL: (
        _form(_SCHEMA, strict=False),
        {
            "type": "function",
            "function": {
                "name": "weather_get",
                "description": "Tells the weather",
                "parameters": _SCHEMA,
                "strict": False,
            },
        },
    ),
    ModelApi.OLLAMA: (
        _form(_SCHEMA),
        {
            "type": "function",
            "function": {
                "name": "weather_get",
                "description": "Tells the weather",
                "parameters": _SCHEMA,
            },
        },
    ),
    ModelApi.MCP: (
        _form(
            _SCHEMA,
            output_schema=json.dumps(_OUTPUT).encode(),
            kept=b'{"title":"Weather","annotations":{"readOnlyHint":true},"_meta":{"a":1}}',
        ),
        {
            "name": "weather_get",
            "description": "Tells the weather",
            "title": "Weather",
            "annotations": {"readOnlyHint": True},
            "_meta": {"a": 1},
            "inputSchema": _SCHEMA,
            "outputSchema": _OUTPUT,
        },
    ),
}

# Without a description, and for a tool that supports nothing.
BARE: dict[ModelApi, tuple[ToolForm, dict[str, Any]]] = {
    ModelApi.OPENAI_CHAT: (
        _form(_NOTHING, description="", strict=True),
        {"type": "function", "function": {"name": "a", "parameters": _NOTHING, "strict": True}},
    ),
    ModelApi.OPENAI_RESPONSES: (
        _form(None, description="", parameters=None, strict=False),
        {"type": "function", "name": "a", "parameters": _NOTHING, "strict": False},
    ),
    ModelApi.ANTHROPIC: (
        _form(_NOTHING, description="", strict=True),
        {"name": "a", "input_schema": _NOTHING, "strict": True},
    ),
    ModelApi.GEMINI: (_form(None, description="", parameters=None), {"name": "a"}),
    ModelApi.GEMINI_JSON: (_form(None, description="", parameters=None), {"name": "a"}),
    ModelApi.BEDROCK: (
        _form(_NOTHING, description="", strict=False),
        {"toolSpec": {"name": "a", "inputSchema": {"json": _NOTHING}}},
    ),
    ModelApi.MISTRAL: (
        _form(_NOTHING, description="", strict=False),
        {"type": "function", "function": {"name": "a", "parameters": _NOTHING, "strict": False}},
    ),
    ModelApi.OLLAMA: (
        _form(_NOTHING, description=""),
        {"type": "function", "function": {"name": "a", "parameters": _NOTHING}},
    ),
    ModelApi.MCP: (
        _form(None, description="", parameters=None),
        {"name": "a", "inputSchema": _NOTHING},
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("key", ModelApi)
def test_a_tool_has_the_shape_of_the_provider(key: ModelApi) -> None:
    form, expected = WHOLE[key]
    text = tool_json(PROVIDERS[key], "weather_get", form)
    assert json.loads(text) == expected
    validate_tool(key, text)


@pytest.mark.parametrize("key", ModelApi)
def test_missing_parts_are_omitted_and_never_null(key: ModelApi) -> None:
    form, expected = BARE[key]
    text = tool_json(PROVIDERS[key], "a", form)
    assert json.loads(text) == expected
    validate_tool(key, text)


def test_numbers_in_schemas_are_exact() -> None:
    schema = b'{"type":"object","properties":{"a":{"const":123456789012345678901}}}'
    form = _form(None, parameters=schema)
    assert schema in tool_json(PROVIDERS[ModelApi.OPENAI_CHAT], "a", form)


_ONE, _TWO = b'{"name":"one"}', b'{"name":"two"}'

ASSEMBLED = {
    ModelApi.OPENAI_CHAT: b"[%b,%b]",
    ModelApi.OPENAI_RESPONSES: b"[%b,%b]",
    ModelApi.ANTHROPIC: b"[%b,%b]",
    ModelApi.GEMINI: b'[{"functionDeclarations":[%b,%b]}]',
    ModelApi.GEMINI_JSON: b'[{"functionDeclarations":[%b,%b]}]',
    ModelApi.BEDROCK: b'{"tools":[%b,%b]}',
    ModelApi.MISTRAL: b"[%b,%b]",
    ModelApi.OLLAMA: b"[%b,%b]",
    ModelApi.MCP: b"[%b,%b]",
}


@pytest.mark.parametrize("key", ModelApi)
def test_tools_are_combined_in_order(key: ModelApi) -> None:
    assert combine_tools(key, [_ONE, _TWO]) == ASSEMBLED[key] % (_ONE, _TWO)
