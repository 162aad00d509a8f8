"""What the Python client says to the registry, without any server."""

import pytest
from holding import hold
from sidecheck import (
    Registration,
    ToolDefinition,
)
from sidecheck.conversations import Conversation, Conversations
from sidecheck.v1 import info_service_pb2 as info_pb
from sidecheck.v1 import registry_service_pb2 as registry_pb


def told(**limits: int) -> info_pb.GetServerInfoResponse:
    """Return the facts of a server with these limits."""
    return info_pb.GetServerInfoResponse(limits=info_pb.Limits(**limits))


def registering(*texts: bytes, replace: bool = False) -> Conversation[Registration]:
    """Return the conversation that registers these definitions."""
    return Conversations(2.0, "raise").register(
        "s",
        [ToolDefinition(text) for text in texts],
        replace=replace,
        on_change="accept",
        validate_only=False,
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
