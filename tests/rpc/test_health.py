"""Health service: checks and watchers."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from sidecheck_server.access.authorizer import Authorizer
from sidecheck_server.config.transport_limits import TransportLimits
from sidecheck_server.rpc.admission import Admission
from sidecheck_server.rpc.call_metrics import CallMetrics
from sidecheck_server.rpc.grpc_methods import add_methods
from sidecheck_server.rpc.health import HealthServicer, health_methods

SERVING = health_pb2.HealthCheckResponse.SERVING
NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING
UNKNOWN = health_pb2.HealthCheckResponse.SERVICE_UNKNOWN


class Served:
    """A server of the health service, and a client of it."""

    def __init__(self, server: grpc.aio.Server, channel: grpc.aio.Channel) -> None:
        self.health = HealthServicer(["a.Service", "an.Independent"], ["an.Independent"])
        self.server = server
        self.channel = channel
        methods = health_methods(self.health)
        add_methods(
            server,
            methods,
            Admission(TransportLimits()),
            CallMetrics(),
            Authorizer(),
            exempt=True,
        )
        self.stub: Any = health_pb2_grpc.HealthStub(channel)

    async def check(self, service: str) -> Any:
        request = health_pb2.HealthCheckRequest(service=service)
        return (await self.stub.Check(request)).status

    def watch(self, service: str = "") -> Any:
        return self.stub.Watch(health_pb2.HealthCheckRequest(service=service))


@pytest.fixture
async def served() -> AsyncIterator[Served]:
    server = grpc.aio.server()
    port = server.add_insecure_port("127.0.0.1:0")
    async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
        served = Served(server, channel)
        await server.start()
        yield served
        await server.stop(None)


async def next_status(watch: Any) -> Any:
    """Return the next status that a watcher receives."""
    return (await asyncio.wait_for(watch.read(), 5)).status


async def test_all_services_share_one_status(served: Served) -> None:
    """The initial status is NOT_SERVING."""
    results = [[await served.check(name) for name in ("", "a.Service")]]
    for serving in (True, False):
        served.health.set_serving(serving=serving)
        results.append([await served.check(name) for name in ("", "a.Service")])

    assert [[NOT_SERVING] * 2, [SERVING] * 2, [NOT_SERVING] * 2] == results


async def test_services_that_need_workers_do_not_serve_without(served: Served) -> None:
    """The server as a whole does not serve either; services without workers do."""
    results = []
    for serving, alive in ((False, True), (True, True), (True, False), (False, False)):
        served.health.set_serving(serving=serving)
        served.health.set_workers_alive(alive=alive)
        results.append([await served.check(name) for name in ("", "a.Service", "an.Independent")])

    assert [
        [NOT_SERVING] * 3,
        [SERVING] * 3,
        [NOT_SERVING, NOT_SERVING, SERVING],
        [NOT_SERVING] * 3,
    ] == results


async def test_watchers_receive_only_changes_of_their_service(served: Served) -> None:
    """The end of the last worker does not change a service without workers."""
    served.health.set_serving(serving=True)
    watches = [served.watch(name) for name in ("a.Service", "an.Independent")]
    results = [[await next_status(watch) for watch in watches]]
    for alive in (False, True):
        served.health.set_workers_alive(alive=alive)
        results.append([await next_status(watches[0])])
    served.health.set_serving(serving=False)
    results.append([await next_status(watch) for watch in watches])

    assert [[SERVING] * 2, [NOT_SERVING], [SERVING], [NOT_SERVING] * 2] == results


async def test_unknown_services(served: Served) -> None:
    """A check fails; a watcher receives SERVICE_UNKNOWN and stays open."""
    with pytest.raises(grpc.aio.AioRpcError) as raised:
        await served.check("another.Service")
    watch = served.watch("another.Service")

    assert grpc.StatusCode.NOT_FOUND is raised.value.code()
    assert UNKNOWN == await next_status(watch)
    watch.cancel()


async def test_every_watcher_receives_every_change(served: Served) -> None:
    """A cancelled watcher does not affect the others."""
    first, second, third = served.watch(), served.watch("a.Service"), served.watch()
    results = [[await next_status(watch) for watch in (first, second, third)]]
    served.health.set_serving(serving=True)
    results.append([await next_status(watch) for watch in (first, second, third)])
    third.cancel()
    await asyncio.sleep(0.1)
    served.health.set_serving(serving=True)  # no change
    served.health.set_serving(serving=False)
    results.append([await next_status(watch) for watch in (first, second)])
    first.cancel()
    second.cancel()

    assert [[NOT_SERVING] * 3, [SERVING] * 3, [NOT_SERVING] * 2] == results


async def test_watchers_do_not_delay_shutdown(served: Served) -> None:
    """Watchers receive the last status, then the end of the stream."""
    served.health.set_serving(serving=True)
    watch = served.watch()
    results = [await next_status(watch)]
    served.health.set_serving(serving=False)
    results.append(await next_status(watch))
    served.health.end()
    # Open watchers would take all of this time.
    await asyncio.wait_for(served.server.stop(600), 120)

    assert [SERVING, NOT_SERVING] == results
    assert grpc.aio.EOF is await watch.read()
    assert grpc.StatusCode.OK is await watch.code()


async def test_watching_after_the_end_returns_at_once(served: Served) -> None:
    """The stream of a late watcher is empty."""
    served.health.end()

    assert grpc.aio.EOF is await asyncio.wait_for(served.watch().read(), 5)


async def test_every_status_is_listed(served: Served) -> None:
    """Releases of grpcio-health-checking without `List` do not implement it."""
    served.health.set_serving(serving=True)
    served.health.set_workers_alive(alive=False)
    message = getattr(health_pb2, "HealthListRequest", None)
    if message is None:
        listing: Any = served.channel.unary_unary("/grpc.health.v1.Health/List")
        with pytest.raises(grpc.aio.AioRpcError) as raised:
            await listing(b"")
        assert grpc.StatusCode.UNIMPLEMENTED is raised.value.code()
        return
    response = await served.stub.List(message())

    assert {"": NOT_SERVING, "a.Service": NOT_SERVING, "an.Independent": SERVING} == {
        name: response_status.status for name, response_status in response.statuses.items()
    }
