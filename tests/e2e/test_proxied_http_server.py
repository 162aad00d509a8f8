"""Servers over Streamable HTTP behind `sidecheck proxy`, with the clients of the SDKs."""

import asyncio
import json
import os
import re
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import mcp
import pytest
import uvicorn
from fastmcp import Context, FastMCP
from support.published_servers import NODE, SERVERS

_SECONDS = 300


def weather_server() -> FastMCP[Any]:
    """Return a server with a tool, a resource and a prompt."""
    server: FastMCP[Any] = FastMCP("weather")

    @server.tool
    async def get_forecast(city: str, context: Context, days: int = 1) -> dict[str, int]:
        """Forecast for a city."""
        await context.info(f"asked for {city}")
        await context.report_progress(1, 1)
        return {"celsius": 10 + days}

    @server.resource("weather://cities")
    def cities() -> str:
        return "Oslo"

    @server.prompt
    def ask(city: str) -> str:
        return f"How is the weather in {city}?"

    return server


@contextmanager
def serving(server: FastMCP[Any]) -> Iterator[str]:
    """Yield the URL of *server*, which runs in a thread."""
    config = uvicorn.Config(server.http_app(), port=0, log_config=None, lifespan="on")
    config.load()
    listener = config.bind_socket()
    running = uvicorn.Server(config)
    thread = threading.Thread(target=lambda: asyncio.run(running.serve(sockets=[listener])))
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/mcp"
    finally:
        running.should_exit = True
        thread.join(timeout=_SECONDS)
        listener.close()


@contextmanager
def proxied(url: str, findings: list[str]) -> Iterator[str]:
    """Yield the URL of a proxy that enforces everything; add what it finds to *findings*."""
    process = subprocess.Popen(
        [
            *(sys.executable, "-m", "sidecheck_server", "proxy", "--enforce"),
            *("--upstream", url, "--listen", "127.0.0.1:0"),
        ],
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    line = process.stderr.readline()
    match = re.search(r"http://[^ ]*:\d+", line)
    assert match, line
    try:
        yield f"{match[0]}/mcp"
    finally:
        process.terminate()
        _, err = process.communicate(timeout=_SECONDS)
        findings += [line for line in err.splitlines() if "->" in line]


async def use(url: str, mode: str) -> list[Any]:
    """Return what a client of the server at *url* gets."""
    logged: list[Any] = []

    async def log(params: Any) -> None:
        logged.append(params.data)

    async with mcp.Client(
        url, mode=mode, read_timeout_seconds=_SECONDS, logging_callback=log
    ) as client:
        tools = await client.list_tools()
        results = [
            await client.call_tool("get_forecast", {"city": "Oslo", "days": 2}),
            await client.read_resource("weather://cities"),
            await client.get_prompt("ask", {"city": "Oslo"}),
        ]
        return [
            client.protocol_version,
            [tool.model_dump() for tool in tools.tools],
            *(result.model_dump() for result in results),
            logged,
        ]


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
async def test_a_client_has_the_same_responses_without_the_proxy(mode: str) -> None:
    """The modes are with and without sessions and streams."""
    findings: list[str] = []
    with serving(weather_server()) as url, proxied(url, findings) as through:
        direct = await use(url, mode)
        relayed = await use(through, mode)

    assert direct == relayed
    assert [] == findings


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
async def test_an_invalid_call_is_answered_by_the_proxy(mode: str) -> None:
    """The text is Sidecheck's."""
    findings: list[str] = []
    with serving(weather_server()) as url, proxied(url, findings) as through:
        async with mcp.Client(through, mode=mode, read_timeout_seconds=_SECONDS) as client:
            result: Any = await client.call_tool("get_forecast", {"city": "Oslo", "days": "2"})

    assert result.is_error
    assert "days: expected an integer" in result.content[0].text
    assert 1 == len(findings)


@contextmanager
def everything_server() -> Iterator[str]:
    """Yield the URL of a server of the TypeScript SDK, in a process of its own."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with subprocess.Popen(
        SERVERS["everything over HTTP"].installed(),
        env={**os.environ, "PORT": str(port)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stderr is not None
        for line in process.stderr:
            if f"listening on port {port}" in line:
                break
        try:
            yield f"http://127.0.0.1:{port}/mcp"
        finally:
            process.kill()


_UUID = re.compile("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def typescript_exchanges(url: str) -> list[Any]:
    """Return the HTTP exchanges of a session of the TypeScript SDK's client, by method.

    Ids of sessions and of events, which are random, are all the same. That the list of tools
    has changed is left out: it is said before or after the stream for it opens.
    """
    session = {"operations": SERVERS["everything over HTTP"].operations, "url": url}
    run = subprocess.run(
        ["node", str(NODE / "client.mjs")],
        input=json.dumps(session),
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        timeout=_SECONDS,
    )
    exchanges = json.loads(_UUID.sub("ID", run.stdout))
    for exchange in exchanges:
        events = exchange["body"].split("\n\n")
        exchange["body"] = [event for event in events if "tools/list_changed" not in event]
    return sorted(
        exchanges, key=lambda exchange: ["POST", "GET", "DELETE"].index(exchange["method"])
    )


def test_a_session_of_the_typescript_client_is_the_same() -> None:
    """Exchanges and events are equal byte for byte except for random ids."""
    findings: list[str] = []
    with everything_server() as url, proxied(url, findings) as through:
        direct = typescript_exchanges(url)
        relayed = typescript_exchanges(through)

    assert direct == relayed
    assert [] == findings
    methods = [exchange["method"] for exchange in direct]
    assert [*["POST"] * 7, "GET", "DELETE"] == methods
    events = {exchange["method"]: "\n".join(exchange["body"]) for exchange in direct}
    assert "Received Subscribe Resource request" in events["GET"]
    progress = [str(exchange["body"]).count("notifications/progress") for exchange in direct]
    assert [2] == [count for count in progress if count]
