"""Servers of the Python SDK over both HTTP transports, behind the proxy, and its clients."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import mcp
import pytest
from mcp.client.sse import sse_client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from support.sdk_http_server import Transport, sdk_server

_SECONDS = 300
_COMMAND = ["-m", "sidecheck_server", "proxy"]


async def use(transport: Any, mode: str) -> list[Any]:
    """Return what a client gets over *transport*."""
    steps: list[Any] = []

    async def note(progress: float, total: float | None, message: str | None) -> None:
        steps.append((progress, total))

    async with mcp.Client(transport, mode=mode, read_timeout_seconds=_SECONDS) as client:
        tools = await client.list_tools()
        results = [
            await client.call_tool("get_forecast", {"city": "Oslo"}, progress_callback=note),
            await client.call_tool("fail", {}),
            await client.read_resource("weather://cities"),
            await client.get_prompt("ask", {"city": "Oslo"}),
        ]
        return [
            client.protocol_version,
            [tool.model_dump() for tool in tools.tools],
            *(result.model_dump() for result in results),
            steps,
        ]


def direct(transport: Transport, url: str) -> Any:
    """Return the transport of a client that connects to the server itself."""
    return sse_client(url) if transport == "sse" else streamable_http_client(url)


@pytest.mark.parametrize("options", [[], ["--enforce"]], ids=["audit", "enforced"])
@pytest.mark.parametrize(
    ("transport", "mode"),
    [
        ("streamable", "legacy"),
        ("streamable", "2026-07-28"),
        ("json", "legacy"),
        ("stateless", "legacy"),
        ("sse", "legacy"),
        ("sse", "auto"),
    ],
)
async def test_a_client_over_stdio_has_the_same_responses(
    transport: Transport, mode: str, options: list[str]
) -> None:
    """As a client that connects to the server over HTTP itself."""
    with sdk_server(transport) as url:
        arguments = [*_COMMAND, *options, "--upstream", url]
        proxy = StdioServerParameters(command=sys.executable, args=arguments, env=dict(os.environ))
        expected = await use(direct(transport, url), mode)
        relayed = await use(stdio_client(proxy), mode)

    assert expected == relayed


@pytest.mark.parametrize("options", [[], ["--enforce"]], ids=["audit", "enforced"])
@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_a_client_over_sse_has_the_same_responses(mode: str, options: list[str]) -> None:
    """The messages are validated, and none has a fault."""
    findings: list[str] = []
    with sdk_server("sse") as url, listening(url, options, findings) as through:
        expected = await use(sse_client(url), mode)
        relayed = await use(sse_client(through), mode)

    assert expected == relayed
    assert [] == findings


@contextmanager
def listening(url: str, options: list[str], findings: list[str]) -> Iterator[str]:
    """Yield the URL of a proxy before the server at *url*; add what it finds to *findings*."""
    process = subprocess.Popen(
        [sys.executable, *_COMMAND, *options, "--upstream", url, "--listen", "127.0.0.1:0"],
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    line = process.stderr.readline()
    match = re.search(r"http://[^ ]*:\d+", line)
    assert match, line
    try:
        yield f"{match[0]}/sse"
    finally:
        process.terminate()
        _, err = process.communicate(timeout=_SECONDS)
        findings += [line for line in err.splitlines() if "->" in line]
