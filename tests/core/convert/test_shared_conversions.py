"""The shared cases of conversion, by the core."""

import json
from typing import Any

import pytest
from sidecheck_server.core.convert.apis import APIS
from sidecheck_server.core.convert.converted import ConvertedTool, converted
from sidecheck_server.core.convert.names import Named, tool_names
from sidecheck_server.core.convert.tools import form_of
from sidecheck_server.core.convert.words import ConversionOptions, Mode, ModelApi
from sidecheck_server.core.errors import RequestError
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.mcp.tools.definitions import read_tool
from support.shared_conversions import CONVERSIONS, schema_in, tool_of

LIMITS = Limits()


@pytest.mark.parametrize("case", CONVERSIONS)
def test_a_tool_is_converted_as_the_case_wants(case: dict[str, Any]) -> None:
    try:
        got = _told(_converted(case))
    except RequestError as refusal:
        got = {"refusal": refusal.reason.value}

    assert case["want"] == {key: value for key, value in got.items() if key in case["want"]}


def _converted(case: dict[str, Any]) -> ConvertedTool:
    definition = read_tool(tool_of(case), (), LIMITS)
    options = ConversionOptions(mode=Mode(case["mode"]), **case.get("options", {}))
    api = APIS[ModelApi(case["api"])]
    form = form_of(definition, api, options, LIMITS)
    named = Named("", definition.name)
    [name] = tool_names([named], api.names, options.server_prefix)
    return converted(form, named, name, api)


def _told(result: ConvertedTool) -> dict[str, Any]:
    tool = json.loads(result.json)
    return {
        "tool": tool,
        "parameters": schema_in(tool),
        "losses": [
            [each.pointer, each.keyword, each.action.value, each.direction.value]
            for each in result.losses
        ],
        "strict": result.strict,
        "name": result.name,
    }
