"""Scripted MCP server over Streamable HTTP in a thread; arguments select its behavior."""

import asyncio
import json
import queue
import socket
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeAlias

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

__all__ = ["Answer", "HttpMcpServer", "http_mcp_server"]

TOOL = {
    "name": "echo",
    "description": "Returns its arguments, or does what `do` says",
    "inputSchema": {
        "type": "object",
        "properties": {"do": {"type": "string"}, "region": {"type": "string", "x-mcp-header": "R"}},
    },
    "outputSchema": {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]},
}
SESSION = "session-1"


#: Returns the response to a request with a body, None to leave it to the server.
Answer: TypeAlias = Callable[[Request, bytes], Awaitable[Response | None]]


class HttpMcpServer:
    """The server, and its received requests."""

    def __init__(self) -> None:
        self.url = ""
        #: Whether the response to ``tools/list`` breaks off.
        self.breaks_listings = False
        #: The result of ``tools/list``.
        self.tools: list[Any] = [TOOL]
        #: Returns the response to a request in place of the server's own, or None.
        self.replace: Callable[[Any], Response | None] = lambda _message: None
        #: The parts of the stream of a GET, until None; without it, the server has its own.
        self.parts: queue.SimpleQueue[bytes | None] | None = None
        #: Returns the response to a request and its body, or None for the server's own.
        self.answer: Answer | None = None
        #: Method, path, headers and body of each request.
        self.requests: list[tuple[str, str, dict[str, str], bytes]] = []
        #: Raw headers of each request.
        self.raw_headers: list[list[tuple[bytes, bytes]]] = []
        #: Raw path and query of each request.
        self.targets: list[str] = []
        self.app = Starlette(
            routes=[
                Route("/mcp", self._mcp, methods=["GET", "POST", "DELETE"]),
                Route("/.well-known/{name}", self._other),
                Route("/{path:path}", self._other, methods=["GET", "POST", "OPTIONS"]),
            ]
        )

    def messages(self) -> list[Any]:
        """Return the messages of the POST requests, without those of the proxy itself."""
        read = [json.loads(body) for method, _, _, body in self.requests if method == "POST"]
        return [message for message in read if not str(message.get("id")).startswith("sidecheck-")]

    async def _other(self, request: Request) -> Response:
        body = await request.body()
        self._note(request, body)
        if self.answer is not None and (answer := await self.answer(request, body)) is not None:
            return answer
        return PlainTextResponse(request.path_params.get("name", "elsewhere"))

    async def _mcp(self, request: Request) -> Response:
        body = await request.body()
        self._note(request, body)
        if self.answer is not None and (answer := await self.answer(request, body)) is not None:
            return answer
        if request.method == "DELETE":
            return Response(status_code=200)
        if request.method == "GET" and self.parts is not None:
            return StreamingResponse(_queued(self.parts), media_type="text/event-stream")
        if request.method == "GET":
            return StreamingResponse(self._listen(), media_type="text/event-stream")
        message = json.loads(body)
        if "method" not in message or "id" not in message:
            return Response(status_code=202)
        return self.replace(message) or self._respond(message)

    def _note(self, request: Request, body: bytes) -> None:
        noted = (request.method, request.url.path, dict(request.headers), body)
        self.requests.append(noted)
        self.raw_headers.append(request.headers.raw)
        path, query = request.scope["raw_path"].decode(), request.scope["query_string"].decode()
        self.targets.append(f"{path}?{query}" if query else path)

    async def _listen(self) -> AsyncIterator[bytes]:
        yield b": hello\n\n"
        yield b'id: 7\ndata: {"jsonrpc":"2.0","method":"notifications/tools/list_changed"}\n\n'
        yield b'data: {"jsonrpc":"2.0","method":"notifications/message","params":{"level":"x"}}\n\n'

    def _respond(self, message: Any) -> Response:
        match message["method"]:
            case "initialize":
                result: Any = {
                    "protocolVersion": "2025-11-25",
                    "capabilities": {"tools": {"listChanged": True}, "logging": {}},
                    "serverInfo": {"name": "scripted", "version": "1"},
                }
                return _json(message, result, {"mcp-session-id": SESSION})
            case "tools/list" if self.breaks_listings:
                return StreamingResponse(_cut(), media_type="text/event-stream")
            case "tools/list":
                return _json(message, {"tools": self.tools})
        arguments = message["params"].get("arguments", {})
        content = {"n": "x"} if arguments.get("do") == "break" else {"n": 1}
        result = {
            "content": [{"type": "text", "text": json.dumps(content)}],
            "structuredContent": content,
            # Of 2026-07-28; before, a property like any other.
            "resultType": "complete",
        }
        match arguments.get("do"):
            case "stream":
                return StreamingResponse(_events(message, result), media_type="text/event-stream")
            case "refuse":
                return Response(status_code=401, headers={"www-authenticate": "Bearer"})
            case "misname":
                return _json({"id": "another"}, result)
            case "large":
                return _json(message, {**result, "content": [{"type": "text", "text": "x" * 2000}]})
            case "cut":
                return StreamingResponse(_cut(), media_type="text/event-stream")
        return _json(message, result)


def _json(message: Any, result: Any, headers: dict[str, str] | None = None) -> Response:
    response = {"jsonrpc": "2.0", "id": message["id"], "result": result}
    return Response(json.dumps(response), headers=headers, media_type="application/json")


async def _events(message: Any, result: Any) -> AsyncIterator[bytes]:
    # The chunks split lines and line breaks.
    progress = {"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info"}}
    progress["params"]["data"] = "é"  # type: ignore[index]
    text = f"event: message\r\nid: 1\r\ndata: {json.dumps(progress, ensure_ascii=False)}\r\n\r\n"
    response = {"jsonrpc": "2.0", "id": message["id"], "result": result}
    text += f"id: 2\ndata: {json.dumps(response)}\n\n"
    data = text.encode()
    for start in range(0, len(data), 7):
        yield data[start : start + 7]
        await asyncio.sleep(0)


async def _queued(parts: "queue.SimpleQueue[bytes | None]") -> AsyncIterator[bytes]:
    while (part := await asyncio.to_thread(parts.get)) is not None:
        yield part


async def _cut() -> AsyncIterator[bytes]:
    yield b'data: {"jsonrpc":'
    raise ConnectionResetError


@contextmanager
def http_mcp_server() -> Iterator[HttpMcpServer]:
    """Serve on a free port."""
    served = HttpMcpServer()
    config = uvicorn.Config(served.app, port=0, log_config=None, lifespan="off")
    config.load()
    listener = config.bind_socket()
    # The body of a response would wait for acknowledgments, which clients delay.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=lambda: asyncio.run(server.serve(sockets=[listener])))
    thread.start()
    served.url = f"http://127.0.0.1:{listener.getsockname()[1]}/mcp"
    try:
        yield served
    finally:
        server.should_exit = True
        thread.join(timeout=120)
        listener.close()
