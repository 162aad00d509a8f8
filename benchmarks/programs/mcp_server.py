"""MCP server with one tool, for `proxy.py`: it responds at once, with constant results.

Over HTTP it prints its URL when it serves.

    python benchmarks/programs/mcp_server.py {stdio|http}
"""

import asyncio
import json
import socket
import sys
from itertools import count
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

__all__ = ["main"]

_TOOL = {
    "name": "store",
    "description": "Stores notes",
    "inputSchema": {
        "type": "object",
        "properties": {
            "folder": {"type": "string", "minLength": 1},
            "notes": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "title": {"type": "string", "maxLength": 80},
                        "text": {"type": "string"},
                        "stars": {"type": "integer", "minimum": 0, "maximum": 5},
                    },
                    "required": ["title", "text"],
                    "additionalProperties": False,
                },
            },
        },
        "required": ["folder", "notes"],
        "additionalProperties": False,
    },
    "outputSchema": {
        "type": "object",
        "properties": {"stored": {"type": "integer"}},
        "required": ["stored"],
    },
}

_RESULTS: dict[str, Any] = {
    "initialize": {
        "protocolVersion": "2025-11-25",
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "store", "version": "1"},
    },
    "tools/list": {"tools": [_TOOL]},
    "tools/call": {
        "content": [{"type": "text", "text": '{"stored":10}'}],
        "structuredContent": {"stored": 10},
    },
}


_SESSIONS = count(1)
_SINCE_2026_07_28 = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"}


def _serve_stdio() -> None:
    write = sys.stdout.buffer.write
    for line in sys.stdin.buffer:
        message = json.loads(line)
        if "id" in message:
            result = _RESULTS[message["method"]]
            response = {"jsonrpc": "2.0", "id": message["id"], "result": result}
            write(json.dumps(response).encode() + b"\n")
            sys.stdout.buffer.flush()


async def _serve_http() -> None:
    app = Starlette(routes=[Route("/mcp", _respond, methods=["POST"])])
    # Connections are idle while other contenders have their turns.
    config = uvicorn.Config(
        app, log_config=None, access_log=False, lifespan="off", timeout_keep_alive=3600
    )
    config.load()
    # With an explicit protocol, asyncio sets TCP_NODELAY.
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.bind(("127.0.0.1", 0))
    listener.listen()
    print(f"http://127.0.0.1:{listener.getsockname()[1]}/mcp", flush=True)
    await uvicorn.Server(config).serve(sockets=[listener])


async def _respond(request: Request) -> Response:
    message = json.loads(await request.body())
    if "id" not in message:
        return Response(status_code=202)
    method = message["method"]
    result = {**_SINCE_2026_07_28, **_RESULTS[method]}
    response = {"jsonrpc": "2.0", "id": message["id"], "result": result}
    headers = {"mcp-session-id": f"session-{next(_SESSIONS)}"} if method == "initialize" else {}
    return Response(json.dumps(response), headers=headers, media_type="application/json")


def main() -> None:
    """Serve until the input ends, or until a signal over HTTP."""
    if sys.argv[1] == "stdio":
        _serve_stdio()
    else:
        asyncio.run(_serve_http())


if __name__ == "__main__":
    main()
