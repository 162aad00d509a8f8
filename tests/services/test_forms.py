"""Forms are made once, at once or by a worker."""

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
from sidecheck_server.services.conversion_cache import Forms
from support.converting import LongWork, asked, converted, inline, told, tool, validator_of

LIMITS = Limits()
ANTHROPIC = PROVIDERS[ModelApi.ANTHROPIC]


@pytest.fixture
async def registry() -> AsyncIterator[Registry]:
    opened = open_registry(None)
    yield opened
    opened.close()


@pytest.fixture
def long_work() -> LongWork:
    return LongWork(LIMITS)


@pytest.fixture
def converter(registry: Registry, long_work: LongWork) -> Converter:
    forms = Forms(long_work, LIMITS)
    return Converter(validator_of(registry, LIMITS), registry, forms, LIMITS)


async def test_forms_are_made_once(converter: Converter, long_work: LongWork) -> None:
    """Those that have none are not tried again either; another text is another definition."""
    padding = " " * 9000
    large = inline((json.dumps(tool("large")) + padding).encode())
    broken = tool("broken") | {"inputSchema": {"type": "object", "$ref": "urn:nowhere"}}
    no = inline((json.dumps(broken) + padding).encode())
    first = await converter.convert(asked(large, no))
    again = await converter.convert(asked(no, large))

    assert ["large", "broken"] == long_work.done
    assert [one.outcome for one in first.tools] == [one.outcome for one in again.tools][::-1]
    await converter.convert(asked(large, api=ANTHROPIC))
    await converter.convert(asked(large, options=ConversionOptions(assume_closed=True)))
    await converter.convert(asked(inline(large.json + b" ")))
    assert ["large", "broken", "large", "large", "large"] == long_work.done
    await converter.convert(
        asked(large, options=ConversionOptions(server_prefix=ServerPrefix.NEVER))
    )
    assert 5 == len(long_work.done)


async def test_definitions_of_one_digest_keep_their_own_order(converter: Converter) -> None:
    """Models are shown the order of members, which digests do not tell."""
    one, other = {"x": {"type": "string"}, "y": {}}, {"y": {}, "x": {"type": "string"}}
    orders = []
    for members in (one, other):
        sent = tool("a") | {"inputSchema": {"type": "object", "properties": members}}
        [found] = converted(await converter.convert(asked(inline(sent))))
        orders.append(list(json.loads(found.json)["function"]["parameters"]["properties"]))

    assert [["x", "y"], ["y", "x"]] == orders


async def test_what_may_pass_is_tried_again(registry: Registry) -> None:
    """A worker that died says nothing of the tool."""
    tries = []

    async def die(text: bytes, *_: Any) -> Any:
        tries.append(text)
        raise RequestError(ErrorReason.WORKER_CRASHED, "died")

    converter = Converter(validator_of(registry, LIMITS), registry, Forms(die, LIMITS), LIMITS)
    large = inline((json.dumps(tool("large")) + " " * 9000).encode())
    outcomes = [told(await converter.convert(asked(large))) for _ in range(2)]

    assert [[("", "large", "WORKER_CRASHED")]] * 2 == outcomes
    assert 2 == len(tries)


async def test_what_takes_too_many_inline_steps_is_left_to_a_worker(registry: Registry) -> None:
    """However small it is."""
    limits = replace(LIMITS, inline_steps=10)
    long_work = LongWork(limits)
    converter = Converter(
        validator_of(registry, limits), registry, Forms(long_work, limits), limits
    )
    done = await converter.convert(asked(inline(tool("a"))))

    assert ([("", "a", "a")], ["a"]) == (told(done), long_work.done)
