"""Envoy with Sidecheck before a scripted MCP server, and its clients."""

import itertools
import json
import secrets
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
from support.http_mcp_server import SESSION, HttpMcpServer
from support.running import RunningServer
from support.running_envoy import Configuration, RunningEnvoy, running_envoy

__all__ = ["ENFORCE", "META", "Gateway", "ext_proc_settings", "running_gateway"]

_SECONDS = 180
_INITIALIZE = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "client", "version": "1"},
}
ENFORCE = {"arguments": "enforce", "results": "enforce", "messages": "enforce", "tools": "enforce"}

#: The `_meta` of params in 2026-07-28.
META = {
    "_meta": {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "client", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    }
}


def ext_proc_settings(**policies: str) -> dict[str, str]:
    """Return the environment of a Sidecheck for Envoy, with *policies*."""
    names = {f"SIDECHECK_GATEWAY_POLICIES__{name.upper()}": policies[name] for name in policies}
    return {"SIDECHECK_GATEWAYS": "ext_proc", **names}


class Gateway:
    """An Envoy before *server*, and a client in a session with the server."""

    def __init__(self, envoy: RunningEnvoy, server: HttpMcpServer, namespace: str) -> None:
        self.envoy = envoy
        self.server = server
        self.namespace = namespace
        self.ids = itertools.count(100)
        self.client = httpx.Client(
            timeout=_SECONDS,
            headers={"accept": "application/json, text/event-stream"},
            trust_env=False,
        )

    def url(self, path: str = "/mcp") -> str:
        """Return the URL of *path*."""
        return self.envoy.url.removesuffix("/mcp") + path

    def post(
        self, method: str, params: Any = None, path: str = "/mcp", **options: Any
    ) -> httpx.Response:
        """Send a request with a unique id."""
        message = {"jsonrpc": "2.0", "id": next(self.ids), "method": method, "params": params or {}}
        return self.client.post(self.url(path), json=message, **options)

    def call(self, path: str = "/mcp", **arguments: Any) -> httpx.Response:
        """Call the tool of the server."""
        return self.post("tools/call", {"name": "echo", "arguments": arguments}, path)

    def notify(self, method: str, params: Any = None, path: str = "/mcp") -> httpx.Response:
        """Send a notification."""
        message = {"jsonrpc": "2.0", "method": method, "params": params or {}}
        return self.client.post(self.url(path), json=message)

    def begin(self, path: str = "/mcp") -> None:
        """Begin a session, and list the tools."""
        response = self.client.post(
            self.url(path),
            json={"jsonrpc": "2.0", "id": next(self.ids), "method": "initialize"}
            | {"params": _INITIALIZE},
        )
        assert SESSION == response.headers["mcp-session-id"], response.text
        self.client.headers["mcp-session-id"] = SESSION
        self.client.headers["mcp-protocol-version"] = "2025-11-25"
        assert 202 == self.notify("notifications/initialized", path=path).status_code
        assert 200 == self.post("tools/list", path=path).status_code

    def received(self) -> list[Any]:
        """Return the messages that the server received since the last call."""
        messages = [json.loads(body) for method, *_, body in self.server.requests if body]
        self.server.requests.clear()
        return messages


@contextmanager
def running_gateway(
    folder: Path,
    server: HttpMcpServer,
    sidecheck: str | RunningServer,
    metadata: Mapping[str, str] = ENFORCE,
    change: Callable[[Configuration], None] = lambda _: None,
) -> Iterator[Gateway]:
    """Run an Envoy before *server*, with a unique namespace."""
    namespace = secrets.token_hex(8)

    def change_all(configuration: Configuration) -> None:
        configuration.set_metadata({"server": namespace, **metadata})
        change(configuration)

    address = sidecheck if isinstance(sidecheck, str) else sidecheck.address
    with running_envoy(folder, server.url, address, change_all) as envoy:
        gateway = Gateway(envoy, server, namespace)
        try:
            yield gateway
        finally:
            gateway.client.close()
            server.tools = server.tools[:1]
            server.replace = lambda _: None
            server.parts = None
            server.requests.clear()
