"""Round trips of arguments for hostile schemas."""

from random import Random
from typing import Any

import pytest
from conversions.converting_tools import OPTIONS, convert_tool, oracle, read_definition
from conversions.hostile import tools
from conversions.round_trip import Trip
from hypothesis import HealthCheck, assume, example, given, settings
from preflight.checker import faults
from sidecheck_server.core.convert.types import ModelApi
from sidecheck_server.core.errors import RequestError

CASES = [
    *((ModelApi.OPENAI_CHAT, name) for name in OPTIONS),
    (ModelApi.ANTHROPIC, "compatible"),
    (ModelApi.ANTHROPIC, "if lossless"),
    *(
        (api, "compatible")
        for api in (ModelApi.GEMINI, ModelApi.GEMINI_JSON, ModelApi.OLLAMA, ModelApi.MCP)
    ),
]


STRAY: dict[str, Any] = {
    "name": "find",
    "inputSchema": {
        "type": "object",
        "properties": {
            "a": {"type": "array", "items": {"type": "string"}, "required": ["b"]},
            "b": {"type": "object", "properties": {"c": {}}, "items": {"type": "string"}},
        },
    },
}
"""Keywords of objects and arrays beside the other type."""


@pytest.mark.parametrize(("api", "options"), CASES)
@given(tool=tools())
@example(tool=STRAY)
@settings(
    max_examples=40,
    deadline=None,
    derandomize=True,
    report_multiple_bugs=False,
    suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow],
)
def test_arguments_are_decoded_unchanged(api: ModelApi, options: str, tool: dict[str, Any]) -> None:
    """Random schemas are small and hard to convert."""
    try:
        result = convert_tool(read_definition(tool), api, OPTIONS[options])
    except RequestError:
        assume(False)
    schema = tool["inputSchema"]
    trip = Trip(schema, result, oracle(schema))

    assert [] == stray_keywords(result.schema)
    assert [] == list(faults(api, result.tool, strict=result.strict))
    assert [] == [str(fault) for fault in trip.faults([], Random(7), 4)]


def stray_keywords(schema: Any) -> list[str]:
    """Return keywords of objects and arrays in *schema* that its types exclude."""
    stray, pending = [], [schema]
    for value in pending:
        if isinstance(value, list):
            pending += value
        elif isinstance(value, dict):
            types = value.get("type")
            named = [types] if isinstance(types, str) else types
            if isinstance(named, list):
                stray += [
                    name
                    for name, type_ in (("properties", "object"), ("items", "array"))
                    if name in value and type_ not in named
                ]
            data = ("enum", "const", "default", "examples")
            pending += [inner for name, inner in value.items() if name not in data]
    return stray
