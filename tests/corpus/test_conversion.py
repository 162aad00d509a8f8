"""Real tools are converted for every API, and their arguments convert back."""

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
    (api, options_name)
    for api in ModelApi
    for options_name in OPTIONS
    if PROVIDERS[api].strict is not None or OPTIONS[options_name].mode is Mode.COMPATIBLE
    if api not in ALIKE or OPTIONS[options_name].mode is not Mode.STRICT_IF_LOSSLESS
]


@cache
def outcomes(
    api: ModelApi, options_name: str
) -> tuple[tuple[Subject, ConvertedDefinition | RequestError], ...]:
    """Return the conversion outcome of every sampled tool."""
    return tuple((subject, _outcome(subject, api, options_name)) for subject in sample(SAMPLE))


def _outcome(
    subject: Subject, api: ModelApi, options_name: str
) -> ConvertedDefinition | RequestError:
    try:
        return convert_tool(read_definition(subject.tool), api, OPTIONS[options_name])
    except RequestError as error:
        return error


def conversions(api: ModelApi, options_name: str) -> list[tuple[Subject, ConvertedDefinition]]:
    """Return those of the sampled tools that were converted."""
    return [
        (subject, outcome)
        for subject, outcome in outcomes(api, options_name)
        if isinstance(outcome, ConvertedDefinition)
    ]


@pytest.mark.parametrize(("api", "options_name"), ROWS)
def test_real_tools_are_converted_or_rejected_with_a_reason(
    api: ModelApi, options_name: str
) -> None:
    reasons = Counter(
        outcome.reason
        for _, outcome in outcomes(api, options_name)
        if not isinstance(outcome, ConvertedDefinition)
    )

    assert reasons.keys() <= {ErrorReason.INVALID_SCHEMA, ErrorReason.NOT_CONVERTIBLE}
    if OPTIONS[options_name].mode is not Mode.STRICT:
        assert ErrorReason.NOT_CONVERTIBLE not in reasons
    assert len(conversions(api, options_name)) >= LEAST * len(sample(SAMPLE))


@pytest.mark.parametrize(("api", "options_name"), ROWS)
def test_converted_tools_pass_the_preflight(api: ModelApi, options_name: str) -> None:
    assert [] == [
        (subject.name, message)
        for subject, definition in conversions(api, options_name)
        for message in faults(api, definition.tool, strict=definition.strict)
    ]


@pytest.mark.parametrize(("api", "options_name"), ROWS)
def test_converted_tools_match_the_types_of_the_provider(api: ModelApi, options_name: str) -> None:
    for _, definition in conversions(api, options_name):
        validate_tool(api, definition.json)


@pytest.mark.parametrize(("api", "options_name"), ROWS)
def test_conversion_gives_the_same_bytes_each_time(api: ModelApi, options_name: str) -> None:
    for subject, definition in conversions(api, options_name)[::10]:
        converted_again = convert_tool(read_definition(subject.tool), api, OPTIONS[options_name])
        assert (definition.json, definition.form) == (converted_again.json, converted_again.form)


@pytest.mark.parametrize("api", list(ModelApi))
def test_names_do_not_depend_on_the_order_of_tools(api: ModelApi) -> None:
    """All tools count as one server's, so names repeat."""
    tools = list(
        dict.fromkeys(
            ToolName(subject.name[:1], subject.tool["name"]) for subject in sample(SAMPLE)
        )
    )
    shuffled = Random(3).sample(tools, len(tools))
    for prefix in ServerPrefix:
        names = dict(
            zip(tools, assign_tool_names(tools, PROVIDERS[api].tool_names, prefix), strict=True)
        )
        names_again = dict(
            zip(
                shuffled,
                assign_tool_names(shuffled, PROVIDERS[api].tool_names, prefix),
                strict=True,
            )
        )
        assert names == names_again
        assert len(set(names.values())) == len(tools)


@pytest.mark.parametrize(("api", "options_name"), [row for row in ROWS if row[0] not in ALIKE])
def test_arguments_of_real_tools_come_back_as_they_were(api: ModelApi, options_name: str) -> None:
    """Uses recorded arguments, and random ones for each schema."""
    faults = []
    for subject in (*sample(SAMPLE)[::5], *called()[:: len(called()) // 20]):
        result = _outcome(subject, api, options_name)
        if isinstance(result, ConvertedDefinition):
            original = subject.tool["inputSchema"]
            trip = Trip(original, result, oracle(original))
            trip_faults = list(trip.faults(list(subject.calls), Random(subject.name), 1))
            faults += [
                (subject.name, subject.tool["name"], str(fault)) for fault in trip_faults[:1]
            ]

    assert [] == faults
