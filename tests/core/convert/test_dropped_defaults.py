"""With `drop_defaults`, no converted schema has or describes a default."""

import json
from typing import Any

import pytest
from sidecheck_server.core.convert.converted_tool import ToolForm
from sidecheck_server.core.convert.providers import PROVIDERS
from sidecheck_server.core.convert.tool_conversion import convert_definition
from sidecheck_server.core.convert.types import Action, ConversionOptions, Effect, Mode, ModelApi
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.mcp.tool_definitions import read_tool
from support.default_places import default_places

LIMITS = Limits()
MODES = [
    *((api, Mode.COMPATIBLE) for api in ModelApi),
    *((api, Mode.STRICT) for api in ModelApi if PROVIDERS[api].strict is not None),
]

EVERYWHERE: Any = {
    "type": "object",
    "default": {},
    "properties": {
        "default": {"type": "string", "default": "D"},
        "union": {"anyOf": [{"type": "string", "default": "D"}, {"type": "null"}], "default": None},
        "one": {"oneOf": [{"type": "string", "default": "D"}, {"type": "integer", "default": 1}]},
        "all": {"allOf": [{"type": "string", "default": "D"}]},
        "list": {"type": "array", "items": {"type": "string", "default": "D"}, "default": ["D"]},
        "tuple": {"type": "array", "prefixItems": [{"type": "string", "default": "D"}]},
        "map": {"type": "object", "additionalProperties": {"type": "integer", "default": 3}},
        "anything": {"default": {"default": "D"}},
        "either": {"type": ["object", "null"], "properties": {"x": {"default": "D"}}},
        "untyped": {"properties": {"x": {"type": "boolean", "default": True}}},
        "reference": {"$ref": "#/$defs/P", "default": {"x": 1}},
        "constant": {"const": {"default": "D"}},
        "listed": {"enum": [{"default": "D"}, "b"], "default": "b"},
    },
    "$defs": {"P": {"type": "object", "properties": {"x": {"type": "number", "default": 0}}}},
}


def form(schema: Any, api: ModelApi, mode: Mode) -> ToolForm:
    tool = json.dumps({"name": "t", "description": "D.", "inputSchema": schema}).encode()
    options = ConversionOptions(mode=mode, drop_defaults=True)
    return convert_definition(read_tool(tool, (), LIMITS), PROVIDERS[api], options, LIMITS)


@pytest.mark.parametrize(("api", "mode"), MODES)
def test_no_default_is_left_anywhere(api: ModelApi, mode: Mode) -> None:
    result = form(EVERYWHERE, api, mode)
    schema = json.loads(result.parameters or b"null")

    assert [] == default_places(schema)
    assert "default:" not in json.dumps(schema)
    assert {(Action.DROPPED, Effect.EQUIVALENT)} == {
        (loss.action, loss.effect) for loss in result.losses if loss.keyword == "default"
    }


def test_data_and_properties_of_that_name_are_kept() -> None:
    schema = json.loads(form(EVERYWHERE, ModelApi.OPENAI_CHAT, Mode.COMPATIBLE).parameters or b"")

    assert {"type": "string"} == schema["properties"]["default"]
    assert {"const": {"default": "D"}} == schema["properties"]["constant"]
