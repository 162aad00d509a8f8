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
    ConversionCache,
    Converter,
    ToolToConvert,
)
from sidecheck_server.services.targets import DefinitionDigest, RegisteredTool, SchemaDigest
from support.converting import (
    conversion_request,
    converted,
    inline,
    outcomes,
    resolver_for,
    tool,
)
from support.recorded_tasks import RecordedTasks

LIMITS = Limits(batch_items=30)
ANTHROPIC = PROVIDERS[ModelApi.ANTHROPIC]


def registered(name: str) -> Definition:
    definition = tool(name, description="registered")
    digest = digest_of(definition["inputSchema"])
    return Definition(
        digest_of(definition), name, json.dumps(definition).encode(), (), digest, None, "2025-11-25"
    )


@pytest.fixture
async def registry() -> AsyncIterator[Registry]:
    """Yield a registry where the server s has the tools a and b."""
    opened = open_registry(None)
    opened.register("s", [registered("a"), registered("b")], keep=None)
    yield opened
    opened.close()


@pytest.fixture
def offloaded() -> RecordedTasks:
    return RecordedTasks(LIMITS)


@pytest.fixture
def converter(registry: Registry, offloaded: RecordedTasks) -> Converter:
    cache = ConversionCache(offloaded, LIMITS)
    return Converter(resolver_for(registry, LIMITS), registry, cache, LIMITS)


async def test_every_target_kind_is_converted(converter: Converter) -> None:
    """Results are in request order; targets that cannot be resolved have an error each."""
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


async def test_a_converted_tool_has_json_and_a_mapping(
    converter: Converter,
) -> None:
    """A changed name is listed among the losses."""
    tool_to_convert = ToolToConvert(inline(tool("get weather", title="?")), "s")
    outcome = await converter.convert(conversion_request(tools=(tool_to_convert,)))
    [converted_tool] = converted(outcome)

    assert (
        "get_weather" == json.loads(converted_tool.json)["function"]["name"] == converted_tool.name
    )
    assert {
        "sidecheck_mapping": 1,
        "api": "openai-chat",
        "name": "get_weather",
        "server": "s",
        "tool": "get weather",
        "definition_digest": digest_of(tool("get weather", title="?")),
        "strict": False,
    } == json.loads(converted_tool.mapping)
    assert "/name" in [loss.pointer for loss in converted_tool.losses]
    assert sorted(converted_tool.losses, key=lambda loss: loss.pointer) == list(
        converted_tool.losses
    )


async def test_tools_of_servers_are_listed_last(converter: Converter) -> None:
    """Registered tools of the servers are sorted by name."""
    tools = (ToolToConvert(inline(tool("a")), "t"), ToolToConvert(inline(tool("z")), "s"))
    outcome = await converter.convert(conversion_request(tools=tools, servers=("s",)))

    assert [
        ("t", "a", "t__a"),
        ("s", "z", "s__z"),
        ("s", "a", "s__a"),
        ("s", "b", "s__b"),
    ] == outcomes(outcome)


async def test_the_last_tool_of_a_name_is_converted(converter: Converter) -> None:
    """Names are compared per server; targets that cannot be resolved are ignored."""
    a, b = RegisteredTool("s", "a"), RegisteredTool("s", "b")
    own = ToolToConvert(inline(tool("b", description="own")), "s")
    missing = ToolToConvert(RegisteredTool("s", "b", "sha256:0"))
    other_tool = ToolToConvert(inline(tool("a")), "t")
    tools = (ToolToConvert(a), ToolToConvert(b), own, other_tool, ToolToConvert(a), missing)
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


async def test_names_do_not_depend_on_conversion_errors(converter: Converter) -> None:
    """The same tools get the same names in every mode."""
    bad = tool("a.b") | {"inputSchema": {"type": "object", "$ref": "urn:nowhere"}}
    outcome = await converter.convert(
        conversion_request(inline(bad), inline(tool("a_b")), inline(tool("a b")))
    )
    without_error = await converter.convert(
        conversion_request(inline(tool("a b")), inline(tool("a.b")))
    )

    assert [("", "a.b", "UNRESOLVABLE_REFERENCE"), ("", "a_b", "a_b")] == outcomes(outcome)[:2]
    assert outcomes(outcome)[2] == outcomes(without_error)[0]


@pytest.mark.parametrize(
    ("fields", "expected"),
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
async def test_requests_beyond_the_limits_are_rejected(
    converter: Converter, fields: Any, expected: Any
) -> None:
    """The error is that of the whole request."""
    with pytest.raises(RequestError) as raised:
        await converter.convert(conversion_request(**fields))

    assert expected == (raised.value.reason, raised.value.metadata)


async def test_a_request_of_the_maximum_size_is_converted(converter: Converter) -> None:
    """Tools of servers count toward the limit."""
    tools = tuple(ToolToConvert(inline(tool(f"t{count}"))) for count in range(28))
    outcome = await converter.convert(conversion_request(tools=tools, servers=("s",)))

    assert 30 == len(converted(outcome))


async def test_conversions_beyond_the_message_limit_are_rejected(registry: Registry) -> None:
    """The error is raised before all tools are converted."""
    limits = replace(LIMITS, message_bytes=1000)
    offloaded = RecordedTasks(limits)
    converter = Converter(
        resolver_for(registry, limits), registry, ConversionCache(offloaded, limits), limits
    )
    several = [inline(_tool_with_long_property(600, name)) for name in "abc"]
    with pytest.raises(RequestError) as raised:
        await converter.convert(conversion_request(*several))

    assert "message_bytes" == raised.value.metadata["bound"]


async def test_a_conversion_beyond_the_message_limit_does_not_affect_others(
    registry: Registry,
) -> None:
    """A converted tool may be many times as large as its definition."""
    limits = replace(LIMITS, message_bytes=1000)
    cache = ConversionCache(RecordedTasks(limits), limits)
    converter = Converter(resolver_for(registry, limits), registry, cache, limits)
    outcome = await converter.convert(
        conversion_request(inline(_tool_with_long_property(1000, "a")), inline(tool("b")))
    )

    assert ["LIMIT_EXCEEDED", "b"] == [result for _, _, result in outcomes(outcome)]


def _tool_with_long_property(length: int, name: str) -> dict[str, Any]:
    """Return a tool with a property whose name has that *length*."""
    properties = {"x" * length: {"type": "string"}}
    return tool(name) | {"inputSchema": {"type": "object", "properties": properties}}


async def test_a_tool_with_too_large_a_mapping_does_not_affect_others(
    converter: Converter,
) -> None:
    """A mapping has the name of its tool, which may be as long as the definition."""
    outcome = await converter.convert(
        conversion_request(inline(tool("x" * 300_000)), inline(tool("a")))
    )

    assert ["NOT_CONVERTIBLE", "a"] == [result for _, _, result in outcomes(outcome)]


async def test_strict_tools_are_limited_by_the_api(converter: Converter) -> None:
    """Tools beyond the API's limit are converted in compatible mode, with the reason."""
    options = ConversionOptions(mode=Mode.STRICT_IF_LOSSLESS)
    targets = [inline(tool(f"t{count}")) for count in range(22)]
    outcome = await converter.convert(conversion_request(*targets, api=ANTHROPIC, options=options))
    strict = [converted_tool.strict for converted_tool in converted(outcome)]

    assert [True] * 20 + [False] * 2 == strict
    assert strict == [
        json.loads(converted_tool.json)["strict"] for converted_tool in converted(outcome)
    ]
    assert strict == [
        json.loads(converted_tool.mapping)["strict"] for converted_tool in converted(outcome)
    ]
    assert {"", converted(outcome)[-1].not_strict_reason} == {
        converted_tool.not_strict_reason for converted_tool in converted(outcome)
    }
    assert "at most 20 strict tools" in converted(outcome)[-1].not_strict_reason
    assert outcome.request.valid


async def test_too_many_strict_tools_are_reported(converter: Converter) -> None:
    """In strict mode, the violation points into the list of converted tools."""
    options = ConversionOptions(mode=Mode.STRICT)
    targets = [inline(b"{"), *(inline(tool(f"t{count}")) for count in range(21))]
    outcome = await converter.convert(conversion_request(*targets, api=ANTHROPIC, options=options))

    assert [("/20", "REQUEST_STRICT_TOOLS")] == [
        (violation.instance_location, violation.code) for violation in outcome.request.violations
    ]
    assert [True] * 21 == [converted_tool.strict for converted_tool in converted(outcome)]


async def test_a_request_without_tools_is_valid(converter: Converter) -> None:
    """A client may have no tools."""
    outcome = await converter.convert(conversion_request())

    assert ((), True) == (outcome.tools, outcome.request.valid)
