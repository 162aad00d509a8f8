"""Clients that are closed, or used in another event loop than that of their first call."""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import grpc
import pytest
from sidecheck import BlockingClient, Client, Schema, SidecheckError, StreamClosed
from sidecheck.v1.info_service_pb2 import GetServerInfoRequest
from support.clients import CLIENT_KINDS, connect
from support.raw_servers import serving_messages
from support.scripted_calls import smallest_response

INFO = smallest_response(GetServerInfoRequest()).SerializeToString()
ANY = Schema(b"true")
CLOSED = SidecheckError("CLIENT_CLOSED", "the client was closed", {}, grpc.StatusCode.CANCELLED)


@pytest.fixture(params=CLIENT_KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    """Return a kind of client."""
    return str(request.param)


class Silent:
    """Answers the call for the limits only; *called* is set by any other."""

    def __init__(self) -> None:
        self.called = asyncio.Event()

    async def __call__(self, path: str, request: bytes, context: Any) -> list[bytes]:
        if path.endswith("/GetServerInfo"):
            return [INFO]
        self.called.set()
        await asyncio.sleep(600)
        return []


CALLS = {
    "a call": lambda client: client.validate(ANY, 1),
    "the limits": lambda client: client.info(),
}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("used", [False, True], ids=["never used", "used"])
async def test_a_closed_client_makes_no_calls(kind: str, name: str, used: bool) -> None:
    """No policy applies, because the server was not asked."""
    async with serving_messages(Silent()) as address:
        client = connect(kind, address, timeout=120, on_unavailable="allow")
        if used:
            await client.info()
        await client.close()
        with pytest.raises(SidecheckError) as raised:
            await CALLS[name](client)
        await client.close()
    assert CLOSED == raised.value


async def test_closing_a_client_ends_its_calls(kind: str) -> None:
    """The caller has an error with the reason, and is not cancelled."""
    silent = Silent()
    async with serving_messages(silent) as address:
        client = connect(kind, address, timeout=300, on_unavailable="allow")
        call = asyncio.ensure_future(client.validate(ANY, 1))
        await asyncio.wait_for(silent.called.wait(), 120)
        await client.close()
        with pytest.raises(SidecheckError) as raised:
            await asyncio.wait_for(call, 120)
    assert CLOSED == raised.value


async def test_closing_a_client_ends_its_streams() -> None:
    """The reader of a stream gets the same error as the caller of a method."""
    silent = Silent()
    async with serving_messages(silent) as address:
        client = Client(address, timeout=120)
        async with client.stream(target=ANY) as stream:
            reader = asyncio.ensure_future(anext(stream))
            await asyncio.wait_for(silent.called.wait(), 120)
            await client.close()
            with pytest.raises(StreamClosed, match="CLIENT_CLOSED"):
                await asyncio.wait_for(reader, 120)


async def test_closing_a_blocking_client_ends_its_streams() -> None:
    """The reader waits in a thread of its own."""
    silent = Silent()

    def read_all(client: BlockingClient) -> object:
        with client.stream(target=ANY) as stream:
            try:
                return next(stream)
            except SidecheckError as error:
                return error

    async with serving_messages(silent) as address:
        client = BlockingClient(address, timeout=120)
        reader = asyncio.create_task(asyncio.to_thread(read_all, client))
        await asyncio.wait_for(silent.called.wait(), 120)
        await asyncio.to_thread(client.close)
        error = await asyncio.wait_for(reader, 120)
    assert isinstance(error, StreamClosed)
    assert "CLIENT_CLOSED" == error.reason


async def test_leaving_a_blocking_stream_is_not_an_outage() -> None:
    """Another thread that reads it has the error StreamClosed."""
    silent = Silent()
    errors: list[StreamClosed] = []

    def leave_while_read(address: str) -> None:
        def read_one() -> None:
            reading.set()
            try:
                next(stream)
            except StreamClosed as error:
                errors.append(error)

        reading = threading.Event()
        with BlockingClient(address, timeout=120) as client:
            with client.stream(target=ANY) as stream:
                reader = threading.Thread(target=read_one, daemon=True)
                reader.start()
                reading.wait(120)
            reader.join(120)

    async with serving_messages(silent) as address:
        await asyncio.to_thread(leave_while_read, address)
    assert [(StreamClosed, "CANCELLED")] == [(type(error), error.reason) for error in errors]


def other_loop(use: Callable[[], Any]) -> Any:
    """Return what *use* returns in the event loop of another thread."""
    with ThreadPoolExecutor(1) as threads:
        return threads.submit(lambda: asyncio.run(use())).result(120)


@pytest.mark.parametrize(
    "use",
    [
        pytest.param(lambda client: client.validate(ANY, 1), id="a call"),
        pytest.param(lambda client: client.register("s", []), id="a registration"),
        pytest.param(lambda client: client.stream(target=ANY).__aenter__(), id="a stream"),
        pytest.param(lambda client: client.close(), id="closing"),
    ],
)
async def test_a_client_belongs_to_one_event_loop(use: Callable[[Client], Any]) -> None:
    """The error has a remedy under any policy, and the client stays usable."""
    async with (
        serving_messages(Silent()) as address,
        Client(address, timeout=120, on_unavailable="allow") as client,
    ):
        await client.info()

        async def use_elsewhere() -> Any:
            return await use(client)

        with pytest.raises(RuntimeError, match="create a client in each event loop"):
            await asyncio.to_thread(other_loop, use_elsewhere)
        assert (await client.info()).limits.batch_items == 100


def test_a_client_outlives_its_event_loop_only_to_be_closed() -> None:
    """Closing does not fail, so that the error of the call is the one that is seen."""
    client = Client("127.0.0.1:1", timeout=0.5, on_unavailable="deny")

    async def use_and_close() -> None:
        async with client:
            await client.validate(ANY, 1)

    assert not asyncio.run(client.validate(ANY, 1)).valid
    with pytest.raises(RuntimeError, match="create a client in each event loop"):
        asyncio.run(use_and_close())
    with pytest.raises(SidecheckError, match="CLIENT_CLOSED"):
        asyncio.run(client.validate(ANY, 1))
