"""The MCP toolset of Pydantic AI."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from driver import SECONDS, Operations, main
from fastmcp.client.transports import StdioTransport
from pydantic_ai.mcp import MCPToolset


@asynccontextmanager
async def connect(server: dict[str, Any]) -> AsyncIterator[Operations]:
    target: Any = server["url"] if "url" in server else StdioTransport(**server, keep_alive=False)
    async with MCPToolset(target, read_timeout=SECONDS, init_timeout=SECONDS) as toolset:

        async def describe() -> Any:
            return [toolset.server_info, toolset.capabilities, toolset.instructions]

        yield {
            "server": describe,
            "tools": toolset.list_tools,
            "resources": toolset.list_resources,
            "templates": toolset.list_resource_templates,
            "prompts": toolset.list_prompts,
            "call": toolset.direct_call_tool,
            "read": toolset.read_resource,
            "prompt": toolset.get_prompt,
        }


main(connect)
