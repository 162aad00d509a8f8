"""Conversion of the tools of a request: found, named and converted together."""

import json
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest
from sidecheck_server.core.convert.providers import PROVIDERS
from sidecheck_server.core.convert.types import ConversionOptions, Mode, ModelApi, ServerPrefix
from sidecheck_server.core.digests import digest_of
from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.schemas.source import SchemaSource
from sidecheck_server.registry import Registry
from sidecheck_server.registry.definitions import Definition
from sidecheck_server.registry.sqlite import open_registry
from sidecheck_server.services.conversion import (
    Converter,
    ToolToConvert,
)
from sidecheck_server.services.conversion_cache import Forms
from sidecheck_server.services.targets import DefinitionDigest, RegisteredTool, SchemaDigest
from support.converting import LongWork, asked, converted, inline, told, tool, validator_of

LIMITS = Limits(batch_items=30)
ANTHROPIC = PROVIDERS[ModelApi.ANTHROPIC]


def registered(name: str) -> Definition:
    one = tool(name, description="registered")
    digest = digest_of(one["inputSchema"])
    return Definition(digest_of(one), name, json.dumps(one).encode(), (), digest, None)


@pytest.fixture
async def registry() -> AsyncIterator[Registry]:
    """The server s has the tools a and b."""
    opened = open_registry(None)
    opened.register("s", [registered("a"), registered("b")], keep=None)
    yield opened
    opened.close()


@pytest.fixture
def long_work() -> LongWork:
    return LongWork(LIMITS)


@pytest.fixture
def converter(registry: Registry, long_work: LongWork) -> Converter:
    forms = Forms(long_work, LIMITS)
    return Converter(validator_of(registry, LIMITS), registry, forms, LIMITS)


async def test_tools_are_converted_however_they_are_named(converter: Converter) -> None:
    """In the order of the request; what cannot be found costs the others nothing."""
    missing = RequestError(ErrorReason.INVALID_REQUEST, "no tool is named")
    done = await converter.convert(
        asked(
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
    ] == told(done)
    assert done.request.valid


async def test_a_converted_tool_has_its_json_and_a_plan_that_knows_it(
    converter: Converter,
) -> None:
    """And its new name is told like any other difference."""
    one = ToolToConvert(inline(tool("get weather", title="?")), "s")
    done = await converter.convert(asked(tools=(one,)))
    [found] = converted(done)

    assert "get_weather" == json.loads(found.json)["function"]["name"] == found.name
    assert {
        "sidecheck_plan": 1,
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
    done = await converter.convert(asked(tools=tools, servers=("s",)))

    assert [
        ("t", "a", "t__a"),
        ("s", "z", "s__z"),
        ("s", "a", "s__a"),
        ("s", "b", "s__b"),
    ] == told(done)


async def test_of_tools_with_one_name_the_last_one_counts(converter: Converter) -> None:
    """Of one server; what was not found is no tool."""
    a, b = RegisteredTool("s", "a"), RegisteredTool("s", "b")
    own = ToolToConvert(inline(tool("b", description="own")), "s")
    gone = ToolToConvert(RegisteredTool("s", "b", "sha256:0"))
    other = ToolToConvert(inline(tool("a")), "t")
    tools = (ToolToConvert(a), ToolToConvert(b), own, other, ToolToConvert(a), gone)
    options = ConversionOptions(server_prefix=ServerPrefix.ALWAYS)
    done = await converter.convert(asked(tools=tools, options=options))

    assert [
        ("s", "a", "INVALID_REQUEST"),
        ("s", "b", "INVALID_REQUEST"),
        ("s", "b", "s__b"),
        ("t", "a", "t__a"),
        ("s", "a", "s__a"),
        ("s", "b", "DEFINITION_MISMATCH"),
    ] == told(done)
    assert "own" == json.loads(converted(done)[0].json)["function"]["description"]


async def test_names_do_not_depend_on_what_can_be_converted(converter: Converter) -> None:
    """The same tools have the same names for every mode."""
    bad = tool("a.b") | {"inputSchema": {"type": "object", "$ref": "urn:nowhere"}}
    one = await converter.convert(asked(inline(bad), inline(tool("a_b")), inline(tool("a b"))))
    other = await converter.convert(asked(inline(tool("a b")), inline(tool("a.b"))))

    assert [("", "a.b", "UNRESOLVABLE_REFERENCE"), ("", "a_b", "a_b")] == told(one)[:2]
    assert told(one)[2] == told(other)[0]


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
async def test_requests_that_ask_for_too_much_or_nothing_are_refused(
    converter: Converter, more: Any, expected: Any
) -> None:
    """As a whole."""
    with pytest.raises(RequestError) as caught:
        await converter.convert(asked(**more))

    assert expected == (caught.value.reason, caught.value.metadata)


async def test_as_many_tools_as_a_request_may_have_are_converted(converter: Converter) -> None:
    """Those of servers among them."""
    tools = tuple(ToolToConvert(inline(tool(f"t{count}"))) for count in range(28))
    done = await converter.convert(asked(tools=tools, servers=("s",)))

    assert 30 == len(converted(done))


async def test_converted_tools_that_no_answer_could_hold_are_refused(registry: Registry) -> None:
    """Before all of them are converted."""
    limits = replace(LIMITS, message_bytes=1000)
    long_work = LongWork(limits)
    converter = Converter(
        validator_of(registry, limits), registry, Forms(long_work, limits), limits
    )
    several = [inline(_with_a_member_of(600, name)) for name in "abc"]
    with pytest.raises(RequestError) as caught:
        await converter.convert(asked(*several))

    assert "message_bytes" == caught.value.metadata["bound"]


async def test_a_converted_tool_that_no_answer_could_hold_costs_the_others_nothing(
    registry: Registry,
) -> None:
    """What it is converted to may be many times as large as its definition."""
    limits = replace(LIMITS, message_bytes=1000)
    forms = Forms(LongWork(limits), limits)
    converter = Converter(validator_of(registry, limits), registry, forms, limits)
    done = await converter.convert(asked(inline(_with_a_member_of(1000, "a")), inline(tool("b"))))

    assert ["LIMIT_EXCEEDED", "b"] == [end for _, _, end in told(done)]


def _with_a_member_of(length: int, name: str) -> dict[str, Any]:
    """Return a tool that has a member with a name of that *length*."""
    member = {"x" * length: {"type": "string"}}
    return tool(name) | {"inputSchema": {"type": "object", "properties": member}}


async def test_a_tool_whose_plan_would_be_too_large_costs_the_others_nothing(
    converter: Converter,
) -> None:
    """A plan has the name of its tool, which may be as long as the definition."""
    done = await converter.convert(asked(inline(tool("x" * 300_000)), inline(tool("a"))))

    assert ["NOT_CONVERTIBLE", "a"] == [end for _, _, end in told(done)]


async def test_as_many_tools_are_strict_as_the_api_takes_together(converter: Converter) -> None:
    """The others are compatible, and say why."""
    options = ConversionOptions(mode=Mode.STRICT_IF_LOSSLESS)
    targets = [inline(tool(f"t{count}")) for count in range(22)]
    done = await converter.convert(asked(*targets, api=ANTHROPIC, options=options))
    strict = [one.strict for one in converted(done)]

    assert [True] * 20 + [False] * 2 == strict
    assert strict == [json.loads(one.json)["strict"] for one in converted(done)]
    assert strict == [json.loads(one.mapping)["strict"] for one in converted(done)]
    assert {"", converted(done)[-1].not_strict_reason} == {
        one.not_strict_reason for one in converted(done)
    }
    assert "at most 20 strict tools" in converted(done)[-1].not_strict_reason
    assert done.request.valid


async def test_strict_tools_that_are_too_many_are_told(converter: Converter) -> None:
    """Where each of them must be strict; the list is that of the tools that were converted."""
    options = ConversionOptions(mode=Mode.STRICT)
    targets = [inline(b"{"), *(inline(tool(f"t{count}")) for count in range(21))]
    done = await converter.convert(asked(*targets, api=ANTHROPIC, options=options))

    assert [("/20", "REQUEST_STRICT_TOOLS")] == [
        (one.instance_location, one.code) for one in done.request.violations
    ]
    assert [True] * 21 == [one.strict for one in converted(done)]


async def test_nothing_is_converted_to_nothing(converter: Converter) -> None:
    """A client may have no tools."""
    done = await converter.convert(asked())

    assert ((), True) == (done.tools, done.request.valid)
