"""The MCP servers of the OpenAI Agents SDK."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from agents.mcp import MCPServerStdio, MCPServerStreamableHttp
from driver import SECONDS, Operations, main


@asynccontextmanager
async def connect(server: dict[str, Any]) -> AsyncIterator[Operations]:
    parameters: Any = server
    kind: Any = MCPServerStreamableHttp if "url" in server else MCPServerStdio
    # The name is in the texts of errors; by default it is the command or the URL.
    async with kind(parameters, name="server", client_session_timeout_seconds=SECONDS) as connected:
        yield {
            "tools": connected.list_tools,
            "resources": connected.list_resources,
            "templates": connected.list_resource_templates,
            "prompts": connected.list_prompts,
            "call": connected.call_tool,
            "read": connected.read_resource,
            "prompt": connected.get_prompt,
        }


main(connect)
