"""An MCP server over stdio whose tool calls Sidecheck validates."""

import asyncio
import json
import os
from typing import Any

from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp_types import CallToolRequestParams, CallToolResult, ListToolsResult, TextContent, Tool
from sidecheck.mcp import with_sidecheck

DAY = {
    "type": "object",
    "properties": {"day": {"type": "integer"}, "celsius": {"type": "number"}},
    "required": ["day", "celsius"],
}
FORECAST = Tool(
    name="get_forecast",
    title="Forecast",
    description="Forecast for a city",
    input_schema={
        "type": "object",
        "properties": {
            "city": {"type": "string", "minLength": 1},
            "days": {"type": "integer", "minimum": 1, "maximum": 7},
        },
        "required": ["city"],
        "additionalProperties": False,
    },
    output_schema={
        "type": "object",
        "properties": {"city": {"type": "string"}, "days": {"type": "array", "items": DAY}},
        "required": ["city", "days"],
    },
)


async def list_tools(_context: Any, _params: Any) -> ListToolsResult:
    """Return the only tool."""
    return ListToolsResult(tools=[FORECAST])


async def call_tool(_context: Any, params: CallToolRequestParams) -> CallToolResult:
    """Return the forecast; that for Atlantis breaks the output schema."""
    arguments = params.arguments or {}
    days = [
        {"day": day, "celsius": "wet" if arguments["city"] == "Atlantis" else 10 + day}
        for day in range(1, arguments.get("days", 1) + 1)
    ]
    forecast = {"city": arguments["city"], "days": days}
    text = TextContent(type="text", text=json.dumps(forecast))
    return CallToolResult(content=[text], structured_content=forecast)


async def main() -> None:
    """Serve over stdio."""
    server = Server("weather", on_list_tools=list_tools, on_call_tool=call_tool)
    with_sidecheck(server, os.environ.get("SIDECHECK_ADDRESS", "127.0.0.1:50151"))
    async with stdio_server() as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())


asyncio.run(main())
