"""Simulation of agentgateway as the caller of ExtMcp: one processor before its servers.

After `crates/agentgateway/src/mcp/guardrails` of its repository, at 75b4e6ce: what it sends,
what it makes of each decision, and the codes of its JSON-RPC errors.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import grpc
from sidecheck_server.gateways.generated.ext_mcp_pb2 import (
    AuthorizationError,
    McpHeader,
    McpRequest,
    McpRequestResult,
    McpResponse,
    McpResponseResult,
)

__all__ = ["Agentgateway", "Upstream"]

_CODES = {
    AuthorizationError.UNKNOWN: -32603,
    AuthorizationError.PERMISSION_DENIED: -32001,
    AuthorizationError.RESOURCE_EXHAUSTED: -32003,
    AuthorizationError.INVALID: -32600,
}

#: Returns the result to a method and its params.
Upstream = Callable[[str, Any], Any]


@dataclass
class Agentgateway:
    """The gateway before *servers*, with a channel to the processor.

    *metadata* has the constant values of its expressions. `handed_back` has the expressions
    that copy metadata of the request to the response, as the processor's documentation requires.
    """

    channel: grpc.aio.Channel
    servers: Mapping[str, Upstream]
    metadata: Mapping[str, str] = field(default_factory=dict)
    handed_back: Mapping[str, str] = field(
        default_factory=lambda: {
            "tool": "sidecheck_tool",
            "protocol_version": "sidecheck_protocol_version",
        }
    )
    fails_open: bool = False
    #: The requests that the servers received.
    sent: list[tuple[str, str, Any]] = field(default_factory=list)
    #: The metadata of the last response to a request.
    returned: dict[str, Any] = field(default_factory=dict)

    async def request(self, method: str, params: Any = None, version: str = "") -> Any:
        """Return the response of a client as an object with ``result`` or ``error``."""
        server, params = self._resolve(method, params)
        names = [server] if server else list(self.servers)
        request = McpRequest(
            service_names=names,
            method=method,
            mcp_request=None if params is None else json.dumps(params).encode(),
            headers=[McpHeader(key="mcp-protocol-version", value=version.encode())],
        )
        request.metadata_context.update(self.metadata)
        decided = await self._call("CheckRequest", request, McpRequestResult)
        if isinstance(decided, dict):
            return decided
        if decided is None:
            return await self._respond(method, names, self._send(method, names, params))
        self.returned = dict(decided.metadata)
        if decided.WhichOneof("result") == "error":
            return _error(decided.error)
        if decided.WhichOneof("result") == "mutated":
            params = json.loads(decided.mutated)
        return await self._respond(method, names, self._send(method, names, params))

    def _resolve(self, method: str, params: Any) -> tuple[str, Any]:
        """Return the server of a request, and params with the server's name of the tool."""
        if method.endswith("/list") or method == "initialize":
            return "", params
        if len(self.servers) == 1:
            return next(iter(self.servers)), params
        server, _, name = params["name"].partition("_")
        return server, {**params, "name": name}

    def _send(self, method: str, names: list[str], params: Any) -> Any:
        results = {}
        for name in names:
            self.sent.append((name, method, params))
            results[name] = self.servers[name](method, params)
        if len(results) == 1:
            return results[names[0]]
        tools = [
            {**tool, "name": f"{name}_{tool['name']}"}
            for name, result in results.items()
            for tool in result["tools"]
        ]
        return {"tools": tools}

    async def _respond(self, method: str, names: list[str], result: Any) -> Any:
        response = McpResponse(
            service_names=names, method=method, mcp_response=json.dumps(result).encode()
        )
        known = {key: self.returned.get(of) for key, of in self.handed_back.items()}
        response.metadata_context.update(
            {**self.metadata, **{key: value for key, value in known.items() if value is not None}}
        )
        decided = await self._call("CheckResponse", response, McpResponseResult)
        if isinstance(decided, dict):
            return decided
        if decided is None:
            return {"result": result}
        match decided.WhichOneof("result"):
            case "error":
                return _error(decided.error)
            case "mutated":
                return {"result": json.loads(decided.mutated)}
        return {"result": result}

    async def _call(self, name: str, message: Any, kind: Any) -> Any:
        call: Any = self.channel.unary_unary(
            f"/agentgateway.dev.ext_mcp.ExtMcp/{name}",
            request_serializer=type(message).SerializeToString,
            response_deserializer=kind.FromString,
        )
        try:
            return await call(message, timeout=60)
        except grpc.aio.AioRpcError as error:
            if self.fails_open:
                return None
            return {"error": {"code": -32603, "message": error.details()}}


def _error(error: AuthorizationError) -> Any:
    value: dict[str, Any] = {"code": _CODES[error.code], "message": error.reason}
    if error.HasField("mcp_error"):
        value["data"] = json.loads(error.mcp_error)
    return {"error": value}
