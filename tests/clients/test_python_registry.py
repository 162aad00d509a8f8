"""The Python client and the registry: what it says, and what a real server answers."""

from typing import Any

import grpc
import pytest
from sidecheck import (
    Action,
    Client,
    Document,
    Registration,
    SidecheckError,
    ToolDefinition,
)
from sidecheck.conversations import Conversation, Conversations
from sidecheck.v1 import info_service_pb2 as info_pb
from sidecheck.v1 import registry_service_pb2 as registry_pb
from support.conversations import hold
from support.weather_tools import ALERTS, FORECAST, INPUT, register


def told(**limits: Any) -> info_pb.GetServerInfoResponse:
    """Return the facts of a server with these limits."""
    return info_pb.GetServerInfoResponse(limits=info_pb.Limits(**limits))


def registering(*texts: bytes, replace: bool = False) -> Conversation[Registration]:
    """Return the conversation that registers these definitions."""
    return Conversations(2.0, "raise").register(
        "s",
        [ToolDefinition(text) for text in texts],
        replace=replace,
        change_policy="accept",
        validate_only=False,
        protocol_version="",
        timeout=30.0,
    )


def outcomes(*names: str) -> registry_pb.RegisterToolsResponse:
    """Return the answer to a registration of these tools."""
    return registry_pb.RegisterToolsResponse(
        outcomes=[registry_pb.RegistrationOutcome(name=name) for name in names],
        registry_revision=len(names),
    )


def test_large_registrations_are_split() -> None:
    """Tools go in as many messages as it takes, in order."""
    value, calls = hold(
        registering(b"a" * 400, b"b" * 400, b"c" * 400),
        told(message_bytes=1000),
        outcomes("a", "b"),
        outcomes("c"),
    )
    assert (["a", "b", "c"], 1) == ([one.name for one in value.outcomes], value.registry_revision)
    assert [0, 2, 1] == [len(getattr(call.request, "tools", ())) for call in calls]


def test_registering_no_tools_is_still_a_request() -> None:
    """A replacement by nothing removes everything, so it must be sent."""
    value, calls = hold(registering(replace=True), told(message_bytes=1000), outcomes())
    assert ((), 2) == (value.outcomes, len(calls))


@pytest.mark.parametrize(
    ("expected", "texts", "replace"),
    [
        pytest.param("a replacement cannot be split", [b"a" * 600] * 2, True, id="replacement"),
        pytest.param("tool 1 takes 1203 bytes", [b"a", b"b" * 1197], False, id="one tool"),
        pytest.param("tool 0 takes 1203 bytes", [b"b" * 1197], True, id="one tool, replacing"),
    ],
)
def test_what_no_message_holds_is_an_error(
    expected: str, texts: list[bytes], replace: bool
) -> None:
    """Nothing is sent of a registration that cannot be sent whole."""
    with pytest.raises(ValueError, match=expected):
        hold(registering(*texts, replace=replace), told(message_bytes=1000))


def test_pages_follow_their_tokens() -> None:
    """Every page is asked for with the token of the one before."""
    pages = Conversations(2.0, "raise").pages(None, None)
    first = hold(
        next(pages),
        registry_pb.ListToolsResponse(tools=[registry_pb.Tool(name="a")], next_page_token="t"),
    )
    second = hold(next(pages), registry_pb.ListToolsResponse(tools=[registry_pb.Tool(name="b")]))
    found = [([tool.name for tool in tools], calls[0].request) for tools, calls in (first, second)]
    assert [
        (["a"], registry_pb.ListToolsRequest()),
        (["b"], registry_pb.ListToolsRequest(page_token="t")),
    ] == found
    assert [] == list(pages)


def test_deletions_are_explicit() -> None:
    """All tools go only by a request of their own; one string is not several."""
    talk = Conversations(2.0, "raise")
    named, everything = talk.delete("s", ["n"], None), talk.delete("s", None, None)
    assert [
        registry_pb.DeleteToolsRequest(server="s", names=["n"]),
        registry_pb.DeleteToolsRequest(server="s", all=True),
    ] == [next(named).request, next(everything).request]
    with pytest.raises(TypeError):
        next(talk.delete("s", "name", None))


async def names(client: Client, server: str | None = None) -> list[str]:
    """Return the names of the tools that the server lists."""
    return [tool.name async for tool in client.list(server)]


async def test_registration_says_what_became_of_each_tool(client: Client) -> None:
    """Nothing is done twice, and nothing under *validate_only*."""
    changed = {**FORECAST, "description": "tells the weather"}
    broken = {"name": "broken"}
    assert [Action.CREATED] == await register(client, FORECAST, validate_only=True)
    assert [] == await names(client, "weather")
    assert [Action.CREATED, Action.REFUSED] == await register(client, FORECAST, broken)
    assert [Action.UNCHANGED] == await register(client, FORECAST)
    assert [Action.REFUSED] == await register(client, changed, change_policy="refuse")
    assert [Action.CHANGED] == await register(client, changed, change_policy="report")
    assert ["get_forecast"] == await names(client, "weather")


async def test_a_replacement_removes_what_it_does_not_name(client: Client) -> None:
    """Of the same server alone."""
    await register(client, FORECAST, ALERTS)
    await client.register("other", [ToolDefinition(ALERTS)])
    registration = await client.register("weather", [ToolDefinition(FORECAST)], replace=True)
    assert ("get_alerts",) == registration.removed
    assert ["get_alerts", "get_forecast"] == await names(client)


async def test_a_large_registration_reaches_the_server_whole(client: Client) -> None:
    """A replacement is not: in two messages it would remove its own first half."""
    tools = [
        ToolDefinition({"name": f"t{at:02}", "description": "x" * 400_000, "inputSchema": INPUT})
        for at in range(12)
    ]
    registration = await client.register("weather", tools)
    assert [(f"t{at:02}", Action.CREATED) for at in range(12)] == [
        (outcome.name, outcome.action) for outcome in registration.outcomes
    ]
    with pytest.raises(ValueError, match="cannot be split"):
        await client.register("weather", tools, replace=True)


async def test_tools_come_back_as_registered(client: Client) -> None:
    """Byte for byte, with their documents and digests."""
    schema = b'{"type": "object", "$ref": "https://example.com/city"}'
    text = b'{ "inputSchema": %s, "name": "get_forecast" }' % schema
    document = Document("https://example.com/city", b'{ "type": "object" }')
    registration = await client.register("weather", [ToolDefinition(text, (document,))])
    tool = await client.get("weather", "get_forecast")
    assert (text, (document,), registration.outcomes[0].definition_digest) == (
        tool.json,
        tool.documents,
        tool.definition_digest,
    )


async def test_listing_goes_through_all_pages(client: Client) -> None:
    """A page holds 100 tools; the order is by server and name."""
    many = [{"name": f"t{at:03}", "inputSchema": {"type": "object"}} for at in range(101)]
    await register(client, *many)
    await client.register("other", [ToolDefinition(FORECAST)])
    expected = [tool["name"] for tool in many]
    assert expected == await names(client, "weather")
    assert ["get_forecast", *expected] == await names(client)


async def test_tools_are_removed_by_name_or_all(client: Client) -> None:
    """What was not there is told apart from what was removed."""
    await register(client, FORECAST, ALERTS)
    some = await client.delete("weather", ["get_alerts", "get_tides"])
    assert (("get_alerts",), ("get_tides",)) == (some.deleted, some.unknown)
    everything = await client.delete_all("weather")
    assert (("get_forecast",), ()) == (everything.deleted, everything.unknown)
    assert everything.registry_revision > some.registry_revision
    with pytest.raises(SidecheckError) as raised:
        await client.delete("weather", [])
    assert grpc.StatusCode.INVALID_ARGUMENT is raised.value.status
