"""The SDK's client and a FastMCP server, with Envoy between them."""

import asyncio
import socket
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import mcp
import pytest
import uvicorn
from fastmcp import Context, FastMCP
from support.gateway import ENFORCE
from support.running import RunningServer
from support.running_envoy import Configuration, RunningEnvoy, running_envoy

_SECONDS = 180
_AT_ONCE = 200
#: One of them opens at most 100 connections.
_CLIENTS = 4
_MODES = ["legacy", "2026-07-28"]


@dataclass
class Weather:
    """A server, the calls that it has got, and an Envoy before it."""

    url: str
    calls: list[tuple[str, int]]
    envoy: RunningEnvoy = field(init=False)


def weather_server(calls: list[tuple[str, int]]) -> FastMCP[Any]:
    """Return a server that adds calls to *calls*."""
    server: FastMCP[Any] = FastMCP("weather")
    waiting: list[asyncio.Event] = []

    @server.tool
    async def get_forecast(city: str, context: Context, days: int = 1) -> dict[str, int]:
        """Forecast for a city."""
        calls.append((city, days))
        await context.report_progress(1, 1)
        return {"celsius": 10 + days}

    @server.tool
    async def meet(number: int) -> int:
        """Return *number* once as many calls are open as there should be."""
        waiting.append(asyncio.Event())
        if len(waiting) == _AT_ONCE:
            for event in waiting:
                event.set()
        await waiting[-1].wait()
        return number

    @server.resource("weather://cities")
    def cities() -> str:
        return "Oslo"

    return server


@pytest.fixture(scope="module")
def weather(
    sidecheck: RunningServer, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Weather]:
    """Return a server and an Envoy with the routes /mcp and /repaired."""
    calls: list[tuple[str, int]] = []
    config = uvicorn.Config(
        weather_server(calls).http_app(), port=0, log_config=None, lifespan="on"
    )
    config.load()
    listener = config.bind_socket()
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=lambda: asyncio.run(server.serve(sockets=[listener])))
    thread.start()
    served = Weather(f"http://127.0.0.1:{listener.getsockname()[1]}/mcp", calls)

    def change(configuration: Configuration) -> None:
        configuration.set_metadata({"server": "weather", **ENFORCE})
        repaired = {"server": "weather", **ENFORCE, "repair": "safe-scalars"}
        configuration.add_route("/repaired", repaired)

    folder: Path = tmp_path_factory.mktemp("envoy")
    try:
        with running_envoy(folder, served.url, sidecheck.address, change) as served.envoy:
            yield served
    finally:
        server.should_exit = True
        thread.join(timeout=_SECONDS)
        listener.close()


async def use(url: str, mode: str) -> list[Any]:
    """Return what a client of the server at *url* gets."""
    noted: list[Any] = []

    async def note(progress: float, total: float | None, message: str | None) -> None:
        noted.append((progress, total, message))

    async with mcp.Client(url, mode=mode, read_timeout_seconds=_SECONDS) as client:
        tools = await client.list_tools()
        results = [
            await client.call_tool(
                "get_forecast", {"city": "Oslo", "days": 2}, progress_callback=note
            ),
            await client.read_resource("weather://cities"),
        ]
        return [
            client.protocol_version,
            [tool.model_dump() for tool in tools.tools],
            *(result.model_dump() for result in results),
            noted,
        ]


@pytest.mark.parametrize("mode", _MODES)
async def test_a_client_has_the_same_responses_without_envoy(weather: Weather, mode: str) -> None:
    """The modes are with and without sessions and streams."""
    direct = await use(weather.url, mode)
    weather.envoy.forget()
    relayed = await use(weather.envoy.url, mode)

    assert direct == relayed


@pytest.mark.parametrize("mode", _MODES)
async def test_an_invalid_call_does_not_reach_the_server(weather: Weather, mode: str) -> None:
    """The model receives the text of Sidecheck."""
    weather.calls.clear()
    async with mcp.Client(weather.envoy.url, mode=mode, read_timeout_seconds=_SECONDS) as client:
        await client.list_tools()
        result: Any = await client.call_tool("get_forecast", {"city": "Oslo", "days": "2"})

    assert result.is_error
    assert "days: expected an integer" in result.content[0].text
    assert [] == weather.calls


@pytest.mark.parametrize("mode", _MODES)
async def test_arguments_are_repaired_by_the_policy_of_the_route(
    weather: Weather, mode: str
) -> None:
    """The server receives the repaired call."""
    weather.calls.clear()
    url = weather.envoy.url.replace("/mcp", "/repaired")
    async with mcp.Client(url, mode=mode, read_timeout_seconds=_SECONDS) as client:
        await client.list_tools()
        result: Any = await client.call_tool("get_forecast", {"city": "Oslo", "days": "2"})

    assert {"celsius": 12} == result.structured_content
    assert [("Oslo", 2)] == weather.calls


async def test_many_calls_at_once(weather: Weather) -> None:
    """There are more calls than one connection to Sidecheck carries."""
    share = _AT_ONCE // _CLIENTS

    async def call(start: int) -> list[Any]:
        async with mcp.Client(
            weather.envoy.url, mode="2026-07-28", read_timeout_seconds=_SECONDS
        ) as client:
            await client.list_tools()
            calls = [client.call_tool("meet", {"number": start + n}) for n in range(share)]
            return [result.structured_content for result in await asyncio.gather(*calls)]

    results = await asyncio.gather(*(call(start) for start in range(0, _AT_ONCE, share)))

    numbers = [content["result"] for contents in results for content in contents]
    assert list(range(_AT_ONCE)) == numbers
