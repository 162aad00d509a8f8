"""A small MCP server over Streamable HTTP, for `proxy.py`: the tool of `stdio_server.py`.

python benchmarks/http_server.py

It prints its URL when it serves.
"""

import asyncio
import json
import socket
from itertools import count

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from stdio_server import RESULTS

_SESSIONS = count(1)
_SINCE_2026_07_28 = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"}


async def respond(request: Request) -> Response:
    """Answer the request in the body at once."""
    message = json.loads(await request.body())
    if "id" not in message:
        return Response(status_code=202)
    method = message["method"]
    result = {**_SINCE_2026_07_28, **RESULTS[method]}
    response = {"jsonrpc": "2.0", "id": message["id"], "result": result}
    headers = {"mcp-session-id": f"session-{next(_SESSIONS)}"} if method == "initialize" else {}
    return Response(json.dumps(response), headers=headers, media_type="application/json")


async def main() -> None:
    """Serve until a signal."""
    app = Starlette(routes=[Route("/mcp", respond, methods=["POST"])])
    # Connections wait for the turns of others.
    config = uvicorn.Config(
        app, log_config=None, access_log=False, lifespan="off", timeout_keep_alive=3600
    )
    config.load()
    # Of this protocol, so that asyncio turns off the delay of small segments.
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.bind(("127.0.0.1", 0))
    listener.listen()
    print(f"http://127.0.0.1:{listener.getsockname()[1]}/mcp", flush=True)
    await uvicorn.Server(config).serve(sockets=[listener])


if __name__ == "__main__":
    asyncio.run(main())
