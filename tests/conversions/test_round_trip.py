"""Arguments come back from a model as they were, whatever the schema."""

from random import Random
from typing import Any

import pytest
from conversions.hostile import tools
from conversions.making import WAYS, defined, made, oracle
from conversions.round_trip import Trip
from hypothesis import HealthCheck, assume, given, settings
from preflight.checker import faults
from sidecheck_server.core.convert.words import ModelApi
from sidecheck_server.core.errors import RequestError

LOOKED_AT = [
    *((ModelApi.OPENAI_CHAT, way) for way in WAYS),
    (ModelApi.ANTHROPIC, "compatible"),
    (ModelApi.ANTHROPIC, "if lossless"),
    *((api, "compatible") for api in (ModelApi.GEMINI, ModelApi.GEMINI_JSON, ModelApi.OLLAMA)),
]


@pytest.mark.parametrize(("api", "way"), LOOKED_AT)
@given(tool=tools())
@settings(
    max_examples=40,
    deadline=None,
    derandomize=True,
    report_multiple_bugs=False,
    suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow],
)
def test_arguments_come_back_as_they_were(api: ModelApi, way: str, tool: dict[str, Any]) -> None:
    """With schemas that are small, and hard to convert."""
    try:
        result = made(defined(tool), api, WAYS[way])
    except RequestError:
        assume(False)
    schema = tool["inputSchema"]
    trip = Trip(schema, result, oracle(schema))

    assert [] == list(faults(api, result.tool, strict=result.strict))
    assert [] == [str(fault) for fault in trip.faults([], Random(7), 4)]
