"""Whether a tool is strict where that is preferred, and why it is not."""

import json
from typing import Any

import pytest
from sidecheck_server.core.convert.apis import APIS
from sidecheck_server.core.convert.forms import Form
from sidecheck_server.core.convert.tools import form_of
from sidecheck_server.core.convert.words import ConversionOptions, Mode, ModelApi
from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.mcp.tools.definitions import read_tool

LIMITS = Limits()
CHAT = APIS[ModelApi.OPENAI_CHAT]
CLOSED: Any = {"type": "object", "additionalProperties": False}


def form(schema: Any, mode: Mode = Mode.STRICT_IF_LOSSLESS) -> Form:
    """Return the form of a tool with *schema* for Chat Completions."""
    text = json.dumps({"name": "find", "inputSchema": schema})
    definition = read_tool(text.encode(), (), LIMITS)
    return form_of(definition, CHAT, ConversionOptions(mode=mode), LIMITS)


def of(member: Any, **more: Any) -> Any:
    return {**CLOSED, "properties": {"a": member}, "required": ["a"], **more}


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        pytest.param(of({"type": "string"}), "", id="nothing is lost"),
        pytest.param(
            of({"type": "string", "minLength": 3}),
            "minLength cannot be said (at /inputSchema/properties/a)",
            id="described",
        ),
        pytest.param(
            of({"oneOf": [{"type": "integer"}, {"type": "number"}]}),
            "oneOf cannot be said exactly (at /inputSchema/properties/a)",
            id="widened",
        ),
        pytest.param(
            of(False),
            "required cannot be said (at /inputSchema)",
            id="a member that admits nothing",
        ),
        pytest.param(
            {"type": "object", "properties": {}},
            "members that are not declared were admitted by default, and cannot be given "
            "(at /inputSchema); with assume_closed that does not count",
            id="closed",
        ),
    ],
)
def test_why_a_tool_is_not_strict_is_said_plainly(schema: Any, expected: str) -> None:
    """By what the API cannot be told, not by what is done in its place."""
    found = form(schema)

    assert (expected == "", expected) == (found.strict, found.not_strict_reason)


#: Members whose names alone make the way back from null longer than a plan may be.
LONG: Any = {**CLOSED, "properties": {f"{n}" + "x" * 3_000: {"type": "string"} for n in range(50)}}
#: More members than Chat Completions takes in a strict schema.
MANY: Any = {**CLOSED, "properties": {f"m{n}": {"type": "null"} for n in range(5_001)}}


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        pytest.param(LONG, "turning calls back would take a plan that is too large", id="a plan"),
        pytest.param(MANY, "5,001 members, of all objects together", id="members"),
    ],
)
def test_a_strict_form_that_would_be_refused_is_not_made(schema: Any, expected: str) -> None:
    """The compatible one is, where strictness is only preferred."""
    found = form(schema)

    assert (False, None) == (found.strict, found.guide)
    assert expected in found.not_strict_reason
    assert form(schema, Mode.COMPATIBLE).parameters == found.parameters
    with pytest.raises(RequestError, match=expected) as caught:
        form(schema, Mode.STRICT)
    assert ErrorReason.NOT_CONVERTIBLE is caught.value.reason
