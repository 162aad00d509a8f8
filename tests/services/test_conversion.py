"""Conversion of the tools of a request: resolution, names, losses, limits."""

import json
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest
from sidecheck_server.core.convert.providers import PROVIDERS
from sidecheck_server.core.convert.types import ConversionOptions, Mode, ModelApi, ServerPrefix
from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.json_values import digest_of
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.schemas.dialects import SchemaSource
from sidecheck_server.registry import Registry
from sidecheck_server.registry.definitions import Definition
from sidecheck_server.registry.sqlite import open_registry
from sidecheck_server.services.conversion import (
    Converter,
    ToolToConvert,
)
from sidecheck_server.services.conversion_cache import ConversionCache
from sidecheck_server.services.targets import DefinitionDigest, RegisteredTool, SchemaDigest
from support.converting import (
    OffloadedConversions,
    conversion_request,
    converted,
    inline,
    outcomes,
    resolver_for,
    tool,
)

LIMITS = Limits(batch_items=30)
ANTHROPIC = PROVIDERS[ModelApi.ANTHROPIC]


def registered(name: str) -> Definition:
    entry = tool(name, description="registered")
    digest = digest_of(entry["inputSchema"])
    return Definition(digest_of(entry), name, json.dumps(entry).encode(), (), digest, None)


@pytest.fixture
async def registry() -> AsyncIterator[Registry]:
    """The server s has the tools a and b."""
    opened = open_registry(None)
    opened.register("s", [registered("a"), registered("b")], keep=None)
    yield opened
    opened.close()


@pytest.fixture
def offloaded() -> OffloadedConversions:
    return OffloadedConversions(LIMITS)


@pytest.fixture
def converter(registry: Registry, offloaded: OffloadedConversions) -> Converter:
    cache = ConversionCache(offloaded, LIMITS)
    return Converter(resolver_for(registry, LIMITS), registry, cache, LIMITS)


async def test_tools_are_converted_however_they_are_named(converter: Converter) -> None:
    """In the order of the request; what cannot be found does not affect the others."""
    missing = RequestError(ErrorReason.INVALID_REQUEST, "no tool is named")
    outcome = await converter.convert(
        conversion_request(
            inline(tool("mine")),
            RegisteredTool("s", "a"),
            DefinitionDigest(registered("b").digest),
            RegisteredTool("s", "x"),
            DefinitionDigest("sha256:0"),
            SchemaDigest(registered("b").input_schema_digest),
            SchemaSource(b"{}"),
            inline(b"{"),
            inline({"name": "half"}),
            missing,
        )
    )

    assert [
        ("", "mine", "mine"),
        ("s", "a", "a"),
        ("s", "b", "b"),
        ("s", "x", "UNKNOWN_TOOL"),
        ("", "", "UNKNOWN_DEFINITION"),
        ("", "", "INVALID_REQUEST"),
        ("", "", "INVALID_REQUEST"),
        ("", "", "INVALID_TOOL"),
        ("", "half", "INVALID_TOOL"),
        ("", "", "INVALID_REQUEST"),
    ] == outcomes(outcome)
    assert outcome.request.valid


async def test_a_converted_tool_has_its_json_and_a_mapping_that_knows_it(
    converter: Converter,
) -> None:
    """And its new name is told like any other difference."""
    entry = ToolToConvert(inline(tool("get weather", title="?")), "s")
    outcome = await converter.convert(conversion_request(tools=(entry,)))
    [found] = converted(outcome)

    assert "get_weather" == json.loads(found.json)["function"]["name"] == found.name
    assert {
        "sidecheck_mapping": 1,
        "api": "openai-chat",
        "name": "get_weather",
        "server": "s",
        "tool": "get weather",
        "definition_digest": digest_of(tool("get weather", title="?")),
        "strict": False,
    } == json.loads(found.mapping)
    assert "/name" in [loss.pointer for loss in found.losses]
    assert sorted(found.losses, key=lambda loss: loss.pointer) == list(found.losses)


async def test_tools_of_servers_come_after_the_others(converter: Converter) -> None:
    """Those that are registered now, in the order of their names."""
    tools = (ToolToConvert(inline(tool("a")), "t"), ToolToConvert(inline(tool("z")), "s"))
    outcome = await converter.convert(conversion_request(tools=tools, servers=("s",)))

    assert [
        ("t", "a", "t__a"),
        ("s", "z", "s__z"),
        ("s", "a", "s__a"),
        ("s", "b", "s__b"),
    ] == outcomes(outcome)


async def test_of_tools_with_one_name_the_last_one_counts(converter: Converter) -> None:
    """Of one server; what was not found is no tool."""
    a, b = RegisteredTool("s", "a"), RegisteredTool("s", "b")
    own = ToolToConvert(inline(tool("b", description="own")), "s")
    gone = ToolToConvert(RegisteredTool("s", "b", "sha256:0"))
    other = ToolToConvert(inline(tool("a")), "t")
    tools = (ToolToConvert(a), ToolToConvert(b), own, other, ToolToConvert(a), gone)
    options = ConversionOptions(server_prefix=ServerPrefix.ALWAYS)
    outcome = await converter.convert(conversion_request(tools=tools, options=options))

    assert [
        ("s", "a", "INVALID_REQUEST"),
        ("s", "b", "INVALID_REQUEST"),
        ("s", "b", "s__b"),
        ("t", "a", "t__a"),
        ("s", "a", "s__a"),
        ("s", "b", "DEFINITION_MISMATCH"),
    ] == outcomes(outcome)
    assert "own" == json.loads(converted(outcome)[0].json)["function"]["description"]


async def test_names_do_not_depend_on_what_can_be_converted(converter: Converter) -> None:
    """The same tools have the same names for every mode."""
    bad = tool("a.b") | {"inputSchema": {"type": "object", "$ref": "urn:nowhere"}}
    entry = await converter.convert(
        conversion_request(inline(bad), inline(tool("a_b")), inline(tool("a b")))
    )
    other = await converter.convert(conversion_request(inline(tool("a b")), inline(tool("a.b"))))

    assert [("", "a.b", "UNRESOLVABLE_REFERENCE"), ("", "a_b", "a_b")] == outcomes(entry)[:2]
    assert outcomes(entry)[2] == outcomes(other)[0]


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({"servers": ("x",)}, (ErrorReason.INVALID_REQUEST, {"field": "servers", "server": "x"})),
        (
            {"tools": (ToolToConvert(inline(tool("a"))),) * 31},
            (ErrorReason.LIMIT_EXCEEDED, {"bound": "batch_items", "limit": "30", "found": "31"}),
        ),
        (
            {"tools": (ToolToConvert(inline(tool("a"))),) * 29, "servers": ("s",)},
            (ErrorReason.LIMIT_EXCEEDED, {"bound": "batch_items", "limit": "30"}),
        ),
        (
            {"servers": ("s",) * 16},
            (ErrorReason.LIMIT_EXCEEDED, {"bound": "batch_items", "limit": "30"}),
        ),
    ],
    ids=["a server without tools", "tools", "tools and those of a server", "servers"],
)
async def test_requests_that_ask_for_too_much_or_nothing_are_rejected(
    converter: Converter, more: Any, expected: Any
) -> None:
    """As a whole."""
    with pytest.raises(RequestError) as raised:
        await converter.convert(conversion_request(**more))

    assert expected == (raised.value.reason, raised.value.metadata)


async def test_as_many_tools_as_a_request_may_have_are_converted(converter: Converter) -> None:
    """Those of servers among them."""
    tools = tuple(ToolToConvert(inline(tool(f"t{count}"))) for count in range(28))
    outcome = await converter.convert(conversion_request(tools=tools, servers=("s",)))

    assert 30 == len(converted(outcome))


async def test_converted_tools_that_no_answer_could_hold_are_rejected(registry: Registry) -> None:
    """Before all of them are converted."""
    limits = replace(LIMITS, message_bytes=1000)
    offloaded = OffloadedConversions(limits)
    converter = Converter(
        resolver_for(registry, limits), registry, ConversionCache(offloaded, limits), limits
    )
    several = [inline(_with_a_member_of(600, name)) for name in "abc"]
    with pytest.raises(RequestError) as raised:
        await converter.convert(conversion_request(*several))

    assert "message_bytes" == raised.value.metadata["bound"]


async def test_a_converted_tool_that_no_answer_could_hold_does_not_affect_the_others(
    registry: Registry,
) -> None:
    """What it is converted to may be many times as large as its definition."""
    limits = replace(LIMITS, message_bytes=1000)
    forms = ConversionCache(OffloadedConversions(limits), limits)
    converter = Converter(resolver_for(registry, limits), registry, forms, limits)
    outcome = await converter.convert(
        conversion_request(inline(_with_a_member_of(1000, "a")), inline(tool("b")))
    )

    assert ["LIMIT_EXCEEDED", "b"] == [end for _, _, end in outcomes(outcome)]


def _with_a_member_of(length: int, name: str) -> dict[str, Any]:
    """Return a tool that has a member with a name of that *length*."""
    member = {"x" * length: {"type": "string"}}
    return tool(name) | {"inputSchema": {"type": "object", "properties": member}}


async def test_a_tool_whose_mapping_would_be_too_large_does_not_affect_the_others(
    converter: Converter,
) -> None:
    """A mapping has the name of its tool, which may be as long as the definition."""
    outcome = await converter.convert(
        conversion_request(inline(tool("x" * 300_000)), inline(tool("a")))
    )

    assert ["NOT_CONVERTIBLE", "a"] == [end for _, _, end in outcomes(outcome)]


async def test_as_many_tools_are_strict_as_the_api_takes_together(converter: Converter) -> None:
    """The others are compatible, and say why."""
    options = ConversionOptions(mode=Mode.STRICT_IF_LOSSLESS)
    targets = [inline(tool(f"t{count}")) for count in range(22)]
    outcome = await converter.convert(conversion_request(*targets, api=ANTHROPIC, options=options))
    strict = [entry.strict for entry in converted(outcome)]

    assert [True] * 20 + [False] * 2 == strict
    assert strict == [json.loads(entry.json)["strict"] for entry in converted(outcome)]
    assert strict == [json.loads(entry.mapping)["strict"] for entry in converted(outcome)]
    assert {"", converted(outcome)[-1].not_strict_reason} == {
        entry.not_strict_reason for entry in converted(outcome)
    }
    assert "at most 20 strict tools" in converted(outcome)[-1].not_strict_reason
    assert outcome.request.valid


async def test_strict_tools_that_are_too_many_are_told(converter: Converter) -> None:
    """Where each of them must be strict; the list is that of the tools that were converted."""
    options = ConversionOptions(mode=Mode.STRICT)
    targets = [inline(b"{"), *(inline(tool(f"t{count}")) for count in range(21))]
    outcome = await converter.convert(conversion_request(*targets, api=ANTHROPIC, options=options))

    assert [("/20", "REQUEST_STRICT_TOOLS")] == [
        (entry.instance_location, entry.code) for entry in outcome.request.violations
    ]
    assert [True] * 21 == [entry.strict for entry in converted(outcome)]


async def test_nothing_is_converted_to_nothing(converter: Converter) -> None:
    """A client may have no tools."""
    outcome = await converter.convert(conversion_request())

    assert ((), True) == (outcome.tools, outcome.request.valid)
