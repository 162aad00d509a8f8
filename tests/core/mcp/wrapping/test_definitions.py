"""Tool definitions adapted to protocol versions."""

import json
from typing import Any

import pytest
from sidecheck_server.core.errors import RequestError
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.mcp.context import VERSIONS
from sidecheck_server.core.mcp.wrapping.definitions import adapt_tool
from support.result_cases import PROJECTION, text_of

LIMITS = Limits()
RESULT = {"field": "result"}


@pytest.mark.parametrize("case", PROJECTION)
def test_adapted_definition_of_a_shared_case(case: dict[str, Any]) -> None:
    """The order of properties is compared too."""
    actual = adapt_tool(text_of(case["tool"]), case["version"], LIMITS)

    assert json.dumps(case["want"]["tool"]) == json.dumps(json.loads(actual.json))
    assert (case["want"]["box"], tuple(case["want"]["left_out"])) == (
        actual.wrapped_property,
        actual.dropped_properties,
    )


@pytest.mark.parametrize("version", VERSIONS)
def test_text_is_unchanged_if_no_adaptation_is_needed(version: str) -> None:
    """Whitespace and number formats survive."""
    text = b'{ "inputSchema" : {"type":"object", "maximum": 1.0e2}, "name":"\\u0061" }\n'

    assert text == adapt_tool(text, version, LIMITS).json


def test_texts_of_other_properties_are_unchanged() -> None:
    """However a member was written that does not change."""
    text = b'{"title":"x","name":"\\u0061","inputSchema":{ "type":"object","maximum":1.0e2}}'

    assert (
        b'{"name":"\\u0061","inputSchema":{ "type":"object","maximum":1.0e2}}'
        == adapt_tool(text, "2025-03-26", LIMITS).json
    )


@pytest.mark.parametrize("version", ["2025-11-25", "2026-07-28"])
@pytest.mark.parametrize(
    ("message", "properties"),
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
def test_false_marker_is_an_error(version: str, message: str, properties: dict[str, Any]) -> None:
    """In every version, since the wrapped value would be ambiguous."""
    schema = {"type": "object", "properties": {"result": {}}, "required": ["result"], **properties}
    text = text_of({"name": "t", "inputSchema": {"type": "object"}, "outputSchema": schema})
    with pytest.raises(RequestError) as excinfo:
        adapt_tool(text, version, LIMITS)

    assert ("INVALID_TOOL", "BOX_MARK_MISMATCH") == (
        excinfo.value.reason.value,
        excinfo.value.metadata["code"],
    )
    assert message in excinfo.value.message


@pytest.mark.parametrize("version", ["2025-11-25", "2026-07-28"])
def test_exceeded_step_limit_is_an_error(version: str) -> None:
    """Adapting a definition takes steps."""
    schema = {"type": "array", "prefixItems": [{}] * 2000}
    tool = {"name": "t", "inputSchema": {"type": "object"}, "outputSchema": schema}
    wrap_schema = json.loads(adapt_tool(text_of(tool), "2025-11-25", LIMITS).json)
    with pytest.raises(RequestError) as excinfo:
        adapt_tool(
            text_of(tool if version < "2026" else wrap_schema), version, Limits(steps=50_000)
        )

    assert ("LIMIT_EXCEEDED", "steps") == (
        excinfo.value.reason.value,
        excinfo.value.metadata["bound"],
    )
