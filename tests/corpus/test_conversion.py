"""Real tools are converted for every API, and their arguments come back."""

from collections import Counter
from functools import cache
from random import Random

import pytest
from conversions.converting_tools import (
    OPTIONS,
    ConvertedDefinition,
    convert_tool,
    oracle,
    read_definition,
)
from conversions.round_trip import Trip
from conversions.subjects import Subject, called, sample
from preflight.checker import faults
from providers import validate_tool
from sidecheck_server.core.convert.names import ToolName, assign_tool_names
from sidecheck_server.core.convert.providers import PROVIDERS
from sidecheck_server.core.convert.types import Mode, ModelApi, ServerPrefix
from sidecheck_server.core.errors import ErrorReason, RequestError

SAMPLE = 150
LEAST = 0.95

# The schemas of these are those of OpenAI's Chat Completions, or of Anthropic's Messages.
ALIKE = {ModelApi.OPENAI_RESPONSES, ModelApi.MISTRAL, ModelApi.BEDROCK}

ROWS = [
    (api, way)
    for api in ModelApi
    for way in OPTIONS
    if PROVIDERS[api].strict is not None or OPTIONS[way].mode is Mode.COMPATIBLE
    if api not in ALIKE or OPTIONS[way].mode is not Mode.STRICT_IF_LOSSLESS
]


@cache
def outcomes(
    api: ModelApi, way: str
) -> tuple[tuple[Subject, ConvertedDefinition | RequestError], ...]:
    """Return what becomes of the sampled tools."""
    return tuple((subject, _outcome(subject, api, way)) for subject in sample(SAMPLE))


def _outcome(subject: Subject, api: ModelApi, way: str) -> ConvertedDefinition | RequestError:
    try:
        return convert_tool(read_definition(subject.tool), api, OPTIONS[way])
    except RequestError as refusal:
        return refusal


def conversions(api: ModelApi, way: str) -> list[tuple[Subject, ConvertedDefinition]]:
    """Return those of the sampled tools that were converted."""
    return [
        (subject, each)
        for subject, each in outcomes(api, way)
        if isinstance(each, ConvertedDefinition)
    ]


@pytest.mark.parametrize(("api", "way"), ROWS)
def test_real_tools_are_converted_or_refused_with_a_reason(api: ModelApi, way: str) -> None:
    refused = Counter(
        each.reason for _, each in outcomes(api, way) if not isinstance(each, ConvertedDefinition)
    )

    assert refused.keys() <= {ErrorReason.INVALID_SCHEMA, ErrorReason.NOT_CONVERTIBLE}
    if OPTIONS[way].mode is not Mode.STRICT:
        assert ErrorReason.NOT_CONVERTIBLE not in refused
    assert len(conversions(api, way)) >= LEAST * len(sample(SAMPLE))


@pytest.mark.parametrize(("api", "way"), ROWS)
def test_what_is_converted_passes_the_preflight(api: ModelApi, way: str) -> None:
    assert [] == [
        (subject.name, said)
        for subject, each in conversions(api, way)
        for said in faults(api, each.tool, strict=each.strict)
    ]


@pytest.mark.parametrize(("api", "way"), ROWS)
def test_what_is_converted_is_what_the_provider_types(api: ModelApi, way: str) -> None:
    for _, each in conversions(api, way):
        validate_tool(api, each.json)


@pytest.mark.parametrize(("api", "way"), ROWS)
def test_conversion_gives_the_same_bytes_each_time(api: ModelApi, way: str) -> None:
    for subject, each in conversions(api, way)[::10]:
        again = convert_tool(read_definition(subject.tool), api, OPTIONS[way])
        assert (each.json, each.form) == (again.json, again.form)


@pytest.mark.parametrize("api", list(ModelApi))
def test_names_do_not_depend_on_the_order_of_tools(api: ModelApi) -> None:
    """With all tools as one server's, and so with names that come again."""
    tools = list(
        dict.fromkeys(ToolName(each.name[:1], each.tool["name"]) for each in sample(SAMPLE))
    )
    shuffled = Random(3).sample(tools, len(tools))
    for prefix in ServerPrefix:
        names = dict(
            zip(tools, assign_tool_names(tools, PROVIDERS[api].tool_names, prefix), strict=True)
        )
        again = dict(
            zip(
                shuffled,
                assign_tool_names(shuffled, PROVIDERS[api].tool_names, prefix),
                strict=True,
            )
        )
        assert names == again
        assert len(set(names.values())) == len(tools)


@pytest.mark.parametrize(("api", "way"), [row for row in ROWS if row[0] not in ALIKE])
def test_arguments_of_real_tools_come_back_as_they_were(api: ModelApi, way: str) -> None:
    """Recorded ones, and random ones of each schema."""
    found = []
    for subject in (*sample(SAMPLE)[::5], *called()[:: len(called()) // 20]):
        result = _outcome(subject, api, way)
        if isinstance(result, ConvertedDefinition):
            original = subject.tool["inputSchema"]
            trip = Trip(original, result, oracle(original))
            told = list(trip.faults(list(subject.calls), Random(subject.name), 1))
            found += [(subject.name, subject.tool["name"], str(fault)) for fault in told[:1]]

    assert [] == found
