"""Admission of calls by a real server with small limits."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import grpc
import pytest
from google.rpc.error_details_pb2 import RetryInfo
from google.rpc.status_pb2 import Status
from grpc_health.v1 import health_pb2, health_pb2_grpc
from resilience.http2 import RST_STREAM, Peer, announce
from sidecheck.v1.info_service_pb2 import DESCRIPTOR, GetServerInfoRequest, GetServerInfoResponse
from sidecheck.v1.info_service_pb2_grpc import InfoServiceServicer, InfoServiceStub
from sidecheck_server.access.authorizer import Authorizer
from sidecheck_server.config.transport_limits import TransportLimits
from sidecheck_server.core.limits import Limits
from sidecheck_server.rpc.admission import Admission
from sidecheck_server.rpc.call_metrics import CallMetrics
from sidecheck_server.rpc.grpc_methods import add_methods
from sidecheck_server.rpc.handler import rpc_handler
from sidecheck_server.rpc.health import HealthServicer, health_methods
from sidecheck_server.rpc.method_table import methods_of
from sidecheck_server.rpc.server import server_options
from structlog.testing import capture_logs
from support.wire import info_of

_PATH = "/sidecheck.v1.InfoService/GetServerInfo"


class Servicer(InfoServiceServicer):
    """Servicer whose method returns once it is released, with a version of *size* letters."""

    def __init__(self, size: int) -> None:
        self.go = asyncio.Event()
        self.begun = 0
        self._response = GetServerInfoResponse(version="x" * size)

    @rpc_handler
    async def GetServerInfo(self, _request: Any) -> GetServerInfoResponse:  # noqa: N802
        self.begun += 1
        await self.go.wait()
        return self._response


class Served:
    """A server with an admission, whose method blocks until it is released."""

    def __init__(self, address: str, servicer: Servicer, admission: Admission) -> None:
        self.address, self.servicer, self.admission = address, servicer, admission

    async def call(self, timeout: float | None = None) -> str:  # noqa: ASYNC109
        """Return "OK", or the bound of the call's error."""
        async with grpc.aio.insecure_channel(self.address) as channel:
            stub: Any = InfoServiceStub(channel)
            try:
                await stub.GetServerInfo(GetServerInfoRequest(), timeout=timeout)
            except grpc.aio.AioRpcError as error:
                return _bound(error)
        return "OK"

    async def wait_until_begun(self, calls: int) -> None:
        await until(lambda: self.servicer.begun >= calls)


async def until(condition: Callable[[], bool]) -> None:
    """Return once *condition* holds."""
    while not condition():  # noqa: ASYNC110  (a server tells no test what it counts)
        await asyncio.sleep(0.01)


def _bound(error: grpc.aio.AioRpcError) -> str:
    trailers: dict[str, Any] = dict(error.trailing_metadata() or ())
    if "grpc-status-details-bin" not in trailers:
        return error.code().name
    info = info_of(Status.FromString(trailers["grpc-status-details-bin"]))
    return f"{info.reason} {info.metadata['bound']}"


@asynccontextmanager
async def serving(size: int = 1, **limits: int) -> AsyncIterator[Served]:
    """Serve with *limits*, and responses of *size* bytes."""
    transport, message_bytes = TransportLimits(**limits), Limits().message_bytes
    server = grpc.aio.server(options=server_options(transport, message_bytes))
    admission, servicer = Admission(transport), Servicer(size)
    service = DESCRIPTOR.services_by_name["InfoService"]
    add_methods(server, methods_of([(service, servicer)]), admission, CallMetrics(), Authorizer())
    health = HealthServicer([])
    health.set_serving(serving=True)
    add_methods(server, health_methods(health), admission, CallMetrics(), Authorizer(), exempt=True)
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    admission.start()
    try:
        yield Served(f"127.0.0.1:{port}", servicer, admission)
    finally:
        admission.stop()
        await server.stop(None)


async def test_calls_beyond_the_limit_are_shed_and_health_is_not() -> None:
    """Active calls end normally."""
    async with serving(calls=2) as served:
        calls = [asyncio.create_task(served.call()) for _ in range(2)]
        await served.wait_until_begun(2)
        shed = await served.call()
        async with grpc.aio.insecure_channel(served.address) as channel:
            stub: Any = health_pb2_grpc.HealthStub(channel)
            health = await stub.Check(health_pb2.HealthCheckRequest())
        served.servicer.go.set()
        answers = await asyncio.gather(*calls)
        later = await served.call()

    assert "OVERLOADED calls" == shed
    assert health_pb2.HealthCheckResponse.SERVING == health.status
    assert (["OK", "OK"], "OK") == (answers, later)


async def test_a_shed_call_has_a_retry_delay() -> None:
    """The status has a RetryInfo, and the bound in its metadata."""
    async with serving(calls=1) as served:
        call = asyncio.create_task(served.call())
        await served.wait_until_begun(1)
        async with grpc.aio.insecure_channel(served.address) as channel:
            stub: Any = InfoServiceStub(channel)
            with pytest.raises(grpc.aio.AioRpcError) as raised:
                await stub.GetServerInfo(GetServerInfoRequest())
        served.servicer.go.set()
        await call
    trailers: dict[str, Any] = dict(raised.value.trailing_metadata() or ())
    _, detail = Status.FromString(trailers["grpc-status-details-bin"]).details
    retry = RetryInfo()

    assert detail.Unpack(retry)
    assert 500 == retry.retry_delay.ToMilliseconds()
    assert grpc.StatusCode.RESOURCE_EXHAUSTED is raised.value.code()


async def test_calls_are_shed_while_the_event_loop_lags() -> None:
    """Calls whose deadlines are shorter than the lag are shed too."""
    async with serving(loop_lag_milliseconds=60_000) as served:
        served.servicer.go.set()
        served.admission.lag.stop()
        served.admission.lag.seconds = 30.0
        late = [await served.call(timeout=20.0), await served.call(timeout=200.0)]
        served.admission.lag.seconds = 61.0
        lagging = await served.call()

    assert ["OVERLOADED deadline", "OK"] == late
    assert "OVERLOADED loop_lag_milliseconds" == lagging


async def test_sheds_are_logged_by_their_bound_each_second() -> None:
    """Not one by one."""
    with capture_logs() as log:
        async with serving(calls=1) as served:
            call = asyncio.create_task(served.call())
            await served.wait_until_begun(1)
            assert ["OVERLOADED calls"] * 3 == [await served.call() for _ in range(3)]
            served.servicer.go.set()
            await call
            await until(lambda: any(event["event"] == "overload.shed" for event in log))
    shed: dict[str, int] = {}
    for event in log:
        for bound, count in event.get("calls", {}).items():
            shed[bound] = shed.get(bound, 0) + count

    assert {"calls": 3} == shed
    assert set() == {event["event"] for event in log} - {"overload.shed", "rpc.completed"}


async def test_a_message_that_does_not_arrive_is_given_up() -> None:
    """The stream ends with an error, and the connection stays."""
    async with serving(message_seconds=1) as served:
        served.servicer.go.set()
        peer = await asyncio.to_thread(Peer, served.address)
        await asyncio.to_thread(peer.call, _PATH, announce(100), end=False)
        while not peer.frames[RST_STREAM]:
            await asyncio.to_thread(peer.receive)
        after = await served.call()
        peer.close()

    assert ("OK", 0) == (after, served.servicer.begun - 1)


@asynccontextmanager
async def unfinished(served: Served, peers: int) -> AsyncIterator[None]:
    """Begin 30 messages from each of a number of *peers*, and finish none."""
    opened = [await asyncio.to_thread(Peer, served.address) for _ in range(peers)]
    for peer in opened:
        for _ in range(30):
            await asyncio.to_thread(peer.call, _PATH, announce(100), end=False)
    try:
        yield
    finally:
        for peer in opened:
            peer.close()


async def test_incomplete_messages_are_dropped_for_others() -> None:
    """Each new call ends the oldest incomplete one after a short wait."""
    async with serving() as served, unfinished(served, 2):
        served.servicer.go.set()
        before = served.admission.shed["arriving"]
        await asyncio.sleep(0.5)
        answers = [await served.call() for _ in range(5)]
        given_up = served.admission.shed["arriving"] - before

    assert (["OK"] * 5, 5) == (answers, given_up)


async def test_no_more_messages_are_awaited_than_memory_admits() -> None:
    """Beyond 128 incomplete messages, the oldest ends."""
    async with serving() as served, unfinished(served, 5):
        served.servicer.go.set()
        await until(lambda: served.admission.shed["arriving"] >= 150 - 128)

        assert ["OK"] * 5 == [await served.call() for _ in range(5)]


async def test_a_call_without_a_message_is_an_error() -> None:
    """gRPC's own server of unary methods would leave it without an answer."""
    async with serving() as served, grpc.aio.insecure_channel(served.address) as channel:
        call: Any = channel.stream_unary(_PATH)
        with pytest.raises(grpc.aio.AioRpcError) as raised:
            await call(iter(()))

    assert (grpc.StatusCode.INVALID_ARGUMENT, "the call has no message") == (
        raised.value.code(),
        raised.value.details(),
    )


async def test_unread_large_responses_are_bounded() -> None:
    """The first fills the budget; the second waits for it, and is shed after message_seconds."""
    size = 2 << 20
    async with serving(size, bytes_in_flight=size, message_seconds=1) as served:
        served.servicer.go.set()
        peer = await asyncio.to_thread(Peer, served.address, 0)
        await asyncio.to_thread(peer.call, _PATH, announce(0))
        await served.wait_until_begun(1)
        shed = await served.call()
        peer.close()
        after = await served.call()

    assert ("OVERLOADED bytes_in_flight", "OK") == (shed, after)


async def test_a_waiting_response_is_sent_when_the_server_stops() -> None:
    """Otherwise gRPC cancels the call, and clients do not retry CANCELLED."""
    size = 2 << 20
    async with serving(size, bytes_in_flight=size, message_seconds=600) as served:
        served.servicer.go.set()
        peer = await asyncio.to_thread(Peer, served.address, 0)
        await asyncio.to_thread(peer.call, _PATH, announce(0))
        await served.wait_until_begun(1)
        call = asyncio.create_task(served.call())
        await served.wait_until_begun(2)
        served.admission.gate.end_calls()
        answer = await call
        peer.close()

    assert "SHUTTING_DOWN " == answer


async def test_a_client_without_retries_has_48_calls_at_once_on_one_connection() -> None:
    """None is rejected, although gRPC counts a call until its end."""
    async with serving() as served, grpc.aio.insecure_channel(served.address) as channel:
        served.servicer.go.set()
        stub: Any = InfoServiceStub(channel)

        async def call_in_turn() -> None:
            for _ in range(25):
                await stub.GetServerInfo(GetServerInfoRequest())

        await asyncio.gather(*(call_in_turn() for _ in range(48)))

    assert 48 * 25 == served.servicer.begun
