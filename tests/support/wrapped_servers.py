"""Calls of MCP servers of all kinds that the Python client wraps, with a fake of Sidecheck.

Runs also as a script, in environments with other releases of the packages of servers: it prints
the outcomes of the calls of each kind that the environment has, as JSON.
"""

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, Final

from sidecheck import CallParams, Item, Unavailable, Violation
from sidecheck.mcp import with_sidecheck
from sidecheck.testing import FakeValidator, invalid

__all__ = ["EXPECTED", "KINDS", "call_wrapped"]

_SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}

#: What `call_wrapped` returns for every kind of server.
EXPECTED: Final = {
    "texts": ["sun in Oslo", "no such city", "Sidecheck is unavailable: UNAVAILABLE"],
    "reasons": ["UNAVAILABLE"],
    "registered": [["weather", "get_forecast"]],
    "validated": ["CallParams", "CallResult", "CallParams", "CallParams"],
}


def _forecast(city: str) -> str:
    return f"sun in {city}"


def _sdk_2_low_level() -> Any:
    import mcp_types as types
    from mcp.server.lowlevel import Server

    async def list_tools(_context: Any, _params: Any) -> Any:
        return types.ListToolsResult(tools=[types.Tool(name="get_forecast", input_schema=_SCHEMA)])

    async def call_tool(_context: Any, params: Any) -> Any:
        text = _forecast(params.arguments["city"])
        return types.CallToolResult(content=[types.TextContent(type="text", text=text)])

    return Server("weather", on_list_tools=list_tools, on_call_tool=call_tool)


def _sdk_2_high_level() -> Any:
    from mcp.server.mcpserver import MCPServer

    server = MCPServer("weather")
    server.tool(name="get_forecast")(_forecast)
    return server


def _sdk_1_low_level() -> Any:
    from mcp import types
    from mcp.server.lowlevel import Server

    server: Any = Server("weather")

    async def list_tools() -> Any:
        return [types.Tool.model_validate({"name": "get_forecast", "inputSchema": _SCHEMA})]

    async def call_tool(_name: str, arguments: dict[str, Any]) -> Any:
        return [types.TextContent(type="text", text=_forecast(arguments["city"]))]

    server.list_tools()(list_tools)
    server.call_tool()(call_tool)
    return server


def _sdk_1_high_level() -> Any:
    from mcp.server import fastmcp

    server: Any = fastmcp.FastMCP("weather")  # type: ignore[attr-defined]
    server.tool(name="get_forecast")(_forecast)
    return server


def _fastmcp() -> Any:
    from fastmcp import FastMCP

    server: Any = FastMCP("weather")
    server.tool(name="get_forecast")(_forecast)
    return server


#: Makers of the kinds of servers, by name.
KINDS: Final[dict[str, Callable[[], Any]]] = {
    "Server of mcp 2": _sdk_2_low_level,
    "MCPServer of mcp 2": _sdk_2_high_level,
    "Server of mcp 1": _sdk_1_low_level,
    "FastMCP of mcp 1": _sdk_1_high_level,
    "FastMCP of fastmcp": _fastmcp,
}


@asynccontextmanager
async def _calling(kind: str, server: Any) -> AsyncIterator[Callable[[str], Awaitable[Any]]]:
    """Yield a function that calls the tool with a city, by a client of the same package."""
    if kind == "FastMCP of fastmcp":
        import fastmcp

        async with fastmcp.Client(server) as client:
            yield lambda city: client.call_tool_mcp("get_forecast", {"city": city})
    elif kind.endswith("mcp 2"):
        import mcp

        async with mcp.Client(server) as client:
            yield lambda city: client.call_tool("get_forecast", {"city": city})
    else:
        from mcp.shared import memory

        connect: Any = memory.create_connected_server_and_client_session  # type: ignore[attr-defined]
        async with connect(server) as session:
            yield lambda city: session.call_tool("get_forecast", {"city": city})


async def call_wrapped(kind: str) -> dict[str, Any]:
    """Return the outcomes of calls of a wrapped server; `EXPECTED` for every kind."""
    fake = FakeValidator()
    fake.answer_when(
        _has_city("Atlantis"), invalid(Violation(code="ENUM"), tool_error_text="no such city")
    )
    fake.answer_when(_has_city("Nowhere"), Unavailable("UNAVAILABLE", "no server"))
    reasons: list[str] = []
    server = with_sidecheck(
        KINDS[kind](), fake, on_error=lambda error: reasons.append(error.reason)
    )
    async with _calling(kind, server) as call:
        texts = [(await call(city)).content[0].text for city in ("Oslo", "Atlantis")]
        try:
            await call("Nowhere")
        except Exception as error:  # noqa: BLE001  (each release has a class of its own)
            texts.append(str(error))
    return {
        "texts": texts,
        "reasons": reasons,
        "registered": [
            [name, *(definition["name"] for definition in definitions)]
            for name, definitions in fake.registrations
        ],
        "validated": [type(item.subject).__name__ for item in fake.calls],
    }


def _has_city(city: str) -> Callable[[Item], bool]:
    def matches(item: Item) -> bool:
        payload: Any = item.subject.payload if isinstance(item.subject, CallParams) else {}
        return bool(payload.get("arguments", {}).get("city") == city)

    return matches


if __name__ == "__main__":
    print(json.dumps({kind: asyncio.run(call_wrapped(kind)) for kind in sys.argv[1:]}))
