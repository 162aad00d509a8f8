"""Rejection of calls during shutdown, so that clients retry them elsewhere."""

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator
from typing import Any

import grpc
import pytest
from google.rpc.status_pb2 import Status
from sidecheck.v1.info_service_pb2 import (
    DESCRIPTOR,
    GetServerInfoRequest,
    GetServerInfoResponse,
)
from sidecheck.v1.info_service_pb2_grpc import InfoServiceServicer, InfoServiceStub
from sidecheck_server.access.authorizer import Authorizer
from sidecheck_server.config.transport_limits import TransportLimits
from sidecheck_server.rpc.admission import Admission
from sidecheck_server.rpc.call_metrics import CallMetrics
from sidecheck_server.rpc.grpc_methods import add_methods
from sidecheck_server.rpc.handler import rpc_handler
from sidecheck_server.rpc.method_table import methods_of
from sidecheck_server.rpc.shutdown_gate import ShutdownGate
from sidecheck_server.rpc.streams import OpenStreams
from support.wire import info_of


class Servicer(InfoServiceServicer):
    """Servicer whose method returns once it is released."""

    def __init__(self) -> None:
        self.entered = asyncio.Event()
        self.go = asyncio.Event()

    @rpc_handler
    async def GetServerInfo(self, _request: Any) -> GetServerInfoResponse:  # noqa: N802
        self.entered.set()
        await self.go.wait()
        return GetServerInfoResponse(version="1")


class Served:
    """A server with a gate, whose method blocks until it is released."""

    def __init__(self, servicer: Servicer, gate: ShutdownGate, channel: grpc.aio.Channel) -> None:
        self.gate, self.entered, self.go = gate, servicer.entered, servicer.go
        self._stub: Any = InfoServiceStub(channel)

    async def call(self) -> str:
        response = await self._stub.GetServerInfo(GetServerInfoRequest())
        return str(response.version)


@pytest.fixture
async def served() -> AsyncIterator[Served]:
    servicer = Servicer()
    server = grpc.aio.server()
    admission = Admission(TransportLimits())
    service = DESCRIPTOR.services_by_name["InfoService"]
    add_methods(server, methods_of([(service, servicer)]), admission, CallMetrics(), Authorizer())
    port = server.add_insecure_port("127.0.0.1:0")
    async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
        await server.start()
        yield Served(servicer, admission.gate, channel)
        await server.stop(None)


async def test_an_open_gate_admits_all_calls(served: Served) -> None:
    """The gate does not send responses of its own."""
    served.go.set()

    assert ["1", "1"] == [await served.call() for _ in range(2)]


async def test_a_closed_gate_rejects_calls_so_that_clients_retry(served: Served) -> None:
    """The status is UNAVAILABLE, with a reason."""
    served.go.set()
    served.gate.close()
    with pytest.raises(grpc.aio.AioRpcError) as raised:
        await served.call()
    trailers: dict[str, Any] = dict(raised.value.trailing_metadata() or ())
    status = Status.FromString(trailers["grpc-status-details-bin"])

    assert (
        grpc.StatusCode.UNAVAILABLE,
        "the server is shutting down and accepts no more calls",
    ) == (
        raised.value.code(),
        raised.value.details(),
    )
    assert "SHUTTING_DOWN" == info_of(status).reason


async def test_active_calls_finish(served: Served) -> None:
    """The gate only affects calls that arrive later."""
    active = asyncio.create_task(served.call())
    await served.entered.wait()
    served.gate.close()
    served.go.set()

    assert "1" == await active


async def test_calls_and_responses_wait_during_the_pause(served: Served) -> None:
    """Clients learn of the stop before they send the next call."""
    active = asyncio.create_task(served.call())
    await served.entered.wait()
    pausing = asyncio.create_task(served.gate.pause())
    await asyncio.sleep(0)
    served.entered.clear()
    served.go.set()
    arriving = asyncio.create_task(served.call())
    await pausing
    pending = (active.done(), arriving.done(), served.entered.is_set())
    served.gate.close()

    assert ((False, False, False), "1", "1") == (pending, await active, await arriving)


async def test_a_waiting_call_ends_with_the_others(served: Served) -> None:
    """It ends with UNAVAILABLE, so that the client retries it."""
    pausing = asyncio.create_task(served.gate.pause())
    await asyncio.sleep(0)
    pending = asyncio.create_task(served.call())
    await pausing
    served.gate.close()
    served.gate.end_calls()
    with pytest.raises(grpc.aio.AioRpcError) as raised:
        await pending

    assert grpc.StatusCode.UNAVAILABLE is raised.value.code()


async def test_a_stream_closed_by_another_task_is_inactive() -> None:
    """The event loop closes the generator of a stream whose peer left during a write."""
    streams = OpenStreams(ShutdownGate(), TransportLimits(), Counter())

    async def open_stream() -> AsyncGenerator[str, None]:
        with streams.admit():
            yield "response"

    stream = open_stream()
    response = await anext(stream)
    await asyncio.create_task(stream.aclose())
    streams.gate.end_calls()
    await asyncio.sleep(0)  # where a call of this task that was active would be cancelled

    assert "response" == response


async def test_a_pause_ends_though_calls_keep_arriving() -> None:
    """It outlasts several calls, which stay held."""
    gate = ShutdownGate()
    calls: list[asyncio.Task[Any]] = []

    async def keep_calling() -> None:
        # In the event loop of the gate: a call arrives in each of its intervals.
        while True:
            if gate.is_paused:
                calls.append(asyncio.create_task(gate.enter_after_pause()))
            await asyncio.sleep(0.01)

    caller = asyncio.create_task(keep_calling())
    await gate.pause()
    caller.cancel()
    are_done = [call.done() for call in calls]
    for call in calls:
        call.cancel()

    assert [False] * len(calls) == are_done
    assert len(calls) > 10


async def test_a_pause_ends_when_no_calls_arrive() -> None:
    """A single call arrives, and the pause goes on until two intervals had none."""
    gate = ShutdownGate()
    pause = asyncio.create_task(gate.pause())
    await asyncio.sleep(0)
    call = asyncio.create_task(gate.enter_after_pause())
    await pause

    assert gate.is_paused
    assert not call.done()
    call.cancel()
