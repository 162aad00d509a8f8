"""Cache of converted definitions: stored results, errors and offloading."""

import json
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest
from sidecheck_server.core.convert.providers import PROVIDERS
from sidecheck_server.core.convert.types import ConversionOptions, ModelApi, ServerPrefix
from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.limits import Limits
from sidecheck_server.registry import Registry
from sidecheck_server.registry.sqlite import open_registry
from sidecheck_server.services.conversion import (
    Converter,
)
from sidecheck_server.services.conversion_cache import ConversionCache
from support.converting import (
    OffloadedConversions,
    conversion_request,
    converted,
    inline,
    outcomes,
    resolver_for,
    tool,
)

LIMITS = Limits()
ANTHROPIC = PROVIDERS[ModelApi.ANTHROPIC]


@pytest.fixture
async def registry() -> AsyncIterator[Registry]:
    opened = open_registry(None)
    yield opened
    opened.close()


@pytest.fixture
def offloaded() -> OffloadedConversions:
    return OffloadedConversions(LIMITS)


@pytest.fixture
def converter(registry: Registry, offloaded: OffloadedConversions) -> Converter:
    cache = ConversionCache(offloaded, LIMITS)
    return Converter(resolver_for(registry, LIMITS), registry, cache, LIMITS)


async def test_forms_are_made_once(converter: Converter, offloaded: OffloadedConversions) -> None:
    """Those that have none are not tried again either; another text is another definition."""
    padding = " " * 9000
    large = inline((json.dumps(tool("large")) + padding).encode())
    broken = tool("broken") | {"inputSchema": {"type": "object", "$ref": "urn:nowhere"}}
    no = inline((json.dumps(broken) + padding).encode())
    first = await converter.convert(conversion_request(large, no))
    again = await converter.convert(conversion_request(no, large))

    assert ["large", "broken"] == offloaded.names
    assert [entry.outcome for entry in first.tools] == [entry.outcome for entry in again.tools][
        ::-1
    ]
    await converter.convert(conversion_request(large, api=ANTHROPIC))
    await converter.convert(
        conversion_request(large, options=ConversionOptions(assume_closed=True))
    )
    await converter.convert(conversion_request(inline(large.json + b" ")))
    assert ["large", "broken", "large", "large", "large"] == offloaded.names
    await converter.convert(
        conversion_request(large, options=ConversionOptions(server_prefix=ServerPrefix.NEVER))
    )
    assert 5 == len(offloaded.names)


async def test_definitions_of_one_digest_keep_their_own_order(converter: Converter) -> None:
    """Models are shown the order of members, which digests do not tell."""
    entry, other = {"x": {"type": "string"}, "y": {}}, {"y": {}, "x": {"type": "string"}}
    orders = []
    for members in (entry, other):
        sent = tool("a") | {"inputSchema": {"type": "object", "properties": members}}
        [found] = converted(await converter.convert(conversion_request(inline(sent))))
        orders.append(list(json.loads(found.json)["function"]["parameters"]["properties"]))

    assert [["x", "y"], ["y", "x"]] == orders


async def test_what_may_pass_is_tried_again(registry: Registry) -> None:
    """A worker that died says nothing of the tool."""
    tries = []

    async def die(text: bytes, *_: Any) -> Any:
        tries.append(text)
        raise RequestError(ErrorReason.WORKER_CRASHED, "died")

    converter = Converter(
        resolver_for(registry, LIMITS), registry, ConversionCache(die, LIMITS), LIMITS
    )
    large = inline((json.dumps(tool("large")) + " " * 9000).encode())
    errors = [outcomes(await converter.convert(conversion_request(large))) for _ in range(2)]

    assert [[("", "large", "WORKER_CRASHED")]] * 2 == errors
    assert 2 == len(tries)


async def test_what_takes_too_many_inline_steps_is_left_to_a_worker(registry: Registry) -> None:
    """However small it is."""
    limits = replace(LIMITS, inline_steps=10)
    offloaded = OffloadedConversions(limits)
    converter = Converter(
        resolver_for(registry, limits), registry, ConversionCache(offloaded, limits), limits
    )
    done = await converter.convert(conversion_request(inline(tool("a"))))

    assert ([("", "a", "a")], ["a"]) == (outcomes(done), offloaded.names)
