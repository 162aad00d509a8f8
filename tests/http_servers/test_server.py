"""HTTP servers in an event loop, and signals."""

import asyncio
import signal
from collections.abc import Sequence

import pytest
import uvicorn
from sidecheck_server.config.addresses import Address
from sidecheck_server.http_servers.connections import ClientBounds, ConnectionLimits
from sidecheck_server.http_servers.server import HttpServer, open_listener
from starlette.responses import Response

BOUNDS = ClientBounds(ConnectionLimits(connections=9, head_seconds=9.0), lambda _: Response())


async def respond(scope: object, receive: object, send: object) -> None:
    """Respond to nothing."""


@pytest.mark.parametrize("signals", [(), (signal.SIGHUP,)], ids=["none", "SIGHUP"])
async def test_only_the_given_signals_are_handled(signals: Sequence[signal.Signals]) -> None:
    """It fails if a release of uvicorn lacks the overridden method."""
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = {number: signal.getsignal(number) for number in numbers}
    server = HttpServer(uvicorn.Config(respond, log_config=None, lifespan="off"), BOUNDS, signals)
    with open_listener(Address("127.0.0.1", 0)) as listener:
        serving = asyncio.create_task(server.serve(sockets=[listener]))
        while not server.started:  # noqa: ASYNC110  (uvicorn has no event)
            await asyncio.sleep(0.01)
        handled = {number for number in numbers if signal.getsignal(number) != before[number]}
        server.should_exit = True
        await serving

    assert set(signals) == handled
    assert before == {number: signal.getsignal(number) for number in numbers}
