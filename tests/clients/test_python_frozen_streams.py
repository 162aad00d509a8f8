"""Streams of servers that do not respond: every wait ends when the call does."""

import asyncio
import socket
from typing import Any

import grpc
import pytest
from sidecheck import Arguments, BlockingClient, Client, Item, StreamUnavailable, Unavailable
from sidecheck.v1.info_service_pb2 import GetServerInfoRequest
from support.clients import CLIENT_KINDS
from support.raw_servers import serving_messages
from support.scripted_calls import smallest_response
from support.stream_readers import collect, items, read

CODES = grpc.StatusCode
INFO = smallest_response(GetServerInfoRequest()).SerializeToString()
ITEM = Item(Arguments(1))


@pytest.fixture(params=CLIENT_KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    """Return a kind of client."""
    return str(request.param)


async def test_the_deadline_of_a_stream_holds_for_its_opening(kind: str) -> None:
    """The server accepts the connection and says nothing; other calls may take longer."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"127.0.0.1:{silent.getsockname()[1]}"
        with pytest.raises(Unavailable) as raised:
            # The timeout of the client is 120 seconds.
            await asyncio.wait_for(
                collect(read(kind, address, items(1), timeout=0.5), []), timeout=100
            )
    assert CODES.DEADLINE_EXCEEDED is raised.value.status


async def never(path: str, request: bytes, context: Any) -> list[bytes]:
    """Answer the first call only."""
    return [INFO] if path.endswith("/GetServerInfo") else []


async def stop_later(path: str, request: bytes, context: Any) -> list[bytes]:
    """Answer the first call only, and end the other one while its sender waits."""
    if path.endswith("/GetServerInfo"):
        return [INFO]
    await asyncio.sleep(1)
    await context.abort(CODES.UNAVAILABLE, "gone")
    raise AssertionError


def send_two(address: str, timeout: float) -> None:
    """Send an item more than may be outstanding, without reading."""
    with (
        BlockingClient(address, timeout=120) as client,
        client.stream(outstanding=1, timeout=timeout) as stream,
    ):
        stream.send("a", ITEM)
        stream.send("b", ITEM)


async def send_two_async(address: str, timeout: float) -> None:  # noqa: ASYNC109
    """Send an item more than may be outstanding, without reading."""
    async with (
        Client(address, timeout=120) as client,
        client.stream(outstanding=1, timeout=timeout) as stream,
    ):
        await stream.send("a", ITEM)
        await stream.send("b", ITEM)


@pytest.mark.parametrize(
    ("expected", "seconds", "respond"),
    [
        pytest.param(CODES.DEADLINE_EXCEEDED, 3.0, never, id="the deadline"),
        pytest.param(CODES.UNAVAILABLE, 300.0, stop_later, id="the server"),
    ],
)
async def test_a_sender_that_waits_is_woken_by_the_end_of_the_call(
    kind: str, expected: grpc.StatusCode, seconds: float, respond: Any
) -> None:
    """Without a reader, the sender has the error."""
    async with serving_messages(respond) as address:
        sending = (
            asyncio.to_thread(send_two, address, seconds)
            if kind == "blocking"
            else send_two_async(address, seconds)
        )
        with pytest.raises(StreamUnavailable) as raised:
            await asyncio.wait_for(sending, 120)
    assert (expected, ("a", "b")) == (raised.value.status, raised.value.unanswered)
