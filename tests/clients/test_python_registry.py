"""Registry calls of the Python client, with scripted responses and a real server."""

from collections.abc import Callable
from typing import Any

import grpc
import pytest
from sidecheck import (
    Action,
    BlockingClient,
    Client,
    Document,
    Registration,
    SidecheckError,
    ToolDefinition,
)
from sidecheck.v1 import info_service_pb2 as info_pb
from sidecheck.v1 import registry_service_pb2 as registry_pb
from support.scripted_calls import Call, replay, scripted_client
from support.weather_tools import ALERTS, FORECAST, INPUT, register


def server_info(**limits: Any) -> info_pb.GetServerInfoResponse:
    """Return the response of a server with these limits."""
    return info_pb.GetServerInfoResponse(limits=info_pb.Limits(**limits))


def register_texts(
    *texts: bytes, replace: bool = False
) -> Callable[[BlockingClient], Registration]:
    """Return a function that registers *texts* as definitions."""
    tools = [ToolDefinition(text) for text in texts]
    return lambda client: client.register("s", tools, replace=replace)


def registration_response(*list_names: str) -> registry_pb.RegisterToolsResponse:
    """Return the response to a registration of these tools."""
    return registry_pb.RegisterToolsResponse(
        outcomes=[registry_pb.RegistrationOutcome(name=name) for name in list_names],
        registry_revision=len(list_names),
    )


def test_large_registrations_are_split() -> None:
    """Tools are sent in order, in as many messages as necessary."""
    registration, calls = replay(
        scripted_client(),
        register_texts(b"a" * 400, b"b" * 400, b"c" * 400),
        server_info(message_bytes=1000),
        registration_response("a", "b"),
        registration_response("c"),
    )
    assert (["a", "b", "c"], 1) == (
        [outcome.name for outcome in registration.outcomes],
        registration.registry_revision,
    )
    assert [0, 2, 1] == [len(getattr(call.request, "tools", ())) for call in calls]


def test_registering_no_tools_is_still_a_request() -> None:
    """A replacement without tools removes all tools, so it must be sent."""
    registration, calls = replay(
        scripted_client(),
        register_texts(replace=True),
        server_info(message_bytes=1000),
        registration_response(),
    )
    assert ((), 2) == (registration.outcomes, len(calls))


@pytest.mark.parametrize(
    ("expected", "texts", "replace"),
    [
        pytest.param("a replacement cannot be split", [b"a" * 600] * 2, True, id="replacement"),
        pytest.param("tool 1 takes 1203 bytes", [b"a", b"b" * 1197], False, id="single tool"),
        pytest.param("tool 0 takes 1203 bytes", [b"b" * 1197], True, id="single tool, replacement"),
    ],
)
def test_tools_too_large_for_a_message_are_an_error(
    expected: str, texts: list[bytes], replace: bool
) -> None:
    """A registration that cannot be sent completely is not sent at all."""
    with pytest.raises(ValueError, match=expected):
        replay(
            scripted_client(),
            register_texts(*texts, replace=replace),
            server_info(message_bytes=1000),
        )


def test_pages_are_requested_by_token() -> None:
    """Requests have the token of the previous page."""
    tools, calls = replay(
        scripted_client(),
        lambda client: [tool.name for tool in client.list(timeout=0.5)],
        registry_pb.ListToolsResponse(
            tools=[registry_pb.Tool(name="a", json=b"{}")], next_page_token="t"
        ),
        registry_pb.ListToolsResponse(tools=[registry_pb.Tool(name="b", json=b"{}")]),
    )
    assert ["a", "b"] == tools
    assert [
        Call(registry_pb.ListToolsRequest(), 0.5),
        Call(registry_pb.ListToolsRequest(page_token="t"), 0.5),
    ] == calls


def test_deletions_are_explicit() -> None:
    """All tools are deleted by a separate method; a string is not a list of names."""
    client, response = scripted_client(), registry_pb.DeleteToolsResponse(deleted=["n"])
    _, by_name = replay(client, lambda client: client.delete("s", ["n"]), response)
    _, all_tools = replay(client, lambda client: client.delete_all("s"), response)
    assert [
        registry_pb.DeleteToolsRequest(server="s", names=["n"]),
        registry_pb.DeleteToolsRequest(server="s", all=True),
    ] == [call.request for call in (*by_name, *all_tools)]
    with pytest.raises(TypeError):
        client.delete("s", "name")


async def list_names(client: Client, server: str | None = None) -> list[str]:
    """Return the names of all registered tools."""
    return [tool.name async for tool in client.list(server)]


async def test_a_registration_has_an_action_for_each_tool(client: Client) -> None:
    """Equal definitions are unchanged, and `validate_only` registers nothing."""
    changed = {**FORECAST, "description": "tells the weather"}
    broken = {"name": "broken"}
    assert [Action.CREATED] == await register(client, FORECAST, validate_only=True)
    assert [] == await list_names(client, "weather")
    assert [Action.CREATED, Action.REJECTED] == await register(client, FORECAST, broken)
    assert [Action.UNCHANGED] == await register(client, FORECAST)
    assert [Action.REJECTED] == await register(client, changed, change_policy="reject")
    assert [Action.CHANGED] == await register(client, changed, change_policy="report")
    assert ["get_forecast"] == await list_names(client, "weather")


async def test_a_replacement_removes_other_tools(client: Client) -> None:
    """Tools of other servers are kept."""
    await register(client, FORECAST, ALERTS)
    await client.register("other", [ToolDefinition(ALERTS)])
    registration = await client.register("weather", [ToolDefinition(FORECAST)], replace=True)
    assert ("get_alerts",) == registration.removed
    assert ["get_alerts", "get_forecast"] == await list_names(client)


async def test_a_large_registration_is_split(client: Client) -> None:
    """A replacement cannot be split: the second message would remove the first half."""
    tools = [
        ToolDefinition({"name": f"t{index:02}", "description": "x" * 400_000, "inputSchema": INPUT})
        for index in range(12)
    ]
    registration = await client.register("weather", tools)
    assert [(f"t{index:02}", Action.CREATED) for index in range(12)] == [
        (outcome.name, outcome.action) for outcome in registration.outcomes
    ]
    with pytest.raises(ValueError, match="cannot be split"):
        await client.register("weather", tools, replace=True)


async def test_tools_are_returned_as_registered(client: Client) -> None:
    """Definitions are returned byte for byte, with documents and digests."""
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


async def test_all_pages_are_listed(client: Client) -> None:
    """A page has 100 tools, sorted by server and name."""
    tools = [{"name": f"t{index:03}", "inputSchema": {"type": "object"}} for index in range(101)]
    await register(client, *tools)
    await client.register("other", [ToolDefinition(FORECAST)])
    expected = [tool["name"] for tool in tools]
    assert expected == await list_names(client, "weather")
    assert ["get_forecast", *expected] == await list_names(client)


async def test_tools_are_deleted_by_name_or_all(client: Client) -> None:
    """The response separates deleted and unknown names."""
    await register(client, FORECAST, ALERTS)
    by_name = await client.delete("weather", ["get_alerts", "get_tides"])
    assert (("get_alerts",), ("get_tides",)) == (by_name.deleted, by_name.unknown)
    all_tools = await client.delete_all("weather")
    assert (("get_forecast",), ()) == (all_tools.deleted, all_tools.unknown)
    assert all_tools.registry_revision > by_name.registry_revision
    with pytest.raises(SidecheckError) as raised:
        await client.delete("weather", [])
    assert grpc.StatusCode.INVALID_ARGUMENT is raised.value.status
