"""The client of the first major version of the Python SDK."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import timedelta
from typing import Any

from driver import SECONDS, Operations, main
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamablehttp_client


@asynccontextmanager
async def connect(server: dict[str, Any]) -> AsyncIterator[Operations]:
    notifications: list[Any] = []

    async def log(params: Any) -> None:
        notifications.append(params)

    async def progress(done: float, total: float | None, message: str | None) -> None:
        notifications.append([done, total, message])

    async with AsyncExitStack() as stack:
        transport: Any = (
            streamablehttp_client(server["url"])
            if "url" in server
            else stdio_client(StdioServerParameters(**server))
        )
        read, write, *_ = await stack.enter_async_context(transport)
        session = await stack.enter_async_context(
            ClientSession(
                read, write, logging_callback=log, read_timeout_seconds=timedelta(seconds=SECONDS)
            )
        )
        initialized = await session.initialize()

        async def describe() -> Any:
            return initialized

        async def call(name: str, arguments: dict[str, Any]) -> Any:
            notifications.clear()
            result = await session.call_tool(name, arguments, progress_callback=progress)
            return [result, *notifications]

        yield {
            "server": describe,
            "tools": session.list_tools,
            "resources": session.list_resources,
            "templates": session.list_resource_templates,
            "prompts": session.list_prompts,
            "call": call,
            "read": session.read_resource,
            "prompt": session.get_prompt,
            "ping": session.send_ping,
        }


main(connect)
