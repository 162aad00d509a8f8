"""Schemas that providers have rejected are not sent."""

import json
from typing import Any

import pytest
from sidecheck_server.core.convert.converted_tool import ToolForm
from sidecheck_server.core.convert.providers import PROVIDERS
from sidecheck_server.core.convert.tool_conversion import convert_definition
from sidecheck_server.core.convert.types import Action, ConversionOptions, Effect, Loss, ModelApi
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.mcp.tool_definitions import read_tool


def form(schema: Any, provider: ModelApi, options: ConversionOptions | None = None) -> ToolForm:
    """Return a tool with *schema*, converted for *provider*."""
    text = json.dumps({"name": "find", "description": "Finds.", "inputSchema": schema})
    definition = read_tool(text.encode(), (), Limits())
    return convert_definition(
        definition, PROVIDERS[provider], options or ConversionOptions(), Limits()
    )


def property_name(schema: Any) -> tuple[Any, list[Loss]]:
    """Return the *schema* of a property, converted for Gemini, and its losses."""
    result = form({"type": "object", "properties": {"a": schema}}, ModelApi.GEMINI)
    losses = [loss for loss in result.losses if loss.pointer.startswith("/inputSchema/properties")]
    return json.loads(result.parameters or b"null")["properties"]["a"], losses


def test_keywords_about_other_types_are_dropped_for_gemini() -> None:
    """They apply to no value of the type, so there is no loss."""
    schema, losses = property_name({"type": "string", "properties": {"b": {}}, "minimum": 1})

    assert ({"type": "STRING"}, []) == (schema, losses)


def test_formats_of_numbers_are_kept_for_gemini() -> None:
    schema, losses = property_name({"type": "integer", "format": "int32"})

    assert ({"type": "INTEGER", "format": "int32"}, []) == (schema, losses)


def test_an_enum_with_an_empty_string_is_described_for_gemini() -> None:
    schema, losses = property_name({"type": "string", "enum": ["", "b"]})

    assert {"type": "STRING", "description": '(one of: "", "b")'} == schema
    assert [("enum", Action.DESCRIBED, Effect.WIDENED)] == [
        (loss.keyword, loss.action, loss.effect) for loss in losses
    ]


@pytest.mark.parametrize(
    ("provider", "note"),
    [
        (ModelApi.BEDROCK, "(at least 1 property)"),
        (ModelApi.OLLAMA, "(at least 1 property)"),
    ],
)
def test_notes_of_the_root_are_in_the_description_of_the_tool(
    provider: ModelApi, note: str
) -> None:
    schema = {"type": "object", "properties": {"a": {}}, "minProperties": 1}
    result = form(schema, provider)

    assert f"Finds. {note}" == result.description
    assert {"type", "properties"} == json.loads(result.parameters or b"").keys()


def test_a_note_beyond_the_length_is_dropped() -> None:
    schema = {"type": "object", "properties": {"a": {}}, "minProperties": 1}
    options = ConversionOptions(description_length=20)

    assert "Finds." == form(schema, ModelApi.OLLAMA, options).description


def test_a_doubly_nullable_schema_is_nullable_for_gemini() -> None:
    schema, _ = property_name({"anyOf": [{"type": "null"}, {"type": ["boolean", "null"]}]})

    assert {"type": "BOOLEAN", "nullable": True} == schema


@pytest.mark.parametrize(
    ("branches", "expected"),
    [
        (
            [{"type": "string", "format": "uri"}, {"type": "null"}],
            {"nullable": True, "type": "STRING", "description": "D (format: uri)"},
        ),
        (
            [{"type": "null"}, {"type": "string", "description": "E"}],
            {"nullable": True, "type": "STRING", "description": "D E"},
        ),
        (
            [{"type": "null"}, {"anyOf": [{"type": "string"}, {"type": "integer"}]}],
            {
                "anyOf": [
                    {"type": "STRING", "description": "D", "nullable": True},
                    {"type": "INTEGER", "nullable": True},
                ],
            },
        ),
    ],
    ids=["with a note", "with a description", "a union itself"],
)
def test_a_union_with_null_is_merged_for_gemini(branches: Any, expected: Any) -> None:
    """Annotations do not prevent it: a union may have no siblings."""
    assert expected == property_name({"description": "D", "anyOf": branches})[0]


@pytest.mark.parametrize("provider", [ModelApi.GEMINI, ModelApi.GEMINI_JSON])
@pytest.mark.parametrize("schema", [{"type": "object"}, {"type": "object", "properties": {}}])
def test_a_tool_without_arguments_has_no_schema(provider: ModelApi, schema: Any) -> None:
    result = form(schema, provider)

    assert None is result.parameters
    assert all(loss.effect is Effect.EQUIVALENT for loss in result.losses)


def test_an_omitted_schema_has_losses() -> None:
    result = form({"type": "object", "minProperties": 1}, ModelApi.GEMINI)

    assert None is result.parameters
    assert [("/inputSchema", "minProperties", Effect.WIDENED)] == [
        (loss.pointer, loss.keyword, loss.effect) for loss in result.losses
    ]


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "additionalProperties": {"type": "string"}},
        {"type": "object", "required": ["a"]},
    ],
)
def test_a_tool_with_undeclared_arguments_has_a_schema(schema: Any) -> None:

    assert schema == {
        name: value
        for name, value in json.loads(
            form(schema, ModelApi.GEMINI_JSON).parameters or b"{}"
        ).items()
        if name != "properties"
    }
