"""Cache of converted definitions: stored results, errors and offloading."""

import json
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest
from sidecheck_server.core.convert.providers import PROVIDERS
from sidecheck_server.core.convert.types import ConversionOptions, ModelApi, ServerPrefix
from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.limits import Limits
from sidecheck_server.registry import Registry
from sidecheck_server.registry.sqlite import open_registry
from sidecheck_server.services.conversion import (
    ConversionCache,
    Converter,
)
from support.converting import (
    conversion_request,
    converted,
    inline,
    outcomes,
    resolver_for,
    tool,
)
from support.recorded_tasks import RecordedTasks

LIMITS = Limits()
ANTHROPIC = PROVIDERS[ModelApi.ANTHROPIC]


@pytest.fixture
async def registry() -> AsyncIterator[Registry]:
    opened = open_registry(None)
    yield opened
    opened.close()


@pytest.fixture
def offloaded() -> RecordedTasks:
    return RecordedTasks(LIMITS)


@pytest.fixture
def converter(registry: Registry, offloaded: RecordedTasks) -> Converter:
    cache = ConversionCache(offloaded, LIMITS)
    return Converter(resolver_for(registry, LIMITS), registry, cache, LIMITS)


async def test_a_definition_is_converted_once(
    converter: Converter, offloaded: RecordedTasks
) -> None:
    """Errors are cached too; another text is another definition."""
    padding = " " * 9000
    large = inline((json.dumps(tool("large")) + padding).encode())
    broken = tool("broken") | {"inputSchema": {"type": "object", "$ref": "urn:nowhere"}}
    invalid = inline((json.dumps(broken) + padding).encode())
    first = await converter.convert(conversion_request(large, invalid))
    again = await converter.convert(conversion_request(invalid, large))

    assert ["large", "broken"] == offloaded.converted
    assert [entry.outcome for entry in first.tools] == [entry.outcome for entry in again.tools][
        ::-1
    ]
    await converter.convert(conversion_request(large, api=ANTHROPIC))
    await converter.convert(
        conversion_request(large, options=ConversionOptions(assume_closed=True))
    )
    await converter.convert(conversion_request(inline(large.json + b" ")))
    assert ["large", "broken", "large", "large", "large"] == offloaded.converted
    await converter.convert(
        conversion_request(large, options=ConversionOptions(server_prefix=ServerPrefix.NEVER))
    )
    assert 5 == len(offloaded.converted)


async def test_definitions_of_one_digest_keep_their_property_order(converter: Converter) -> None:
    """Models see the order of properties, which digests ignore."""
    first, second = {"x": {"type": "string"}, "y": {}}, {"y": {}, "x": {"type": "string"}}
    orders = []
    for properties in (first, second):
        definition = tool("a") | {"inputSchema": {"type": "object", "properties": properties}}
        [converted_tool] = converted(
            await converter.convert(conversion_request(inline(definition)))
        )
        orders.append(list(json.loads(converted_tool.json)["function"]["parameters"]["properties"]))

    assert [["x", "y"], ["y", "x"]] == orders


async def test_transient_errors_are_not_cached(registry: Registry) -> None:
    """The crash of a worker is no property of the tool."""
    crash = RecordedTasks(LIMITS, *[RequestError(ErrorReason.WORKER_CRASHED, "died")] * 2)
    converter = Converter(
        resolver_for(registry, LIMITS), registry, ConversionCache(crash, LIMITS), LIMITS
    )
    large = inline((json.dumps(tool("large")) + " " * 9000).encode())
    errors = [outcomes(await converter.convert(conversion_request(large))) for _ in range(2)]

    assert [[("", "large", "WORKER_CRASHED")]] * 2 == errors
    assert 2 == len(crash.tasks)


async def test_conversions_beyond_the_inline_steps_are_offloaded(registry: Registry) -> None:
    """The number of steps counts, not the size."""
    limits = replace(LIMITS, inline_steps=10)
    offloaded = RecordedTasks(limits)
    converter = Converter(
        resolver_for(registry, limits), registry, ConversionCache(offloaded, limits), limits
    )
    outcome = await converter.convert(conversion_request(inline(tool("a"))))

    assert ([("", "a", "a")], ["a"]) == (outcomes(outcome), offloaded.converted)
