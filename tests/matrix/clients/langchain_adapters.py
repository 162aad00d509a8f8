"""The MCP adapters of LangChain."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from driver import Operations, main
from langchain_mcp_adapters.client import MultiServerMCPClient
from langchain_mcp_adapters.prompts import load_mcp_prompt
from langchain_mcp_adapters.resources import load_mcp_resources
from langchain_mcp_adapters.tools import load_mcp_tools


@asynccontextmanager
async def connect(server: dict[str, Any]) -> AsyncIterator[Operations]:
    connection: Any = {"transport": "streamable_http" if "url" in server else "stdio", **server}
    client = MultiServerMCPClient({"server": connection})
    async with client.session("server") as session:
        tools = {tool.name: tool for tool in await load_mcp_tools(session)}

        async def list_tools() -> Any:
            return [[tool.name, tool.description, tool.args_schema] for tool in tools.values()]

        async def call(name: str, arguments: dict[str, Any]) -> Any:
            content, artifact = await tools[name].coroutine(**arguments)
            return [content, artifact]

        async def read(uri: str) -> Any:
            return await load_mcp_resources(session, uris=[uri])

        async def prompt(name: str, arguments: dict[str, str]) -> Any:
            return await load_mcp_prompt(session, name, arguments=arguments)

        yield {"tools": list_tools, "call": call, "read": read, "prompt": prompt}


main(connect)
