"""Tokens of gateways, which need both roles and the server of their route."""

from collections.abc import Iterator
from typing import Any

import grpc
import pytest
from sidecheck_server.gateways.generated.ext_mcp_pb2 import McpRequest, McpRequestResult
from sidecheck_server.gateways.generated.external_processor_pb2 import (
    HeaderMap,
    HeaderValue,
    HttpHeaders,
    ProcessingRequest,
    ProcessingResponse,
)
from support.token_server import TokenServer, token_server
from support.tokens import bearer
from support.wire import error_info_of


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TokenServer]:
    """Return a server with tools of two servers, for all tests here."""
    server = token_server(tmp_path_factory.mktemp("tokens"))
    yield server
    server.close()


def test_a_gateway_needs_both_roles_and_its_servers(served: TokenServer) -> None:
    """The route names the server; several servers must all be the token's."""
    method: Any = served.channel.unary_unary(
        "/agentgateway.dev.ext_mcp.ExtMcp/CheckRequest",
        McpRequest.SerializeToString,
        McpRequestResult.FromString,
    )

    def reason(token: str | None, *servers: str) -> str:
        request = McpRequest(service_names=servers, method="tools/list")
        try:
            method(request, metadata=bearer(token), timeout=300)
        except grpc.RpcError as error:
            return str(error_info_of(error).reason)
        return "OK"

    assert {
        (None, "mine"): "UNAUTHENTICATED",
        ("validator", "mine"): "PERMISSION_DENIED",
        ("registrar", "mine"): "PERMISSION_DENIED",
        ("both", "mine"): "OK",
        ("both", "theirs"): "OK",
        ("limited", "mine"): "OK",
        ("limited", "theirs"): "PERMISSION_DENIED",
        ("limited", "mine", "theirs"): "PERMISSION_DENIED",
    } == {
        key: reason(*key)
        for key in (
            (None, "mine"),
            ("validator", "mine"),
            ("registrar", "mine"),
            ("both", "mine"),
            ("both", "theirs"),
            ("limited", "mine"),
            ("limited", "theirs"),
            ("limited", "mine", "theirs"),
        )
    }


@pytest.mark.parametrize(
    ("token", "server", "expected"),
    [
        (None, "mine", "UNAUTHENTICATED"),
        ("validator", "mine", "PERMISSION_DENIED"),
        ("limited", "theirs", "PERMISSION_DENIED"),
        ("limited", "mine", "OK"),
        ("both", "theirs", "OK"),
    ],
)
def test_envoy_needs_both_roles_and_its_servers(
    served: TokenServer, token: str | None, server: str, expected: str
) -> None:
    """The metadata of the stream name the server of the route, beside the token."""
    method: Any = served.channel.stream_stream(
        "/envoy.service.ext_proc.v3.ExternalProcessor/Process",
        ProcessingRequest.SerializeToString,
        ProcessingResponse.FromString,
    )
    headers = HeaderMap(headers=[HeaderValue(key=":method", raw_value=b"GET")])
    request = ProcessingRequest(request_headers=HttpHeaders(headers=headers))
    metadata = (("sidecheck-server", server), *bearer(token))
    try:
        responses = list(method(iter([request]), metadata=metadata, timeout=300))
        outcome = "OK" if len(responses) == 1 else "no response"
    except grpc.RpcError as error:
        outcome = str(error_info_of(error).reason)

    assert expected == outcome
