"""MCP servers whose tool calls go through Sidecheck, with real MCP clients."""

from pathlib import Path
from typing import Any

import fastmcp
import pytest
from fastmcp import FastMCP
from mcp.shared.exceptions import MCPError
from sidecheck import Client, OnUnavailable, SidecheckError
from sidecheck.mcp.fastmcp import SidecheckMiddleware
from support.running import RunningServer

FORECAST = {
    "type": "object",
    "properties": {"celsius": {"type": "number"}},
    "required": ["celsius"],
}


async def test_calls_of_fastmcp_are_validated(emptied: RunningServer) -> None:
    """The middleware does what the wrapper does."""
    server = FastMCP("weather")

    @server.tool(output_schema=FORECAST)
    def get_forecast(city: str, days: int = 1) -> dict[str, Any]:
        return {"celsius": "wet" if city == "Atlantis" else 10 + days}

    async with Client(emptied.address, timeout=120) as sidecheck:
        server.add_middleware(SidecheckMiddleware(sidecheck, name="weather"))
        async with fastmcp.Client(server) as client:
            good = await client.call_tool_mcp("get_forecast", {"city": "Oslo", "days": 2})
            bad: Any = await client.call_tool_mcp("get_forecast", {"city": "Oslo", "days": "2"})
            stopped: Any = await client.call_tool_mcp("get_forecast", {"city": "Atlantis"})
            with pytest.raises(MCPError) as unknown:
                await client.call_tool_mcp("get_tides", {})

    assert {"celsius": 12} == good.structured_content
    assert bad.is_error
    assert "days: expected an integer" in bad.content[0].text
    assert stopped.is_error
    assert "Output validation error" in stopped.content[0].text
    assert -32602 == unknown.value.code


@pytest.mark.parametrize("policy", ["error", "allow", "deny"])
async def test_no_server_answers(policy: OnUnavailable, tmp_path: Path) -> None:
    """The MCP server lists its tools all the same, and calls follow the policy."""
    server = FastMCP("weather")

    @server.tool
    def get_forecast(city: str) -> str:
        return f"sun in {city}"

    reports: list[str] = []
    address = f"unix:{tmp_path}/none.sock"
    async with Client(address, on_unavailable=policy) as sidecheck:
        middleware = SidecheckMiddleware(
            sidecheck,
            name="weather",
            on_error=lambda error: reports.append(error.reason),
            on_report=lambda tool, verdict: reports.append(verdict.violations[0].code),
        )
        server.add_middleware(middleware)
        async with fastmcp.Client(server) as client:
            assert ["get_forecast"] == [tool.name for tool in await client.list_tools()]
            if policy == "error":
                with pytest.raises(MCPError, match="Sidecheck is unavailable") as failed:
                    await client.call_tool_mcp("get_forecast", {"city": "Oslo"})
                assert -32603 == failed.value.code
            else:
                result: Any = await client.call_tool_mcp("get_forecast", {"city": "Oslo"})
                assert (policy == "deny") == result.is_error
                expected = {"allow": "sun in Oslo", "deny": "This could not be validated"}
                assert result.content[0].text.startswith(expected[policy])
    assert "UNAVAILABLE" == reports[0]
    assert ["SIDECHECK_UNAVAILABLE"] * (policy != "error") == reports[1:]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"code": -32602, "message": "m"}', {"code": -32602, "message": "m"}),
        ("{", None),
        ("1", None),
    ],
)
def test_json_rpc_error_of_an_error(text: str, expected: Any) -> None:
    """The error is decoded; a value that is not an object is None."""
    assert expected == SidecheckError("R", "m", {"json_rpc_error": text}).json_rpc_error
    assert SidecheckError("R", "m").json_rpc_error is None
