"""Whether a tool is strict where that is preferred, and the reason if not."""

import json
from typing import Any

import pytest
from sidecheck_server.core.convert.converted_tool import ToolForm
from sidecheck_server.core.convert.providers import PROVIDERS
from sidecheck_server.core.convert.tool_conversion import convert_definition
from sidecheck_server.core.convert.types import ConversionOptions, Mode, ModelApi
from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.mcp.tool_definitions import read_tool

LIMITS = Limits()
CHAT = PROVIDERS[ModelApi.OPENAI_CHAT]
CLOSED: Any = {"type": "object", "additionalProperties": False}


def form(schema: Any, mode: Mode = Mode.STRICT_IF_LOSSLESS) -> ToolForm:
    """Return the form of a tool with *schema* for Chat Completions."""
    text = json.dumps({"name": "find", "inputSchema": schema})
    definition = read_tool(text.encode(), (), LIMITS)
    return convert_definition(definition, CHAT, ConversionOptions(mode=mode), LIMITS)


def of(property_name: Any, **keywords: Any) -> Any:
    return {**CLOSED, "properties": {"a": property_name}, "required": ["a"], **keywords}


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        pytest.param(of({"type": "string"}), "", id="nothing is lost"),
        pytest.param(
            of({"type": "string", "minLength": 3}),
            "minLength cannot be expressed (at /inputSchema/properties/a)",
            id="described",
        ),
        pytest.param(
            of({"oneOf": [{"type": "integer"}, {"type": "number"}]}),
            "oneOf cannot be expressed exactly (at /inputSchema/properties/a)",
            id="widened",
        ),
        pytest.param(
            of(False),
            "required cannot be expressed (at /inputSchema)",
            id="a property that admits nothing",
        ),
        pytest.param(
            {"type": "object", "properties": {}},
            "undeclared properties are allowed by default, but cannot be given in strict "
            "mode (at /inputSchema); allowed with assume_closed",
            id="closed",
        ),
    ],
)
def test_the_reason_names_the_inexpressible_keyword(schema: Any, expected: str) -> None:
    """The reason does not describe the replacement."""
    result = form(schema)

    assert (expected == "", expected) == (result.strict, result.not_strict_reason)


#: Properties whose names alone make the decoder of nulls larger than a mapping may be.
LONG: Any = {**CLOSED, "properties": {f"{n}" + "x" * 3_000: {"type": "string"} for n in range(50)}}
#: More properties than Chat Completions supports in a strict schema.
MANY: Any = {**CLOSED, "properties": {f"m{n}": {"type": "null"} for n in range(5_001)}}


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        pytest.param(LONG, "the mapping would be too large", id="a mapping"),
        pytest.param(MANY, "5,001 properties in all objects together", id="properties"),
    ],
)
def test_an_error_of_strict_mode_is_the_reason(schema: Any, expected: str) -> None:
    """The tool is compatible where strict mode is only preferred."""
    result = form(schema)

    assert (False, None) == (result.strict, result.decoder)
    assert expected in result.not_strict_reason
    assert form(schema, Mode.COMPATIBLE).parameters == result.parameters
    with pytest.raises(RequestError, match=expected) as excinfo:
        form(schema, Mode.STRICT)
    assert ErrorReason.NOT_CONVERTIBLE is excinfo.value.reason
