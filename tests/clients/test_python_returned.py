"""Adaptation of definitions and normalization of results by the Python client."""

import json
from dataclasses import dataclass
from typing import Any

import pytest
from mcp.types import CallToolResult, ImageContent, TextContent, Tool
from pydantic import TypeAdapter
from sidecheck import Client, JsonText, ProtocolContext, SidecheckError, ToolDefinition, unwrap
from support.result_cases import ADAPTATIONS, RESULTS

LIST: dict[str, Any] = {
    "name": "list",
    "inputSchema": {"type": "object"},
    "outputSchema": {"type": "array", "items": {"type": "object"}},
}
OLD = ProtocolContext("2025-06-18")


@dataclass
class Point:
    x: int


async def test_a_definition_is_adapted_to_a_version(client: Client) -> None:
    """The definition may be an object, JSON text or a `ToolDefinition`."""
    tools: list[Any] = [LIST, json.dumps(LIST), ToolDefinition(LIST)]
    adapted = [await client.inference.adapt_tool(tool, "2025-03-26") for tool in tools]
    wrapped = await client.inference.adapt_tool(LIST)

    assert [(("outputSchema",), "")] * 3 == [
        (item.dropped_properties, item.wrapped_property) for item in adapted
    ]
    assert {"name": "list", "inputSchema": {"type": "object"}} == adapted[0].definition
    assert ("result", ["result"]) == (
        wrapped.wrapped_property,
        wrapped.definition["outputSchema"]["required"],
    )


async def test_a_python_value_is_wrapped_and_unwrapped(client: Client) -> None:
    """The value is wrapped if the protocol version requires an object."""
    adapted = (await client.inference.adapt_tool(LIST, "2025-06-18")).definition
    normalized = await client.protocol.normalize_tool_result(
        [Point(1)], tool=ToolDefinition(LIST), context=OLD
    )

    assert normalized.verdict.valid
    assert {"result": [{"x": 1}]} == normalized.result.value["structuredContent"]
    assert [{"x": 1}] == unwrap(normalized.result.value, tool=adapted)


@pytest.mark.parametrize(
    ("expected", "return_value"),
    [
        ({"content": [{"type": "text", "text": "[1]"}]}, {"value": "[1]"}),
        ({"content": [{"type": "text", "text": "[1]"}]}, {"value": JsonText(b"[1]")}),
        ({"content": [{"type": "text", "text": "aGk="}]}, {"value": b"hi"}),
        ({"content": []}, {"value": None}),
        (
            {"content": [{"type": "image", "data": "AA==", "mimeType": "image/png"}]},
            {"content": [ImageContent(type="image", data="AA==", mime_type="image/png")]},
        ),
        ({"content": [{"type": "text", "text": "a"}]}, {"content": '{"type":"text","text":"a"}'}),
        (
            {"content": [{"type": "text", "text": "a"}], "isError": False},
            {"result": CallToolResult(content=[TextContent(type="text", text="a")])},
        ),
        ({"content": [{"type": "text", "text": "no"}], "isError": True}, {"error": "no"}),
        (
            {"content": [{"type": "text", "text": "no"}], "isError": True},
            {"error": ValueError("no")},
        ),
        (
            {"content": [{"type": "text", "text": "KeyError"}], "isError": True},
            {"error": KeyError()},
        ),
    ],
)
async def test_the_argument_determines_the_kind_of_return_value(
    expected: Any, return_value: dict[str, Any], client: Client
) -> None:
    """The kinds are value, content, complete result and error."""
    normalized = await client.protocol.normalize_tool_result(**return_value, context=OLD)

    assert expected == normalized.result.value


async def test_a_value_that_violates_the_schema_has_a_verdict(client: Client) -> None:
    """The verdict is invalid, and the result is an error."""
    normalized = await client.protocol.normalize_tool_result(
        [1], tool=ToolDefinition(LIST), profile="text", context=OLD
    )

    assert ["/structuredContent/result/0"] == [
        violation.instance_location for violation in normalized.verdict.violations
    ]
    assert normalized.result.value["isError"]


@pytest.mark.parametrize(
    ("kind", "return_value"),
    [
        (ValueError, {}),
        (ValueError, {"value": 1, "content": []}),
        (ValueError, {"value": float("nan")}),
        (ValueError, {"value": object()}),
        (TypeError, {"error": 1}),
        (ValueError, {"value": 1, "profile": "other"}),
    ],
)
async def test_invalid_arguments_are_errors(
    kind: type[Exception], return_value: dict[str, Any], client: Client
) -> None:
    """Arguments are checked before a request is sent."""
    with pytest.raises(kind):
        await client.protocol.normalize_tool_result(**return_value)


async def test_errors_are_raised(client: Client) -> None:
    """The error has a reason."""
    with pytest.raises(SidecheckError) as caught:
        await client.inference.adapt_tool(LIST, "1999-01-01")

    assert "UNKNOWN_PROTOCOL_VERSION" == caught.value.reason


@pytest.mark.parametrize("case", ADAPTATIONS)
def test_the_python_sdk_accepts_adapted_definitions(case: dict[str, Any]) -> None:
    """They are valid entries of a tools list, and keep their output schema."""
    expected = case["want"]["tool"]
    tool = Tool.model_validate(expected)

    assert expected.get("outputSchema") == tool.output_schema


@pytest.mark.parametrize("case", [param for param in RESULTS if param.values[0]["want"]["result"]])
def test_the_python_sdk_accepts_normalized_results(case: dict[str, Any]) -> None:
    """They are valid call results, and keep structured content and the error flag."""
    expected = case["want"]["result"]
    result = TypeAdapter(CallToolResult).validate_python(expected)

    assert (expected.get("structuredContent"), expected.get("isError", False)) == (
        result.structured_content,
        result.is_error,
    )
