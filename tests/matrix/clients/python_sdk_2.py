"""The client of the second major version of the Python SDK."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import mcp
from driver import SECONDS, Operations, main


@asynccontextmanager
async def connect(server: dict[str, Any]) -> AsyncIterator[Operations]:
    notifications: list[Any] = []

    async def log(params: Any) -> None:
        notifications.append(params)

    async def progress(done: float, total: float | None, message: str | None) -> None:
        notifications.append([done, total, message])

    target = server["url"] if "url" in server else mcp.StdioServerParameters(**server)
    async with mcp.Client(
        target, read_timeout_seconds=SECONDS, logging_callback=log, log_level="info"
    ) as client:

        async def describe() -> Any:
            return [
                client.protocol_version,
                client.server_info,
                client.server_capabilities,
                client.instructions,
            ]

        async def call(name: str, arguments: dict[str, Any]) -> Any:
            notifications.clear()
            result = await client.call_tool(name, arguments, progress_callback=progress)
            return [result, *notifications]

        yield {
            "server": describe,
            "tools": client.list_tools,
            "resources": client.list_resources,
            "templates": client.list_resource_templates,
            "prompts": client.list_prompts,
            "call": call,
            "read": client.read_resource,
            "prompt": client.get_prompt,
            "ping": client.send_ping,
        }


main(connect)
