"""Adaptation of definitions to protocol versions: shared cases, and definitions in error."""

import json
from typing import Any

import pytest
from sidecheck_server.core.errors import RequestError
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.mcp.context import VERSIONS
from sidecheck_server.core.mcp.wrapping.definitions import adapt_tool
from support.result_cases import ADAPTATIONS, text_of

LIMITS = Limits()
RESULT = {"field": "result"}


@pytest.mark.parametrize("case", ADAPTATIONS)
def test_shared_case(case: dict[str, Any]) -> None:
    """The order of properties counts too."""
    adapted = adapt_tool(text_of(case["tool"]), case["version"], LIMITS)

    assert json.dumps(case["want"]["tool"]) == json.dumps(json.loads(adapted.json))
    assert (case["want"]["wrapped_property"], tuple(case["want"]["dropped_properties"])) == (
        adapted.wrapped_property,
        adapted.dropped_properties,
    )


@pytest.mark.parametrize("version", VERSIONS)
def test_a_definition_that_needs_no_change_keeps_its_text(version: str) -> None:
    """Spaces, escapes and the notation of numbers are unchanged."""
    text = b'{ "inputSchema" : {"type":"object", "maximum": 1.0e2}, "name":"\\u0061" }\n'

    assert text == adapt_tool(text, version, LIMITS).json


def test_unchanged_properties_keep_their_text() -> None:
    """Spaces, escapes and the notation of numbers are unchanged."""
    text = b'{"title":"x","name":"\\u0061","inputSchema":{ "type":"object","maximum":1.0e2}}'

    assert (
        b'{"name":"\\u0061","inputSchema":{ "type":"object","maximum":1.0e2}}'
        == adapt_tool(text, "2025-03-26", LIMITS).json
    )


@pytest.mark.parametrize("version", ["2025-11-25", "2026-07-28"])
@pytest.mark.parametrize(
    ("expected", "keywords"),
    [
        ("names no property", {"x-dedalus-box": True}),
        ("names no property", {"x-dedalus-box": {}}),
        ("names no property", {"x-dedalus-box": {"field": ""}}),
        ("names no property", {"x-dedalus-box": {"field": 1}}),
        ("which properties does not define", {"x-dedalus-box": {"field": "value"}}),
        (
            "has one property",
            {"x-dedalus-box": RESULT, "properties": {"result": {}, "b": {}}},
        ),
        ("no property but the wrapped one", {"x-dedalus-box": RESULT, "required": ["b"]}),
        ('has the type "object"', {"x-dedalus-box": RESULT, "type": "array"}),
        ("no minProperties", {"x-dedalus-box": RESULT, "minProperties": 1}),
        ("which properties does not define", {"x-fastmcp-wrap-result": True, "properties": {}}),
    ],
)
def test_a_mark_that_contradicts_its_schema_is_rejected(
    version: str, expected: str, keywords: dict[str, Any]
) -> None:
    """It is rejected in every version, since the wrapped value is ambiguous."""
    schema = {"type": "object", "properties": {"result": {}}, "required": ["result"], **keywords}
    text = text_of({"name": "t", "inputSchema": {"type": "object"}, "outputSchema": schema})
    with pytest.raises(RequestError) as error:
        adapt_tool(text, version, LIMITS)

    assert ("INVALID_TOOL", "WRAP_MARKER_MISMATCH") == (
        error.value.reason.value,
        error.value.metadata["code"],
    )
    assert expected in error.value.message


@pytest.mark.parametrize("version", ["2025-11-25", "2026-07-28"])
def test_a_schema_that_takes_too_many_steps_is_rejected(version: str) -> None:
    """Wrapping and unwrapping have the same limit."""
    schema = {"type": "array", "prefixItems": [{}] * 2000}
    tool = {"name": "t", "inputSchema": {"type": "object"}, "outputSchema": schema}
    wrap_schema = json.loads(adapt_tool(text_of(tool), "2025-11-25", LIMITS).json)
    with pytest.raises(RequestError) as error:
        adapt_tool(
            text_of(tool if version < "2026" else wrap_schema), version, Limits(steps=50_000)
        )

    assert ("LIMIT_EXCEEDED", "steps") == (
        error.value.reason.value,
        error.value.metadata["bound"],
    )
