"""Calls that come too late are told to go elsewhere."""

import asyncio
import time
from collections.abc import AsyncIterator
from typing import Any

import grpc
import pytest
from google.rpc.status_pb2 import Status
from sidecheck_server.rpc.door import Door
from wire import info_of

OURS, OTHER = "/sidecheck.v1.InfoService/GetServerInfo", "/grpc.health.v1.Health/Check"


class Served:
    """A server with a door, whose methods wait until they may answer."""

    def __init__(self, door: Door, channel: grpc.aio.Channel) -> None:
        self.door = door
        self.go = asyncio.Event()
        self._channel = channel

    async def answer(self, request: bytes, _context: Any) -> bytes:
        await self.go.wait()
        return request

    def call(self, method: str) -> Any:
        stub: Any = self._channel.unary_unary(method)
        return stub(b"x")


@pytest.fixture
async def served() -> AsyncIterator[Served]:
    door = Door()
    server = grpc.aio.server(interceptors=[door])
    port = server.add_insecure_port("127.0.0.1:0")
    async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
        served = Served(door, channel)
        for _, service, method in (OURS.split("/"), OTHER.split("/")):
            handler: Any = grpc.unary_unary_rpc_method_handler(served.answer)
            server.add_generic_rpc_handlers(
                (grpc.method_handlers_generic_handler(service, {method: handler}),)
            )
        await server.start()
        yield served
        await server.stop(None)


async def test_an_open_door_lets_everybody_in(served: Served) -> None:
    """It answers nothing itself."""
    served.go.set()

    assert [b"x", b"x"] == [await served.call(method) for method in (OURS, OTHER)]


async def test_a_shut_door_turns_calls_away_to_try_elsewhere(served: Served) -> None:
    """UNAVAILABLE, with a reason; health answers on."""
    served.go.set()
    await served.door.shut()
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await served.call(OURS)
    trailers: dict[str, Any] = dict(caught.value.trailing_metadata() or ())
    status = Status.FromString(trailers["grpc-status-details-bin"])

    assert (grpc.StatusCode.UNAVAILABLE, "the server is stopping and takes no more calls") == (
        caught.value.code(),
        caught.value.details(),
    )
    assert "SHUTTING_DOWN" == info_of(status).reason
    assert b"x" == await served.call(OTHER)


async def test_whoever_is_inside_stays(served: Served) -> None:
    """A call under way is answered."""
    inside = served.call(OURS)
    await asyncio.sleep(0.1)
    await served.door.shut()
    served.go.set()

    assert b"x" == await inside


async def test_the_door_waits_until_nobody_comes(served: Served) -> None:
    """As long as calls still come, but no longer than a second or so."""
    times = []
    for callers in (0, 1):
        over = asyncio.Event()

        async def come(over: asyncio.Event = over) -> None:
            while not over.is_set():
                await asyncio.gather(served.call(OURS), return_exceptions=True)

        coming = [asyncio.create_task(come()) for _ in range(callers)]
        begun = time.monotonic()
        await served.door.shut()
        times.append(time.monotonic() - begun)
        over.set()
        await asyncio.gather(*coming)

    assert 0.04 < times[0] < 0.5
    assert 0.9 < times[1] < 5
