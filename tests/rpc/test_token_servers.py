"""Tokens that are limited to servers: targets, registered tools, watches and mappings."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from sidecheck.v1 import conversion_service_pb2 as conversion_pb
from sidecheck.v1 import inference_service_pb2 as inference_pb
from sidecheck.v1 import protocol_service_pb2 as protocol_pb
from sidecheck.v1 import registry_service_pb2 as registry_pb
from sidecheck.v1 import target_pb2
from sidecheck.v1 import validation_service_pb2 as validation_pb
from sidecheck.v1.options_pb2 import ValidationOptions
from sidecheck.wire.rpcs import find_rpc
from support.token_server import COMMON, FOREIGN, OWN, TokenServer, registration, token_server
from support.tokens import bearer
from support.wire import info_of

ARGUMENTS = target_pb2.Subject(arguments=b"{}")
RESULT = b'{"content": []}'


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TokenServer]:
    """Return a server with tools of two servers, for all tests here."""
    server = token_server(tmp_path_factory.mktemp("tokens"))
    yield server
    server.close()


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
def test_targets_are_limited_to_the_servers_of_a_token(
    served: TokenServer, request_for: Any
) -> None:
    """Targets by name and by digest are limited, after use by other callers too."""
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


def test_the_defaults_of_a_stream_are_limited(served: TokenServer) -> None:
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
def test_a_token_limits_the_servers(served: TokenServer, request_for: Any) -> None:
    """The limit applies to reads and writes."""
    assert {"mine": "OK", "theirs": "PERMISSION_DENIED", "nobody's": "PERMISSION_DENIED"} == {
        server: served.outcome(request_for(server), "limited")
        for server in ("mine", "theirs", "nobody's")
    }
    assert "OK" == served.outcome(request_for("theirs"), "admin")


def test_a_limited_watcher_receives_changes_of_its_servers(served: TokenServer) -> None:
    """It does not name them; checkpoints cover all servers."""
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


def test_a_limited_list_must_name_its_server(served: TokenServer) -> None:
    """All tools would be those of others too."""
    request = registry_pb.ListToolsRequest()

    assert "PERMISSION_DENIED" == served.outcome(request, "limited")
    servers = {tool.server for tool in served.call(request, "validator").tools}
    assert {"mine", "theirs"} <= servers


def test_the_mapping_of_a_call_is_limited(served: TokenServer) -> None:
    """The sender of the request chooses the mapping, which names the tool."""
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
