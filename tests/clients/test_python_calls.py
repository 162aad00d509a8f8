"""Validation of complete calls and results by the Python client, asynchronous and blocking."""

import json
from typing import Any

import pytest
from sidecheck import (
    ABSENT,
    Client,
    Options,
    RegisteredTool,
    Severity,
    SidecheckError,
    ToolDefinition,
)

FORECAST = {
    "name": "get_forecast",
    "description": "Tells the weather.",
    "inputSchema": {
        "type": "object",
        "properties": {"city": {"type": "string"}},
        "required": ["city"],
    },
    "outputSchema": {
        "type": "object",
        "properties": {"celsius": {"type": "number"}},
        "required": ["celsius"],
    },
}
TOOL = ToolDefinition(FORECAST)
TEXT = {"type": "text", "text": '{"celsius": 12}'}


def error_codes(verdict: Any) -> list[tuple[str, str]]:
    """Return the code and the location of every error."""
    return [
        (violation.code, violation.instance_location)
        for violation in verdict.violations
        if violation.severity is Severity.ERROR
    ]


@pytest.mark.parametrize(
    ("expected", "params"),
    [
        pytest.param([], {"name": "get_forecast", "arguments": {"city": "Oslo"}}, id="valid"),
        pytest.param(
            [("TYPE", "/arguments/city")],
            {"name": "get_forecast", "arguments": {"city": 5}},
            id="invalid",
        ),
        pytest.param([("REQUIRED", "/arguments")], {"name": "get_forecast"}, id="no arguments"),
    ],
)
async def test_complete_calls_are_validated(
    client: Client, expected: list[tuple[str, str]], params: Any
) -> None:
    """Locations point into the params, and an invalid call has a result to return."""
    verdict = await client.validate_call(TOOL, params)
    assert expected == error_codes(verdict)
    result = verdict.call_tool_result.value
    assert (result["isError"] if expected else None) == (True if expected else result)
    assert b"" == verdict.json_rpc_error


async def test_the_params_name_the_tool(client: Client) -> None:
    """The tool is resolved by the name in the params if the target has none."""
    await client.register("weather", [FORECAST])
    weather = RegisteredTool("weather")
    verdict = await client.validate_call(weather, {"name": "get_forecast", "arguments": {}})
    assert [("REQUIRED", "/arguments")] == error_codes(verdict)
    with pytest.raises(SidecheckError) as raised:
        await client.validate_call(weather, {"name": "get_tides"})
    error = json.loads(raised.value.metadata["json_rpc_error"])
    assert ("UNKNOWN_TOOL", -32602) == (raised.value.reason, error["code"])


@pytest.mark.parametrize(
    ("expected", "result"),
    [
        pytest.param([], {"content": [TEXT], "structuredContent": {"celsius": 12}}, id="valid"),
        pytest.param([], {"content": [TEXT], "isError": True}, id="an error"),
        pytest.param(
            [("TYPE", "/structuredContent/celsius")],
            {"content": [TEXT], "structuredContent": {"celsius": "12"}},
            id="invalid",
        ),
        pytest.param([("OUTPUT_MISSING", "")], {"content": [TEXT]}, id="no content"),
    ],
)
async def test_complete_results_are_validated(
    client: Client, expected: list[tuple[str, str]], result: Any
) -> None:
    """Errors are not validated against the output schema."""
    assert expected == error_codes(await client.validate_call_result(TOOL, result))


async def test_absent_content_is_not_null(client: Client) -> None:
    """Absent content and null are different violations."""
    validate = client.validate_structured_content
    assert [[("OUTPUT_MISSING", "")], [("TYPE", "")]] == [
        error_codes(await validate(TOOL, ABSENT)),
        error_codes(await validate(TOOL, None)),
    ]


async def test_tools_are_registered_by_the_rules_of_a_version(client: Client) -> None:
    """Output schemas of other types than object are wrapped before 2026-07-28."""
    tool = {**FORECAST, "outputSchema": {"type": "array"}}
    for version, expected in (("2026-07-28", []), ("2025-11-25", ["OUTPUT_SCHEMA_WRAPPED"])):
        registration = await client.register(
            "weather",
            [tool],
            validate_only=True,
            protocol_version=version,
            on_rejected="return",
        )
        (outcome,) = registration.outcomes
        assert ("created", expected) == (
            outcome.action,
            [violation.code for violation in outcome.violations],
        )


async def test_an_unknown_version_is_an_error(client: Client) -> None:
    """This applies to validation and registration."""
    with pytest.raises(SidecheckError, match="UNKNOWN_PROTOCOL_VERSION"):
        await client.validate_call(TOOL, {}, options=Options(protocol_version="2020-01-01"))
    with pytest.raises(SidecheckError, match="UNKNOWN_PROTOCOL_VERSION"):
        await client.register("weather", [FORECAST], protocol_version="2020-01-01")
