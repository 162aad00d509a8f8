"""Calls that come too late are told to go elsewhere."""

import asyncio
import time
from collections.abc import AsyncIterator
from typing import Any

import grpc
import pytest
from google.rpc.status_pb2 import Status
from sidecheck.v1.info_service_pb2 import GetServerInfoRequest, GetServerInfoResponse
from sidecheck.v1.info_service_pb2_grpc import (
    InfoServiceServicer,
    InfoServiceStub,
    add_InfoServiceServicer_to_server,
)
from sidecheck_server.rpc.handler import rpc_handler
from sidecheck_server.rpc.shutdown_gate import ShutdownGate
from support.wire import info_of


class Servicer(InfoServiceServicer):
    """Answers when it is let to."""

    def __init__(self) -> None:
        self.door = ShutdownGate()
        self.entered = asyncio.Event()
        self.go = asyncio.Event()

    @rpc_handler
    async def GetServerInfo(self, _request: Any) -> GetServerInfoResponse:  # noqa: N802
        self.entered.set()
        await self.go.wait()
        return GetServerInfoResponse(version="1")


class Served:
    """A server with a door, whose method waits until it may answer."""

    def __init__(self, servicer: Servicer, channel: grpc.aio.Channel) -> None:
        self.door, self.entered, self.go = servicer.door, servicer.entered, servicer.go
        self._stub: Any = InfoServiceStub(channel)

    async def call(self) -> str:
        answer = await self._stub.GetServerInfo(GetServerInfoRequest())
        return str(answer.version)


@pytest.fixture
async def served() -> AsyncIterator[Served]:
    servicer = Servicer()
    server = grpc.aio.server()
    add_InfoServiceServicer_to_server(servicer, server)
    port = server.add_insecure_port("127.0.0.1:0")
    async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
        await server.start()
        yield Served(servicer, channel)
        await server.stop(None)


async def test_an_open_door_lets_everybody_in(served: Served) -> None:
    """It answers nothing itself."""
    served.go.set()

    assert ["1", "1"] == [await served.call() for _ in range(2)]


async def test_a_shut_door_turns_calls_away_to_try_elsewhere(served: Served) -> None:
    """UNAVAILABLE, with a reason."""
    served.go.set()
    await served.door.shut()
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await served.call()
    trailers: dict[str, Any] = dict(caught.value.trailing_metadata() or ())
    status = Status.FromString(trailers["grpc-status-details-bin"])

    assert (grpc.StatusCode.UNAVAILABLE, "the server is stopping and takes no more calls") == (
        caught.value.code(),
        caught.value.details(),
    )
    assert "SHUTTING_DOWN" == info_of(status).reason


async def test_whoever_is_inside_stays(served: Served) -> None:
    """A call under way is answered."""
    inside = asyncio.create_task(served.call())
    await served.entered.wait()
    await served.door.shut()
    served.go.set()

    assert "1" == await inside


async def test_the_door_waits_until_nobody_comes(served: Served) -> None:
    """As long as calls still come, but no longer than a second or so."""
    times = []
    for callers in (0, 1):
        over = asyncio.Event()

        async def come(over: asyncio.Event = over) -> None:
            while not over.is_set():
                await asyncio.gather(served.call(), return_exceptions=True)

        coming = [asyncio.create_task(come()) for _ in range(callers)]
        begun = time.monotonic()
        await served.door.shut()
        times.append(time.monotonic() - begun)
        over.set()
        await asyncio.gather(*coming)

    assert 0.04 < times[0]
    assert 0.9 < times[1] < 60
