"""Tokens, with real servers: the roles that methods need, and a file that changes."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event
from typing import Any

import grpc
import httpx
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc
from sidecheck import BlockingClient
from sidecheck.v1 import registry_service_pb2 as registry_pb
from sidecheck.v1 import target_pb2
from sidecheck.v1 import validation_service_pb2 as validation_pb
from sidecheck.wire.rpcs import RPCS, Rpc, find_rpc
from support.token_server import COMMON, TokenServer, token_server
from support.tokens import TOKENS, bearer, entry, tokens_file
from support.wire import error_info_of


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TokenServer]:
    """Return a server with tools of two servers, for all tests here."""
    server = token_server(tmp_path_factory.mktemp("tokens"))
    yield server
    server.close()


@pytest.mark.parametrize("rpc", RPCS, ids=lambda rpc: rpc.name)
def test_every_method_needs_a_token_with_its_role(served: TokenServer, rpc: Rpc) -> None:
    """Checked before the request is read: none is sent, and the call ends all the same."""
    needed = "register" if rpc.name in {"RegisterTools", "DeleteTools"} else "validate"
    lacking = {"register": "validator", "validate": "registrar"}[needed]
    outcomes = [
        (None, grpc.StatusCode.UNAUTHENTICATED, "UNAUTHENTICATED"),
        ("stranger", grpc.StatusCode.UNAUTHENTICATED, "UNAUTHENTICATED"),
        (lacking, grpc.StatusCode.PERMISSION_DENIED, "PERMISSION_DENIED"),
    ]
    # Who registers has to know the limits.
    needs_role = rpc.name != "GetServerInfo"

    for token, code, reason in outcomes if needs_role else outcomes[:2]:
        with never_sent() as requests, pytest.raises(grpc.RpcError) as raised:
            served.send(rpc, requests, token)
        info = error_info_of(raised.value)
        assert isinstance(raised.value, grpc.Call)
        assert (code, reason) == (raised.value.code(), info.reason)
        if token == lacking:
            method = f"{rpc.service}/{rpc.name}"
            assert {"role": needed, "method": method} == dict(info.metadata)


def test_a_client_with_the_role_to_register_can_register(served: TokenServer) -> None:
    """Its calls need no other role."""
    with BlockingClient(served.running.address, token=TOKENS["registrar"]) as client:
        registration = client.register("another", [COMMON])
        deletion = client.delete_all("another")

    assert (["created"], ("common",)) == (
        [outcome.action for outcome in registration.outcomes],
        deletion.deleted,
    )


@contextmanager
def never_sent() -> Iterator[Iterator[Any]]:
    """Yield an iterator that yields nothing, and ends with the block."""
    ended = Event()

    def requests() -> Iterator[Any]:
        ended.wait()
        yield from ()

    try:
        yield requests()
    finally:
        ended.set()


def test_health_needs_no_token_and_reflection_any(served: TokenServer) -> None:
    """Probes have none; the names of methods are for those who may call something."""
    health: Any = health_pb2_grpc.HealthStub(served.channel)
    reflection: Any = reflection_pb2_grpc.ServerReflectionStub(served.channel)
    request = reflection_pb2.ServerReflectionRequest(list_services="")

    assert (
        health_pb2.HealthCheckResponse.SERVING
        == health.Check(health_pb2.HealthCheckRequest()).status
    )
    [listed] = reflection.ServerReflectionInfo(iter([request]), metadata=bearer("registrar"))
    assert listed.HasField("list_services_response")
    with pytest.raises(grpc.RpcError) as raised:
        list(reflection.ServerReflectionInfo(iter([request])))
    assert "UNAUTHENTICATED" == error_info_of(raised.value).reason


def test_denied_calls_are_counted(served: TokenServer) -> None:
    """They are counted by status and reason, as other errors."""
    request = registry_pb.DeleteToolsRequest(server="mine", names=["none"])
    for token in (None, "stranger", "validator"):
        served.outcome(request, token)
    address = next(e["address"] for e in served.running.events if e["event"] == "admin.ready")
    lines = httpx.get(f"{address}/metrics").text.splitlines()

    for reason, code in (
        ("UNAUTHENTICATED", "Unauthenticated"),
        ("PERMISSION_DENIED", "PermissionDenied"),
    ):
        for name, label in (
            ("grpc_server_handled_total", f'grpc_code="{code}"'),
            ("sidecheck_errors_total", f'reason="{reason}"'),
        ):
            [line] = [
                line
                for line in lines
                if line.startswith(name) and label in line and '"DeleteTools"' in line
            ]
            assert float(line.rpartition(" ")[2]) >= 1


def test_the_unix_socket_needs_tokens_too(served: TokenServer) -> None:
    """Its file mode alone does not tell callers apart."""
    method: Any = find_rpc(registry_pb.ListToolsRequest)
    with grpc.insecure_channel(served.running.unix_address) as channel:
        call: Any = channel.unary_unary(method.path, method.request.SerializeToString)
        with pytest.raises(grpc.RpcError) as raised:
            call(registry_pb.ListToolsRequest(), timeout=300)

    assert "UNAUTHENTICATED" == error_info_of(raised.value).reason


@pytest.mark.grpc_server
def test_the_file_is_read_again_while_calls_run(tmp_path: Path) -> None:
    """An open stream goes on; calls with the old token fail once it is gone, and not before.

    The log has the names of tokens, and no token, right or wrong.
    """
    served = TokenServer(tmp_path)
    request = registry_pb.ListToolsRequest()
    rpc = find_rpc(validation_pb.ValidateStreamRequest)
    stream: Any = served.channel.stream_stream(
        rpc.path, rpc.request.SerializeToString, rpc.response.FromString
    )
    inline = target_pb2.Target(inline_schema=target_pb2.InlineSchema(json=b"{}"))
    validate = validation_pb.ValidateItem(
        target=inline, subject=target_pb2.Subject(arguments=b"{}")
    )
    item = validation_pb.ValidateStreamRequest(item=validation_pb.StreamItem(id="1", item=validate))
    reloaded = served.running.wait_for

    try:
        # Both are valid for as long as the operator likes.
        served.file.write_text(tokens_file() + "\n" + entry("stranger", "validate"))
        assert 6 == reloaded("tokens.reloaded")["tokens"]
        assert ["OK", "OK"] == [served.outcome(request, t) for t in ("validator", "stranger")]

        def items() -> Iterator[Any]:
            yield item
            served.file.write_text(entry("stranger", "validate"))
            assert 1 == reloaded("tokens.reloaded")["tokens"]
            assert "UNAUTHENTICATED" == served.outcome(request, "validator")
            yield item

        responses = list(stream(items(), metadata=bearer("validator"), timeout=300))
        assert [True, True] == [response.outcome.verdict.valid for response in responses]

        served.file.write_text("[[tokens]]\nname = ")
        failed = reloaded("tokens.reload_failed")
        assert (1, "is not TOML (at end of document)") == (failed["tokens"], failed["detail"])
        assert "OK" == served.outcome(request, "stranger")

        denied = registry_pb.DeleteToolsRequest(server="s", all=True)
        assert "PERMISSION_DENIED" == served.outcome(denied, "stranger")
        rejected = reloaded("rpc.rejected")
        while rejected["method"] != "DeleteTools":
            rejected = reloaded("rpc.rejected")
        assert ("PERMISSION_DENIED", "stranger") == (rejected["reason"], rejected["token"])
        log = served.running.log_text()
        assert [] == [token for token in TOKENS.values() if token in log]
    finally:
        served.close()
