"""Health service: checks and watchers."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from sidecheck_server.rpc.health import HealthServicer

SERVING = health_pb2.HealthCheckResponse.SERVING
NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING
UNKNOWN = health_pb2.HealthCheckResponse.SERVICE_UNKNOWN


class Served:
    """A server of nothing but health, and a client of it."""

    def __init__(self, server: grpc.aio.Server, channel: grpc.aio.Channel) -> None:
        self.health = HealthServicer(["a.Service"])
        self.server = server
        stock: Any = server
        health_pb2_grpc.add_HealthServicer_to_server(self.health, stock)
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


async def reported(watch: Any) -> Any:
    """Return the next status that a watcher is told."""
    return (await asyncio.wait_for(watch.read(), 5)).status


async def test_all_services_serve_or_none_does(served: Served) -> None:
    """At first none."""
    results = [[await served.check(name) for name in ("", "a.Service")]]
    for serving in (True, False):
        served.health.set_serving(serving=serving)
        results.append([await served.check(name) for name in ("", "a.Service")])

    assert [[NOT_SERVING] * 2, [SERVING] * 2, [NOT_SERVING] * 2] == results


async def test_an_unknown_service_is_not_found(served: Served) -> None:
    """Requested; a watcher is told that it is unknown, and may wait."""
    with pytest.raises(grpc.aio.AioRpcError) as raised:
        await served.check("another.Service")
    watch = served.watch("another.Service")

    assert grpc.StatusCode.NOT_FOUND is raised.value.code()
    assert UNKNOWN == await reported(watch)
    watch.cancel()


async def test_every_watcher_is_told_of_every_change(served: Served) -> None:
    """Also when another one leaves."""
    first, second, third = served.watch(), served.watch("a.Service"), served.watch()
    results = [[await reported(watch) for watch in (first, second, third)]]
    served.health.set_serving(serving=True)
    results.append([await reported(watch) for watch in (first, second, third)])
    third.cancel()
    await asyncio.sleep(0.1)
    served.health.set_serving(serving=True)  # no change
    served.health.set_serving(serving=False)
    results.append([await reported(watch) for watch in (first, second)])
    first.cancel()
    second.cancel()

    assert [[NOT_SERVING] * 3, [SERVING] * 3, [NOT_SERVING] * 2] == results


async def test_watchers_do_not_hold_up_the_end(served: Served) -> None:
    """They hear the last word and are let go."""
    served.health.set_serving(serving=True)
    watch = served.watch()
    results = [await reported(watch)]
    served.health.set_serving(serving=False)
    results.append(await reported(watch))
    served.health.end()
    # Watchers that are not let go take all of this time.
    await asyncio.wait_for(served.server.stop(600), 120)

    assert [SERVING, NOT_SERVING] == results
    assert grpc.aio.EOF is await watch.read()
    assert grpc.StatusCode.OK is await watch.code()


async def test_whoever_watches_late_hears_nothing_more(served: Served) -> None:
    """The server ends; there is nothing to wait for."""
    served.health.end()

    assert grpc.aio.EOF is await asyncio.wait_for(served.watch().read(), 5)
