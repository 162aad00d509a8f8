"""Tokens, with real servers: every method, the servers of a token, and a file that changes."""

import json
from collections.abc import Callable, Iterator
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
from sidecheck.v1 import conversion_service_pb2 as conversion_pb
from sidecheck.v1 import inference_service_pb2 as inference_pb
from sidecheck.v1 import protocol_service_pb2 as protocol_pb
from sidecheck.v1 import registry_service_pb2 as registry_pb
from sidecheck.v1 import target_pb2
from sidecheck.v1 import validation_service_pb2 as validation_pb
from sidecheck.v1.options_pb2 import ValidationOptions
from sidecheck.wire.rpcs import RPCS, Rpc, find_rpc
from sidecheck_server.gateways.generated.ext_mcp_pb2 import McpRequest, McpRequestResult
from sidecheck_server.gateways.generated.external_processor_pb2 import (
    HeaderMap,
    HeaderValue,
    HttpHeaders,
    ProcessingRequest,
    ProcessingResponse,
)
from support.running import RunningServer
from support.tokens import TOKENS, bearer, entry, tokens_file
from support.wire import error_info_of, info_of

ARGUMENTS = target_pb2.Subject(arguments=b"{}")
RESULT = b'{"content": []}'
OWN, FOREIGN, COMMON = (
    json.dumps({"name": name, "inputSchema": {"type": "object", "title": name}}).encode()
    for name in ("own", "foreign", "common")
)


class Served:
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
        if rpc.name == "WatchTools":  # which goes on
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
    inline = [target_pb2.InlineTool(json=tool) for tool in tools]
    return registry_pb.RegisterToolsRequest(server=server, tools=inline, **options)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server with tools of two servers, one of which is the limited token's."""
    served = Served(tmp_path_factory.mktemp("tokens"))
    served.call(registration("theirs", FOREIGN, COMMON), "admin")
    served.call(registration("mine", OWN, COMMON), "admin")
    yield served
    served.close()


@pytest.mark.parametrize("rpc", RPCS, ids=lambda rpc: rpc.name)
def test_every_method_needs_a_token_with_its_role(served: Served, rpc: Rpc) -> None:
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


def test_a_client_with_the_role_to_register_can_register(served: Served) -> None:
    """Nothing that it asks for needs another role."""
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


def test_health_needs_no_token_and_reflection_any(served: Served) -> None:
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


def by_name(server: str, name: str = "common") -> target_pb2.Target:
    return target_pb2.Target(registered_tool=target_pb2.RegisteredTool(server=server, name=name))


def _item(target: target_pb2.Target) -> validation_pb.ValidateItem:
    return validation_pb.ValidateItem(target=target, subject=ARGUMENTS)


def _result(target: target_pb2.Target) -> protocol_pb.ToolResult:
    return protocol_pb.ToolResult(json=RESULT, tool=target)


ALLOWED = by_name("mine")

#: Requests with a target, in each field that has one.
WITH_TARGET: dict[str, Callable[[target_pb2.Target], Any]] = {
    "validate": lambda target: validation_pb.ValidateRequest(target=target, subject=ARGUMENTS),
    "batch": lambda target: validation_pb.ValidateBatchRequest(
        target=target, items=[validation_pb.ValidateItem(subject=ARGUMENTS)]
    ),
    "item of a batch": lambda target: validation_pb.ValidateBatchRequest(
        target=ALLOWED, items=[_item(ALLOWED), _item(target)]
    ),
    "item of a stream": lambda target: validation_pb.ValidateStreamRequest(
        item=validation_pb.StreamItem(id="1", item=_item(target))
    ),
    "tool result": lambda target: protocol_pb.CheckToolResultRequest(tool_result=_result(target)),
    "tool result in a batch": lambda target: protocol_pb.CheckBatchRequest(
        items=[protocol_pb.CheckItem(tool_result=_result(target))]
    ),
    "normalize": lambda target: protocol_pb.NormalizeToolResultRequest(value=b"1", tool=target),
    "convert": lambda target: conversion_pb.ConvertToolsRequest(
        api=conversion_pb.MODEL_API_ANTHROPIC,
        tools=[conversion_pb.ToolToConvert(tool=target)],
    ),
    "convert a result": lambda target: conversion_pb.ConvertToolResultRequest(
        api=conversion_pb.MODEL_API_ANTHROPIC, call_id="1", result=_result(target)
    ),
    "adapt": lambda target: inference_pb.AdaptToolRequest(
        tool=target, protocol_version="2025-06-18"
    ),
}


@pytest.mark.parametrize("request_for", WITH_TARGET.values(), ids=WITH_TARGET)
def test_targets_are_limited_to_the_servers_of_a_token(served: Served, request_for: Any) -> None:
    """By name and by digest, also after somebody else has used the same target."""
    [*_, foreign] = served.call(registration("theirs", FOREIGN), "admin").outcomes
    [own] = served.call(registration("mine", OWN), "admin").outcomes
    digests = {
        name: target_pb2.Target(definition_digest=outcome.definition_digest)
        for name, outcome in (("own", own), ("foreign", foreign))
    }

    for token, denied, unknown in (
        ("admin", "OK", "OK"),
        ("limited", "PERMISSION_DENIED", "UNKNOWN_DEFINITION"),
        ("admin", "OK", "OK"),
    ):
        assert {
            "own": "OK",
            "own digest": "OK",
            "foreign": denied,
            "foreign digest": unknown,
            "absent": "UNKNOWN_TOOL" if token == "admin" else denied,
        } == {
            "own": served.outcome(request_for(ALLOWED), token),
            "own digest": served.outcome(request_for(digests["own"]), token),
            "foreign": served.outcome(request_for(by_name("theirs")), token),
            "foreign digest": served.outcome(request_for(digests["foreign"]), token),
            "absent": served.outcome(request_for(by_name("nobody's")), token),
        }


def test_the_defaults_of_a_stream_are_limited(served: Served) -> None:
    """Each item without a target of its own has the error, and others are not affected."""
    defaults = validation_pb.StreamDefaults(target=by_name("theirs"), options=ValidationOptions())
    requests = [
        validation_pb.ValidateStreamRequest(defaults=defaults),
        *(
            validation_pb.ValidateStreamRequest(item=validation_pb.StreamItem(id=id_, item=item))
            for id_, item in (
                ("1", validation_pb.ValidateItem(subject=ARGUMENTS)),
                ("2", _item(ALLOWED)),
            )
        ),
    ]
    rpc = find_rpc(validation_pb.ValidateStreamRequest)
    first, second = served.send(rpc, iter(requests), "limited")

    assert "PERMISSION_DENIED" == info_of(first.outcome.error).reason
    assert {"server": "theirs"} == dict(info_of(first.outcome.error).metadata)
    assert second.outcome.verdict.valid


WATCHED = b'{"name": "watched", "inputSchema": {"type": "object"}}'

#: Requests about a server, or None for all, that are not about a target.
ABOUT_SERVER: dict[str, Callable[[str], Any]] = {
    "get": lambda server: registry_pb.GetToolRequest(server=server, name="common"),
    "list": lambda server: registry_pb.ListToolsRequest(server=server),
    "convert": lambda server: conversion_pb.ConvertToolsRequest(
        api=conversion_pb.MODEL_API_ANTHROPIC, servers={"mine": None, server: None}
    ),
    "register": lambda server: registration(server, COMMON),
    "try to register": lambda server: registration(server, COMMON, validate_only=True),
    "delete": lambda server: registry_pb.DeleteToolsRequest(server=server, names=["none"]),
    "watch": lambda server: registry_pb.WatchToolsRequest(servers=["mine", server]),
    "compare": lambda server: registry_pb.CompareToolsRequest(
        old=registry_pb.ToolSet(server="mine"), new=registry_pb.ToolSet(server=server)
    ),
}


@pytest.mark.parametrize("request_for", ABOUT_SERVER.values(), ids=ABOUT_SERVER)
def test_servers_are_limited_to_those_of_a_token(served: Served, request_for: Any) -> None:
    """For reads and writes."""
    assert {"mine": "OK", "theirs": "PERMISSION_DENIED", "nobody's": "PERMISSION_DENIED"} == {
        server: served.outcome(request_for(server), "limited")
        for server in ("mine", "theirs", "nobody's")
    }
    assert "OK" == served.outcome(request_for("theirs"), "admin")


def test_a_limited_watcher_receives_changes_of_its_servers(served: Served) -> None:
    """Without naming them; checkpoints are of all."""
    rpc = find_rpc(registry_pb.WatchToolsRequest)
    method: Any = served.channel.stream_stream(
        rpc.path, rpc.request.SerializeToString, rpc.response.FromString
    )
    watch = method(iter([registry_pb.WatchToolsRequest()]), metadata=bearer("limited"), timeout=300)
    begin = next(watch).checkpoint.revision
    for server in ("theirs", "mine"):
        served.call(registry_pb.DeleteToolsRequest(server=server, names=["watched"]), "admin")
        served.call(registration(server, WATCHED), "admin")
    changes = []
    for event in watch:
        if event.HasField("change"):
            changes.append((event.change.server, event.change.revision - begin))
        elif event.checkpoint.revision == begin + 2:
            break
    watch.cancel()
    for server in ("theirs", "mine"):
        served.call(registry_pb.DeleteToolsRequest(server=server, names=["watched"]), "admin")

    assert [("mine", 2)] == changes


def test_a_limited_list_must_name_its_server(served: Served) -> None:
    """All tools would be those of others too."""
    request = registry_pb.ListToolsRequest()

    assert "PERMISSION_DENIED" == served.outcome(request, "limited")
    servers = {tool.server for tool in served.call(request, "validator").tools}
    assert {"mine", "theirs"} <= servers


def test_the_mapping_of_a_call_is_limited(served: Served) -> None:
    """It names the tool, and comes from whoever sends the request."""
    conversion = conversion_pb.ConvertToolsRequest(
        api=conversion_pb.MODEL_API_ANTHROPIC, servers=["theirs"]
    )
    converted = served.call(conversion, "admin").conversions[0].converted
    call = {"type": "tool_use", "id": "1", "name": converted.name, "input": {}}
    request = conversion_pb.ConvertToolCallRequest(
        call=json.dumps(call).encode(), mappings=[converted.mapping]
    )

    outcomes = [served.outcome(request, token) for token in ("admin", "limited")]
    assert ["OK", "PERMISSION_DENIED"] == outcomes


def test_a_gateway_needs_both_roles_and_its_servers(served: Served) -> None:
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
    served: Served, token: str | None, server: str, expected: str
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


def test_denied_calls_are_counted(served: Served) -> None:
    """By their status and their reason, as other errors."""
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


def test_the_unix_socket_needs_tokens_too(served: Served) -> None:
    """Its file mode alone does not tell callers apart."""
    method: Any = find_rpc(registry_pb.ListToolsRequest)
    with grpc.insecure_channel(served.running.unix_address) as channel:
        call: Any = channel.unary_unary(method.path, method.request.SerializeToString)
        with pytest.raises(grpc.RpcError) as raised:
            call(registry_pb.ListToolsRequest(), timeout=300)

    assert "UNAUTHENTICATED" == error_info_of(raised.value).reason


def test_the_file_is_read_again_while_calls_run(tmp_path: Path) -> None:
    """An open stream goes on; calls with the old token fail once it is gone, and not before.

    The log has the names of tokens, and no token, right or wrong.
    """
    served = Served(tmp_path)
    request = registry_pb.ListToolsRequest()
    rpc = find_rpc(validation_pb.ValidateStreamRequest)
    stream: Any = served.channel.stream_stream(
        rpc.path, rpc.request.SerializeToString, rpc.response.FromString
    )
    inline = target_pb2.Target(inline_schema=target_pb2.InlineSchema(json=b"{}"))
    item = validation_pb.ValidateStreamRequest(
        item=validation_pb.StreamItem(id="1", item=_item(inline))
    )
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
