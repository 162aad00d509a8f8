"""Low-level MCP servers whose tool calls go through Sidecheck, with real servers of both."""

import asyncio
import json
from pathlib import Path
from typing import Any

import mcp
import pytest
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError
from mcp_types import CallToolRequestParams, CallToolResult, ListToolsResult, TextContent, Tool
from sidecheck import Client, Coercion, OnUnavailable, Options, SidecheckError
from sidecheck.mcp import with_sidecheck
from support.running import RunningServer


def low_level_server(tools: list[Tool]) -> Server[Any]:
    """Return a server with *tools* that records the arguments of its calls."""

    async def list_tools(_context: Any, _params: Any) -> ListToolsResult:
        return ListToolsResult(tools=tools)

    async def call_tool(_context: Any, params: CallToolRequestParams) -> CallToolResult:
        text = TextContent(type="text", text=f"{params.name} {json.dumps(params.arguments)}")
        return CallToolResult(content=[text])

    return Server("weather", on_list_tools=list_tools, on_call_tool=call_tool)


def takes(type_: str) -> Tool:
    """Return a tool whose argument ``days`` has a type."""
    properties = {"days": {"type": type_}}
    return Tool(name="get_forecast", input_schema={"type": "object", "properties": properties})


@pytest.mark.parametrize("policy", ["error", "allow", "deny"])
async def test_the_low_level_server_follows_the_policy(
    policy: OnUnavailable, tmp_path: Path
) -> None:
    """Its calls fail, pass or are refused while Sidecheck is down, and its list is served."""
    server = low_level_server([takes("integer")])
    async with Client(f"unix:{tmp_path}/none.sock", on_unavailable=policy) as sidecheck:
        with_sidecheck(server, sidecheck, on_error=ignore, on_report=ignore)
        async with mcp.Client(server) as client:
            assert ["get_forecast"] == [tool.name for tool in (await client.list_tools()).tools]
            if policy == "error":
                with pytest.raises(MCPError, match="Sidecheck is unavailable: UNAVAILABLE") as e:
                    await client.call_tool("get_forecast", {"days": 1})
                assert -32603 == e.value.code
            else:
                result: Any = await client.call_tool("get_forecast", {"days": 1})
                assert (policy == "deny") == result.is_error


def ignore(*_: Any) -> None:
    """Take no notice of an error or report."""


async def test_sidecheck_comes_up_later_and_is_restarted(tmp_path: Path) -> None:
    """Calls fail only while it is down; after a restart the tools are registered again."""
    address = f"unix:{tmp_path}/sidecheck.sock"
    server = low_level_server([takes("integer")])
    async with Client(address, timeout=120) as sidecheck:
        with_sidecheck(server, sidecheck, on_error=ignore)
        async with mcp.Client(server) as client:
            assert 1 == len((await client.list_tools()).tools)
            for _ in range(2):
                running = await asyncio.to_thread(RunningServer, tmp_path)
                try:
                    good: Any = await client.call_tool("get_forecast", {"days": 1})
                    bad: Any = await client.call_tool("get_forecast", {"days": "1"})
                finally:
                    await asyncio.to_thread(running.close)
                assert (False, True) == (good.is_error, bad.is_error)


async def test_a_rejected_tool_is_named(emptied: RunningServer) -> None:
    """Its calls are errors with its first violation; the other tools are unaffected."""
    properties = {"port": {"type": "nothing"}}
    schema = {"type": "object", "properties": properties}
    rejected = Tool(name="get_tides", input_schema=schema)
    server = low_level_server([takes("integer"), rejected])
    errors: list[SidecheckError] = []
    async with Client(emptied.address, timeout=120) as sidecheck:
        with_sidecheck(server, sidecheck, on_error=errors.append)
        async with mcp.Client(server) as client:
            good: Any = await client.call_tool("get_forecast", {"days": 1})
            with pytest.raises(MCPError, match="rejected the definition of tool 'get_tides'") as e:
                await client.call_tool("get_tides", {})
    assert not good.is_error
    assert -32603 == e.value.code
    assert ["TOOLS_REJECTED"] == [error.reason for error in errors]


async def test_changed_tools_are_registered_again(emptied: RunningServer) -> None:
    """The next call after a list that differs is validated by the definition in it."""
    tools = [takes("integer")]
    server = low_level_server(tools)
    async with Client(emptied.address, timeout=120) as sidecheck:
        with_sidecheck(server, sidecheck)
        async with mcp.Client(server) as client:
            before: Any = await client.call_tool("get_forecast", {"days": "1"})
            tools[:] = [takes("string")]
            await client.list_tools()
            after: Any = await client.call_tool("get_forecast", {"days": "1"})
    assert (True, False) == (before.is_error, after.is_error)


async def test_the_handler_gets_repaired_arguments(emptied: RunningServer) -> None:
    """A call that can be repaired passes, as the options say."""
    server = low_level_server([takes("integer")])
    async with Client(emptied.address, timeout=120) as sidecheck:
        with_sidecheck(server, sidecheck, options=Options(coercion=Coercion.SAFE_SCALARS))
        async with mcp.Client(server) as client:
            result: Any = await client.call_tool("get_forecast", {"days": "1"})
    assert 'get_forecast {"days": 1}' == result.content[0].text


async def test_verdicts_that_are_not_enforced_are_reported(tmp_path: Path) -> None:
    """A server in report-only mode stops no call."""
    server = low_level_server([takes("integer")])
    reports: list[tuple[str, bool]] = []
    running = await asyncio.to_thread(
        lambda: RunningServer(tmp_path, SIDECHECK_REPORT_ONLY='["weather"]')
    )
    try:
        async with Client(running.address, timeout=120) as sidecheck:
            with_sidecheck(server, sidecheck, on_report=lambda t, v: reports.append((t, v.valid)))
            async with mcp.Client(server) as client:
                result: Any = await client.call_tool("get_forecast", {"days": "1"})
    finally:
        await asyncio.to_thread(running.close)
    assert 'get_forecast {"days": "1"}' == result.content[0].text
    assert [("get_forecast", False)] == reports


async def test_the_version_of_the_options_applies_throughout(emptied: RunningServer) -> None:
    """Tools are registered under it, independent of the negotiated version."""
    server = low_level_server([takes("integer")])
    async with Client(emptied.address, timeout=120) as sidecheck:
        with_sidecheck(server, sidecheck, options=Options(protocol_version="2025-06-18"))
        async with mcp.Client(server) as client:
            await client.call_tool("get_forecast", {"days": 1})
        tool = await sidecheck.get("weather", "get_forecast")
    assert "2025-06-18" == tool.protocol_version
