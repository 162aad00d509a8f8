"""Whether the server serves, for those who ask and those who watch."""

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


async def told(watch: Any) -> Any:
    """Return the next status that a watcher is told."""
    return (await asyncio.wait_for(watch.read(), 5)).status


async def test_all_services_serve_or_none_does(served: Served) -> None:
    """At first none."""
    got = [[await served.check(name) for name in ("", "a.Service")]]
    for serving in (True, False):
        served.health.say(serving=serving)
        got.append([await served.check(name) for name in ("", "a.Service")])

    assert [[NOT_SERVING] * 2, [SERVING] * 2, [NOT_SERVING] * 2] == got


async def test_an_unknown_service_is_not_found(served: Served) -> None:
    """Asked for; a watcher is told that it is unknown, and may wait."""
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await served.check("another.Service")
    watch = served.watch("another.Service")

    assert grpc.StatusCode.NOT_FOUND is caught.value.code()
    assert UNKNOWN == await told(watch)
    watch.cancel()


async def test_every_watcher_is_told_of_every_change(served: Served) -> None:
    """Also when another one leaves."""
    first, second, third = served.watch(), served.watch("a.Service"), served.watch()
    got = [[await told(watch) for watch in (first, second, third)]]
    served.health.say(serving=True)
    got.append([await told(watch) for watch in (first, second, third)])
    third.cancel()
    await asyncio.sleep(0.1)
    served.health.say(serving=True)  # no change
    served.health.say(serving=False)
    got.append([await told(watch) for watch in (first, second)])
    first.cancel()
    second.cancel()

    assert [[NOT_SERVING] * 3, [SERVING] * 3, [NOT_SERVING] * 2] == got


async def test_watchers_do_not_hold_up_the_end(served: Served) -> None:
    """They hear the last word and are let go."""
    served.health.say(serving=True)
    watch = served.watch()
    got = [await told(watch)]
    served.health.say(serving=False)
    got.append(await told(watch))
    served.health.end()
    # Watchers that are not let go take all of this time.
    await asyncio.wait_for(served.server.stop(600), 120)

    assert [SERVING, NOT_SERVING] == got
    assert grpc.aio.EOF is await watch.read()
    assert grpc.StatusCode.OK is await watch.code()


async def test_whoever_watches_late_hears_nothing_more(served: Served) -> None:
    """The server ends; there is nothing to wait for."""
    served.health.end()

    assert grpc.aio.EOF is await asyncio.wait_for(served.watch().read(), 5)
