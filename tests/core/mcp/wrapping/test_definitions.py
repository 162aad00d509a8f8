"""Definitions in their forms for versions: the shared cases, and what cannot be said in one."""

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
def test_the_core_answers_as_the_case_wants(case: dict[str, Any]) -> None:
    """The order of members counts too."""
    actual = adapt_tool(text_of(case["tool"]), case["version"], LIMITS)

    assert json.dumps(case["want"]["tool"]) == json.dumps(json.loads(actual.json))
    assert (case["want"]["box"], tuple(case["want"]["left_out"])) == (
        actual.wrapped_property,
        actual.dropped_properties,
    )


@pytest.mark.parametrize("version", VERSIONS)
def test_a_text_is_the_same_if_nothing_has_to_change(version: str) -> None:
    """With all that a decoder would lose."""
    text = b'{ "inputSchema" : {"type":"object", "maximum": 1.0e2}, "name":"\\u0061" }\n'

    assert text == adapt_tool(text, version, LIMITS).json


def test_the_texts_of_other_members_are_kept() -> None:
    """However a member was written that does not change."""
    text = b'{"title":"x","name":"\\u0061","inputSchema":{ "type":"object","maximum":1.0e2}}'

    assert (
        b'{"name":"\\u0061","inputSchema":{ "type":"object","maximum":1.0e2}}'
        == adapt_tool(text, "2025-03-26", LIMITS).json
    )


@pytest.mark.parametrize("version", ["2025-11-25", "2026-07-28"])
@pytest.mark.parametrize(
    ("message", "more"),
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
def test_a_mark_that_says_what_is_not_so_is_refused(
    version: str, message: str, more: dict[str, Any]
) -> None:
    """In every version: nobody could tell what the value is."""
    schema = {"type": "object", "properties": {"result": {}}, "required": ["result"], **more}
    text = text_of({"name": "t", "inputSchema": {"type": "object"}, "outputSchema": schema})
    with pytest.raises(RequestError) as excinfo:
        adapt_tool(text, version, LIMITS)

    assert ("INVALID_TOOL", "BOX_MARK_MISMATCH") == (
        excinfo.value.reason.value,
        excinfo.value.metadata["code"],
    )
    assert message in excinfo.value.message


@pytest.mark.parametrize("version", ["2025-11-25", "2026-07-28"])
def test_a_schema_that_takes_too_long_is_refused(version: str) -> None:
    """The steps are counted."""
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
