"""The check of portability finds no refusal in converted tools."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from conversions.converting_tools import LIMITS, OPTIONS, convert_tool, read_definition
from conversions.hostile import tools
from conversions.subjects import sample
from hypothesis import HealthCheck, given, settings
from sidecheck_server.core.convert.names import ToolName, assign_tool_names
from sidecheck_server.core.convert.providers import PROVIDERS
from sidecheck_server.core.convert.providers.mcp import DEFAULT_TARGETS
from sidecheck_server.core.convert.types import ModelApi, ServerPrefix
from sidecheck_server.core.errors import RequestError
from sidecheck_server.core.portability.check import check_portability
from sidecheck_server.core.portability.target import Target

SAMPLE = 150
# Directories require annotations, which only the author of a tool knows.
_DIRECTORIES = {"claude-connectors", "openai-apps"}
# Names of tools for Responses may be longer than the check allows for all of OpenAI's APIs.
ROWS = [
    (Target.ANTHROPIC, ModelApi.ANTHROPIC, "compatible"),
    (Target.OPENAI, ModelApi.OPENAI_CHAT, "compatible"),
    (Target.OPENAI_STRICT, ModelApi.OPENAI_CHAT, "strict"),
    (Target.BEDROCK, ModelApi.BEDROCK, "compatible"),
    (Target.BEDROCK, ModelApi.BEDROCK, "strict"),
    (Target.MISTRAL, ModelApi.MISTRAL, "compatible"),
    (Target.VERTEX, ModelApi.GEMINI, "compatible"),
    (Target.GEMINI, ModelApi.GEMINI, "compatible"),
    *(
        (Target(target), ModelApi.MCP, "compatible")
        for target in sorted(DEFAULT_TARGETS - _DIRECTORIES)
    ),
]


@pytest.mark.parametrize(("target", "api", "options_name"), ROWS)
def test_converted_tools_are_portable(target: Target, api: ModelApi, options_name: str) -> None:
    refusals = [
        (subject.name, refusal)
        for subject in sample(SAMPLE)
        for refusal in find_refusals(subject.tool, target, api, options_name)
    ]

    assert refusals == []


@pytest.mark.parametrize(("target", "api", "options_name"), ROWS)
@given(tool=tools())
@settings(max_examples=30, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
def test_random_tools_are_portable(
    target: Target, api: ModelApi, options_name: str, tool: dict[str, Any]
) -> None:
    assert list(find_refusals(tool, target, api, options_name)) == []


def find_refusals(
    tool: dict[str, Any], target: Target, api: ModelApi, options_name: str
) -> Iterator[tuple[str, str]]:
    """Yield the location and the subject of what *target* refuses in the converted *tool*."""
    try:
        form = convert_tool(read_definition(tool), api, OPTIONS[options_name]).form
    except RequestError:
        return
    [name] = assign_tool_names(
        [ToolName("", tool["name"])], PROVIDERS[api].tool_names, ServerPrefix.NEVER
    )
    converted: dict[str, Any] = {"name": name, "description": form.description}
    if form.parameters is not None:
        converted["inputSchema"] = json.loads(form.parameters)
    findings, _faults = check_portability(converted, [target], LIMITS)
    for finding in findings:
        if any(fact.effect.is_refusal for fact in finding.facts):
            yield finding.pointer, finding.subject
