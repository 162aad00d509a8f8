"""Parsers of requests and responses in the official MCP SDKs, applied to given bytes."""

import base64
import json
import logging
import shutil
import subprocess
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

import h11
import httpx2
from attacks.raw_http import Received, Response
from mcp.client.streamable_http import RequestContext, StreamableHTTPTransport
from mcp.server.lowlevel import Server
from mcp.shared._httpx_utils import sse_within_origin
from mcp.shared.message import SessionMessage
from mcp_types import CallToolResult, JSONRPCRequest, ListToolsResult, TextContent, Tool
from starlette.applications import Starlette
from support.http_mcp_server import TOOL
from support.published_servers import NODE, install_node_packages
from support.shared_material import REPOSITORY

__all__ = ["PythonSdk", "TypeScriptSdk", "python_sdk", "typescript_sdk"]

_URL = "http://localhost/mcp"
_CALL = {"name": "echo", "arguments": {}}


class _Transport(StreamableHTTPTransport):
    """A client that does not wait for the rest of a stream in another."""

    async def _handle_reconnection(self, *_arguments: Any, **_options: Any) -> None:
        pass


class _Messages:
    """Takes what a transport reads in place of its stream."""

    def __init__(self) -> None:
        self.read: list[Any] = []

    async def send(self, message: Any) -> None:
        """Note *message*, unless it is an error of the transport itself."""
        if isinstance(message, SessionMessage):
            self.read.append(
                message.message.model_dump(by_alias=True, mode="json", exclude_unset=True)
            )


class PythonSdk:
    """The Python SDK."""

    def __init__(self, app: Starlette, calls: list[Any]) -> None:
        self._app = app
        self._calls = calls

    async def read_request(self, received: Received) -> list[Any]:
        """Return the calls that a server finds in a request."""
        self._calls.clear()
        connection = h11.Connection(h11.SERVER)
        connection.receive_data(received.head + received.body)
        request = connection.next_event()
        assert isinstance(request, h11.Request), request
        path, _, query = request.target.partition(b"?")
        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": request.method.decode(),
            "path": unquote(path.decode("ascii", "replace")),
            "raw_path": path,
            "query_string": query,
            "root_path": "",
            "headers": [(name.lower(), value) for name, value in request.headers],
            "client": ("127.0.0.1", 1),
            "server": ("127.0.0.1", 1),
            "scheme": "http",
        }
        parts = iter([{"type": "http.request", "body": received.body, "more_body": False}])

        async def receive() -> Any:
            return next(parts, {"type": "http.disconnect"})

        async def send(_message: Any) -> None:
            pass

        await self._app(scope, receive, send)
        return [*self._calls]

    async def read_response(self, method: str, response: Response) -> list[Any]:
        """Return the messages that a client finds in the response to a call, or to a GET."""
        messages: Any = _Messages()

        def respond(_request: httpx2.Request) -> httpx2.Response:
            return httpx2.Response(
                response.status, headers=list(response.headers), content=response.body
            )

        async with httpx2.AsyncClient(transport=httpx2.MockTransport(respond)) as client:
            transport = _Transport(_URL)
            try:
                if method == "GET":
                    async with sse_within_origin(client, _URL) as events:
                        events.response.raise_for_status()
                        async for event in events:
                            await transport._handle_sse_event(event, messages)
                else:
                    call = JSONRPCRequest(jsonrpc="2.0", id=5, method="tools/call", params=_CALL)
                    await transport._handle_post_request(
                        RequestContext(client, None, SessionMessage(call), None, messages)
                    )
            except (httpx2.HTTPError, httpx2.StreamError, httpx2.InvalidURL, UnicodeError):
                pass
        return messages.read  # type: ignore[no-any-return]


@asynccontextmanager
async def python_sdk() -> AsyncIterator[PythonSdk]:
    """Yield the SDK, with a server in this process."""
    calls: list[Any] = []

    async def list_tools(_context: Any, _params: Any) -> ListToolsResult:
        return ListToolsResult(tools=[Tool.model_validate(TOOL)])

    async def call_tool(_context: Any, params: Any) -> CallToolResult:
        calls.append({"params": {"name": params.name, "arguments": params.arguments}})
        return CallToolResult(content=[TextContent(type="text", text="")])

    server: Any = Server("echo", on_list_tools=list_tools, on_call_tool=call_tool)
    app = server.streamable_http_app(stateless_http=True, json_response=True, host="0.0.0.0")
    # It logs each message that it cannot read, with a traceback.
    logger = logging.getLogger("mcp")
    before = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        async with app.router.lifespan_context(app):
            yield PythonSdk(app, calls)
    finally:
        logger.setLevel(before)


@dataclass(frozen=True, slots=True)
class TypeScriptSdk:
    """The TypeScript SDK, in a process of Node."""

    process: "subprocess.Popen[str]"

    def read_requests(self, requests: Sequence[Received]) -> list[list[Any]]:
        """Return the messages that a server finds in each of *requests*."""
        return self._ask([{"request": _request_of(request)} for request in requests])

    def read_responses(self, responses: Sequence[tuple[str, Response]]) -> list[list[Any]]:
        """Return the messages that a client finds in each response to a method."""
        return self._ask(
            [
                {
                    "response": {
                        "method": method,
                        "status": response.status,
                        "headers": response.headers,
                        "body": base64.b64encode(response.body).decode(),
                    }
                }
                for method, response in responses
            ]
        )

    def _ask(self, exchanges: list[Any]) -> list[list[Any]]:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(exchanges) + "\n")
        self.process.stdin.flush()
        read: list[list[Any]] = json.loads(self.process.stdout.readline())
        return read


@contextmanager
def typescript_sdk() -> Iterator[TypeScriptSdk]:
    """Yield the SDK, which is installed if need be; without Node, the test is skipped."""
    install_node_packages()
    # Modules are looked for from the folder of a program upwards.
    program = NODE / "node_modules" / ".sidecheck-readers.mjs"
    shutil.copy(REPOSITORY / "tests" / "attacks" / "differential" / "readers.mjs", program)
    with subprocess.Popen(
        ["node", str(program)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            yield TypeScriptSdk(process)
        finally:
            process.kill()


def _request_of(received: Received) -> dict[str, Any]:
    lines = received.head.decode("latin-1").split("\r\n")
    method, target, _ = lines[0].split(" ")
    headers = [line.partition(":")[::2] for line in lines[1:] if line]
    return {
        "method": method,
        "target": target,
        "headers": [(name, value.strip()) for name, value in headers],
        "body": base64.b64encode(received.body).decode(),
    }
