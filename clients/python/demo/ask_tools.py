"""Asks one MCP server over stdio, and prints its response as JSON.

It runs in the environment of the MCP servers, whose SDK speaks the protocol. Without
``--call`` it prints the tools of the server as the server sent them.
"""

import argparse
import asyncio
import json
import signal
import sys
from typing import Any

from mcp import Client, StdioServerParameters, types
from pydantic import TypeAdapter

__all__: list[str] = []

#: Results are taken as they come: parsed into the SDK's types, members would change
#: their order and unknown ones could be lost.
VERBATIM: TypeAdapter[dict[str, Any]] = TypeAdapter(dict[str, Any])


async def list_tools(client: Any) -> list[dict[str, Any]]:
    """Return the tools of all pages of ``tools/list``."""
    tools: list[dict[str, Any]] = []
    params = None
    while True:
        page = await client.session.send_request(types.ListToolsRequest(params=params), VERBATIM)
        tools += page["tools"]
        cursor = page.get("nextCursor")
        if cursor is None:
            return tools
        params = types.PaginatedRequestParams(cursor=cursor)


async def call_tool(client: Any, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """Return the result of ``tools/call``."""
    params = types.CallToolRequestParams(name=name, arguments=arguments)
    result: dict[str, Any] = await client.session.send_request(
        types.CallToolRequest(params=params), VERBATIM
    )
    return result


async def ask(command: list[str], call: list[str] | None, seconds: float) -> dict[str, Any]:
    """Start the server that *command* names, ask it, and end it."""
    task = asyncio.current_task()
    assert task is not None
    # Cancelled, the SDK still ends the server, which has a session of its own.
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    server = StdioServerParameters(command=command[0], args=command[1:])
    async with asyncio.timeout(seconds), Client(server) as client:
        # A server of 2026-07-28 need not say who it is.
        info = client.server_info
        response: dict[str, Any] = {
            "name": command[0] if info is None else info.name,
            "version": "" if info is None else info.version,
            "protocolVersion": client.protocol_version,
        }
        if call is None:
            return response | {"tools": await list_tools(client)}
        return response | {"result": await call_tool(client, call[0], json.loads(call[1]))}


def main() -> None:
    """Print the response, or end in error with one line on standard error."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--call", nargs=2, metavar=("TOOL", "ARGUMENTS"))
    parser.add_argument("command", nargs="+")
    arguments = parser.parse_args()
    try:
        response = asyncio.run(ask(arguments.command, arguments.call, arguments.seconds))
    except TimeoutError:
        sys.exit(f"no response within {arguments.seconds:g} s")
    except asyncio.CancelledError:
        sys.exit("interrupted")
    except Exception as error:  # noqa: BLE001  (the SDK raises groups; the caller wants the cause)
        cause: BaseException = error
        while isinstance(cause, BaseExceptionGroup):
            cause = cause.exceptions[0]
        sys.exit(f"{type(cause).__name__}: {cause}")
    json.dump(response, sys.stdout)


if __name__ == "__main__":
    main()
