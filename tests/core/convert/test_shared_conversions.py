"""Shared cases of conversion, run against the core."""

import json
from typing import Any

import pytest
from sidecheck_server.core.convert.converted_tool import ConvertedTool, build_converted_tool
from sidecheck_server.core.convert.names import ToolName, assign_tool_names
from sidecheck_server.core.convert.providers import PROVIDERS
from sidecheck_server.core.convert.tool_conversion import convert_definition
from sidecheck_server.core.convert.types import ConversionOptions, Mode, ModelApi
from sidecheck_server.core.errors import RequestError
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.mcp.tool_definitions import read_tool
from support.shared_conversions import CONVERSIONS, schema_in, tool_of

LIMITS = Limits()


@pytest.mark.parametrize("case", CONVERSIONS)
def test_the_conversion_is_that_of_the_case(case: dict[str, Any]) -> None:
    try:
        actual = _summarize(_converted(case))
    except RequestError as error:
        actual = {"refusal": error.reason.value}

    assert case["want"] == {key: value for key, value in actual.items() if key in case["want"]}


def _converted(case: dict[str, Any]) -> ConvertedTool:
    definition = read_tool(tool_of(case), (), LIMITS)
    options = ConversionOptions(mode=Mode(case["mode"]), **case.get("options", {}))
    provider = PROVIDERS[ModelApi(case["api"])]
    form = convert_definition(definition, provider, options, LIMITS)
    tool_name = ToolName("", definition.name)
    [name] = assign_tool_names([tool_name], provider.tool_names, options.server_prefix)
    return build_converted_tool(form, tool_name, name, provider)


def _summarize(result: ConvertedTool) -> dict[str, Any]:
    tool = json.loads(result.json)
    return {
        "tool": tool,
        "parameters": schema_in(tool),
        "losses": [
            [item.pointer, item.keyword, item.action.value, item.effect.value]
            for item in result.losses
        ],
        "strict": result.strict,
        "name": result.name,
    }
