"""A running `sidecheck proxy --upstream`, and a client of it."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import httpx
from support.finding_lines import codes
from support.http_mcp_server import SESSION, HttpMcpServer

__all__ = [
    "ACCEPT",
    "CALL_HEADERS",
    "INITIALIZE",
    "META",
    "SECONDS",
    "HttpProxied",
    "call",
    "codes",
    "post",
    "proxied",
]

SECONDS = 300
ACCEPT = {"accept": "application/json, text/event-stream"}
INITIALIZE = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "client", "version": "1"},
}
META = {
    "_meta": {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "client", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    }
}


_VERSION = {"mcp-protocol-version": "2026-07-28"}
CALL_HEADERS = {**_VERSION, "mcp-method": "tools/call", "mcp-name": "echo"}


class HttpProxied:
    """A running `sidecheck proxy --upstream`, and a client of it."""

    def __init__(self, process: "subprocess.Popen[str]", url: str) -> None:
        self.process = process
        self.url = url
        self.client = httpx.Client(timeout=SECONDS, headers=ACCEPT, trust_env=False)

    def post(
        self, method: str, params: Any, id_: int = 2, headers: dict[str, str] | None = None
    ) -> httpx.Response:
        """Send a request."""
        message = {"jsonrpc": "2.0", "id": id_, "method": method, "params": params}
        return self.client.post(self.url, json=message, headers=headers)

    def initialize(self) -> None:
        """Begin a session."""
        response = self.post("initialize", INITIALIZE, 1)
        assert SESSION == response.headers["mcp-session-id"]
        self.client.headers["mcp-session-id"] = SESSION
        self.client.headers["mcp-protocol-version"] = "2025-11-25"
        initialized = {"jsonrpc": "2.0", "method": "notifications/initialized"}
        assert 202 == self.client.post(self.url, json=initialized).status_code

    def call(self, id_: int = 2, **arguments: Any) -> httpx.Response:
        """Call the tool of the server."""
        return self.post("tools/call", {"name": "echo", "arguments": arguments}, id_)

    def end(self) -> str:
        """End the proxy; return its findings and summary."""
        self.client.close()
        self.process.terminate()
        _, err = self.process.communicate(timeout=SECONDS)
        return err


@contextmanager
def proxied(
    server: HttpMcpServer | None, *options: str, url: str = "", env: Mapping[str, str] | None = None
) -> Iterator[HttpProxied]:
    """Run a proxy before *server*, or before the server at *url*."""
    url = url or (server.url if server else "")
    command = [sys.executable, "-m", "sidecheck_server", "proxy", "--listen", "127.0.0.1:0"]
    process = subprocess.Popen(
        [*command, "--upstream", url, *options],
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **(env or {})},
    )
    assert process.stderr is not None
    line = process.stderr.readline()
    match = re.search(r"https?://[^ ]*:\d+", line)
    assert match, line + process.stderr.read()
    running = HttpProxied(process, f"{match[0]}/mcp")
    try:
        yield running
    finally:
        running.client.close()
        process.kill()
        process.communicate()


def call(id_: int = 2, name: str = "echo", **arguments: Any) -> dict[str, Any]:
    """Return a call of 2026-07-28."""
    params = {"name": name, "arguments": arguments, **META}
    return {"jsonrpc": "2.0", "id": id_, "method": "tools/call", "params": params}


def post(proxy: HttpProxied, message: Any = None, **options: Any) -> httpx.Response:
    """Send *message*, by default a call."""
    content = json.dumps(call() if message is None else message).encode()
    headers = [
        *CALL_HEADERS.items(),
        ("content-type", "application/json"),
        *options.pop("headers", ()),
    ]
    return proxy.client.post(options.pop("url", proxy.url), content=content, headers=headers)
