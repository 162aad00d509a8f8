"""Converted tools: JSON, mapping and losses."""

import json
from dataclasses import replace
from typing import Any

from sidecheck_server.core.convert.converted_tool import ToolForm, build_converted_tool
from sidecheck_server.core.convert.names import ToolName
from sidecheck_server.core.convert.providers import PROVIDERS
from sidecheck_server.core.convert.schema_size import SchemaSize
from sidecheck_server.core.convert.types import Action, Effect, Loss, ModelApi

PROVIDER = PROVIDERS[ModelApi.ANTHROPIC]
SIZE = SchemaSize(0, 1, 0, 0, 0, 0, 0)
DROPPED = Loss("/inputSchema", "title", Action.DROPPED, Effect.EQUIVALENT, "?")
LAST = DROPPED._replace(pointer="/title")
DECODER: Any = {"nulls": ["a"]}
FORM = ToolForm(
    tool="a.b",
    definition_digest="sha256:1",
    description="d",
    parameters=b'{"type":"object"}',
    output_schema=None,
    strict=True,
    decoder=DECODER,
    losses=(LAST, DROPPED),
    not_strict_reason="",
    size=SIZE,
)


def test_a_form_and_a_name_make_a_tool_and_its_mapping() -> None:
    """The mapping has both names, and the decoder."""
    tool = build_converted_tool(FORM, ToolName("s", "a.b"), "a_b", PROVIDER)

    assert {
        "name": "a_b",
        "description": "d",
        "input_schema": {"type": "object"},
        "strict": True,
    } == json.loads(tool.json)
    assert {
        "sidecheck_mapping": 1,
        "api": "anthropic",
        "name": "a_b",
        "server": "s",
        "tool": "a.b",
        "definition_digest": "sha256:1",
        "strict": True,
        "decoder": DECODER,
    } == json.loads(tool.mapping)
    assert ("a_b", True, "") == (tool.name, tool.strict, tool.not_strict_reason)


def test_a_changed_name_is_a_loss_in_order_of_location() -> None:
    """A name that is kept is not."""
    message = "the tool has the name 'a_b' at the provider"
    name_loss = Loss("/name", "", Action.ENCODED, Effect.EQUIVALENT, message)

    assert (DROPPED, name_loss, LAST) == build_converted_tool(
        FORM, ToolName("", "a.b"), "a_b", PROVIDER
    ).losses
    assert (DROPPED, LAST) == build_converted_tool(
        FORM, ToolName("", "a.b"), "a.b", PROVIDER
    ).losses


def test_the_reason_from_the_request_precedes_that_of_the_tool() -> None:
    """A provider without strict mode counts as not strict."""
    loose = replace(FORM, strict=None, not_strict_reason="alone")
    tool = build_converted_tool(loose, ToolName("", "a"), "a", PROVIDER)

    assert (False, "alone") == (tool.strict, tool.not_strict_reason)
    assert (
        "others"
        == build_converted_tool(loose, ToolName("", "a"), "a", PROVIDER, "others").not_strict_reason
    )
