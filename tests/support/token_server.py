"""A server with a file of tokens, and calls with them."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import grpc
from sidecheck.v1 import registry_service_pb2 as registry_pb
from sidecheck.v1 import target_pb2
from sidecheck.wire.rpcs import Rpc, find_rpc
from support.running import RunningServer
from support.tokens import bearer, tokens_file
from support.wire import error_info_of, info_of

__all__ = ["COMMON", "FOREIGN", "OWN", "TokenServer", "registration", "token_server"]

OWN, FOREIGN, COMMON = (
    json.dumps({"name": name, "inputSchema": {"type": "object", "title": name}}).encode()
    for name in ("own", "foreign", "common")
)


class TokenServer:
    """A server with a file of tokens."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / "tokens.toml"
        self.file.write_text(tokens_file())
        self.running = RunningServer(
            folder,
            *("--tokens-file", str(self.file)),
            SIDECHECK_GATEWAYS="ext_mcp,ext_proc",
            SIDECHECK_ADMIN_LISTEN="127.0.0.1:0",
        )
        self.channel = grpc.insecure_channel(self.running.address)

    def close(self) -> None:
        """End the server."""
        self.channel.close()
        self.running.close()

    def call(self, request: Any, token: str | None) -> Any:
        """Return the response to *request*."""
        rpc = find_rpc(type(request))
        return self.send(rpc, iter([request]), token)

    def send(self, rpc: Rpc, requests: Iterator[Any], token: str | None) -> Any:
        """Return the response, or the responses of a stream."""
        kind = self.channel.stream_stream if rpc.streaming else self.channel.stream_unary
        method: Any = kind(rpc.path, rpc.request.SerializeToString, rpc.response.FromString)
        answer = method(requests, metadata=bearer(token), timeout=300)
        if rpc.name == "WatchTools":  # an endless stream
            first = next(answer)
            answer.cancel()
            return [first]
        return list(answer) if rpc.streaming else answer

    def outcome(self, request: Any, token: str | None) -> str:
        """Return "OK", or the reason of the call's error or of the first error in it."""
        try:
            response = self.call(request, token)
        except grpc.RpcError as error:
            return str(error_info_of(error).reason)
        items = response if isinstance(response, list) else [response]
        outcomes = [
            outcome
            for item in items
            for field in ("outcomes", "outcome", "conversions")
            for outcome in _listed(getattr(item, field, ()))
        ]
        # The outcome of a registration has violations in place of an error.
        errors = [
            outcome.error
            for outcome in outcomes
            if "error" in outcome.DESCRIPTOR.fields_by_name and outcome.HasField("error")
        ]
        return str(info_of(errors[0]).reason) if errors else "OK"


def _listed(value: Any) -> list[Any]:
    return list(value) if hasattr(value, "__len__") else [value]


def registration(server: str, *tools: bytes, **options: Any) -> registry_pb.RegisterToolsRequest:
    """Return the request to register *tools*, JSON texts, as those of *server*."""
    inline = [target_pb2.InlineTool(json=tool) for tool in tools]
    return registry_pb.RegisterToolsRequest(server=server, tools=inline, **options)


def token_server(folder: Path) -> TokenServer:
    """Return a server with tools of two servers; the limited token has access to one."""
    served = TokenServer(folder)
    served.call(registration("theirs", FOREIGN, COMMON), "admin")
    served.call(registration("mine", OWN, COMMON), "admin")
    return served
