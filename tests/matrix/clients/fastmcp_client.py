"""The client of FastMCP."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import fastmcp
from driver import SECONDS, Operations, main
from fastmcp.client.transports import StdioTransport


@asynccontextmanager
async def connect(server: dict[str, Any]) -> AsyncIterator[Operations]:
    notifications: list[Any] = []

    async def log(params: Any) -> None:
        notifications.append(params)

    async def progress(done: float, total: float | None, message: str | None) -> None:
        notifications.append([done, total, message])

    target: Any = server["url"] if "url" in server else StdioTransport(**server, keep_alive=False)
    async with fastmcp.Client(
        target, timeout=SECONDS, log_handler=log, progress_handler=progress
    ) as client:

        async def call(name: str, arguments: dict[str, Any]) -> Any:
            notifications.clear()
            result = await client.call_tool_mcp(name, arguments)
            return [result, *notifications]

        yield {
            "tools": client.list_tools,
            "resources": client.list_resources,
            "templates": client.list_resource_templates,
            "prompts": client.list_prompts,
            "call": call,
            "read": client.read_resource,
            "prompt": client.get_prompt,
            "ping": client.ping,
        }


main(connect)
