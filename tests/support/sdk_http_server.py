"""Servers of the Python SDK over both HTTP transports, in a thread."""

import asyncio
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Literal

import uvicorn
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError

__all__ = ["Transport", "sdk_server", "serving", "tool_server"]

Transport = Literal["streamable", "json", "stateless", "sse"]

_SECONDS = 300


def tool_server() -> MCPServer[Any]:
    """Return a server whose tools notify, ask the client, and wait."""
    server: MCPServer[Any] = MCPServer("weather")

    @server.tool()
    async def get_forecast(city: str, context: Context[Any, Any], days: int = 1) -> dict[str, int]:
        """Forecast for a city."""
        await context.report_progress(1, 2)
        return {"celsius": 10 + days}

    @server.tool()
    async def fail() -> str:
        """Fail."""
        raise ToolError("no weather")

    @server.resource("weather://cities")
    def cities() -> str:
        return "Oslo"

    @server.prompt()
    def ask(city: str) -> str:
        return f"How is the weather in {city}?"

    return server


@contextmanager
def serving(app: Any, path: str) -> Iterator[str]:
    """Yield the URL of the ASGI application *app* at *path*."""
    config = uvicorn.Config(
        app, port=0, log_config=None, lifespan="on", timeout_graceful_shutdown=1
    )
    config.load()
    listener = config.bind_socket()
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    running = uvicorn.Server(config)
    thread = threading.Thread(target=lambda: asyncio.run(running.serve(sockets=[listener])))
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}{path}"
    finally:
        running.should_exit = True
        thread.join(timeout=_SECONDS)
        listener.close()


@contextmanager
def sdk_server(transport: Transport) -> Iterator[str]:
    """Yield the URL of a server of the SDK over *transport*."""
    server = tool_server()
    if transport == "sse":
        app, path = server.sse_app(), "/sse"
    else:
        app = server.streamable_http_app(
            json_response=transport == "json", stateless_http=transport == "stateless"
        )
        path = "/mcp"
    with serving(app, path) as url:
        yield url
