"""The Python client adapts definitions and normalizes results, asynchronous and blocking."""

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


async def test_a_definition_is_adapted(client: Client) -> None:
    """Every form of a definition is accepted."""
    definitions: list[Any] = [LIST, json.dumps(LIST).encode(), ToolDefinition(LIST)]
    done = [await client.inference.adapt_tool(tool, "2025-03-26") for tool in definitions]
    wrapped = await client.inference.adapt_tool(LIST)

    assert [(("outputSchema",), "")] * 3 == [
        (adaptation.dropped_properties, adaptation.wrapped_property) for adaptation in done
    ]
    assert {"name": "list", "inputSchema": {"type": "object"}} == done[0].definition
    assert ("result", ["result"]) == (
        wrapped.wrapped_property,
        wrapped.definition["outputSchema"]["required"],
    )


async def test_a_python_value_becomes_a_result_and_comes_out_again(client: Client) -> None:
    """It is wrapped where the version requires an object."""
    listed = (await client.inference.adapt_tool(LIST, "2025-06-18")).definition
    normalized = await client.protocol.normalize_tool_result(
        [Point(1)], tool=ToolDefinition(LIST), context=OLD
    )

    assert normalized.verdict.valid
    assert {"result": [{"x": 1}]} == normalized.result.value["structuredContent"]
    assert [{"x": 1}] == unwrap(normalized.result.value, tool=listed)


@pytest.mark.parametrize(
    ("expected", "arguments"),
    [
        ({"content": [{"type": "text", "text": "[1]"}]}, {"value": "[1]"}),
        ({"content": [{"type": "text", "text": "[1]"}]}, {"value": JsonText(b"[1]")}),
        ({"content": [{"type": "text", "text": "[1]"}]}, {"value": b"[1]"}),
        ({"content": [{"type": "text", "text": '["aGk="]'}]}, {"value": [b"hi"]}),
        ({"content": []}, {"value": None}),
        (
            {"content": [{"type": "image", "data": "AA==", "mimeType": "image/png"}]},
            {"content": [ImageContent(type="image", data="AA==", mime_type="image/png")]},
        ),
        ({"content": [{"type": "text", "text": "a"}]}, {"content": b'{"type":"text","text":"a"}'}),
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
    expected: Any, arguments: dict[str, Any], client: Client
) -> None:
    """It is a value, content, a whole result or an error."""
    normalized = await client.protocol.normalize_tool_result(**arguments, context=OLD)

    assert expected == normalized.result.value


async def test_a_value_that_breaks_the_schema_has_a_verdict(client: Client) -> None:
    """The result says so, and so does the verdict."""
    normalized = await client.protocol.normalize_tool_result(
        [1], tool=ToolDefinition(LIST), profile="text", context=OLD
    )

    assert ["/structuredContent/result/0"] == [
        violation.instance_location for violation in normalized.verdict.violations
    ]
    assert normalized.result.value["isError"]


@pytest.mark.parametrize(
    ("kind", "arguments"),
    [
        (ValueError, {}),
        (ValueError, {"value": 1, "content": []}),
        (ValueError, {"value": float("nan")}),
        (ValueError, {"value": object()}),
        (TypeError, {"error": 1}),
        (ValueError, {"value": 1, "profile": "other"}),
    ],
)
async def test_a_malformed_request_is_an_error(
    kind: type[Exception], arguments: dict[str, Any], client: Client
) -> None:
    """It is raised before a call."""
    with pytest.raises(kind):
        await client.protocol.normalize_tool_result(**arguments)


async def test_errors_are_raised(client: Client) -> None:
    """They have their reasons."""
    with pytest.raises(SidecheckError) as raised:
        await client.inference.adapt_tool(LIST, "1999-01-01")

    assert "UNKNOWN_PROTOCOL_VERSION" == raised.value.reason


@pytest.mark.parametrize("case", ADAPTATIONS)
def test_the_python_sdk_accepts_adapted_definitions(case: dict[str, Any]) -> None:
    """They are valid entries of a tools list, and keep their output schema."""
    expected = case["want"]["tool"]
    tool = Tool.model_validate(expected)

    assert expected.get("outputSchema") == tool.output_schema


@pytest.mark.parametrize("case", [case for case in RESULTS if case.values[0]["want"]["result"]])
def test_the_python_sdk_accepts_normalized_results(case: dict[str, Any]) -> None:
    """It reads their structured content and error flag."""
    expected = case["want"]["result"]
    result = TypeAdapter(CallToolResult).validate_python(expected)

    assert (expected.get("structuredContent"), expected.get("isError", False)) == (
        result.structured_content,
        result.is_error,
    )
