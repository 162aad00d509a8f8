"""`min_revision`: requests that wait for a revision of the registry, and all that may."""

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import grpc
import pytest
from sidecheck.v1 import registry_service_pb2 as registry_pb
from sidecheck.v1 import target_pb2
from sidecheck.v1 import validation_service_pb2 as validation_pb
from sidecheck.wire.rpcs import RPCS, Rpc
from support.running import RunningServer
from support.wire import error_info_of

WRITES = {"RegisterTools", "DeleteTools"}
"""They are made at the latest revision."""
WATCHES = {"WatchTools"}
"""They begin at any revision."""

#: Most requests with nothing but a revision are invalid otherwise.
ENDS = {grpc.StatusCode.OK, grpc.StatusCode.INVALID_ARGUMENT, grpc.StatusCode.NOT_FOUND}

WAITING = [rpc for rpc in RPCS if "min_revision" in rpc.request.DESCRIPTOR.fields_by_name]


def names_registered_tools(message: Any, visited: frozenset[str] = frozenset()) -> bool:
    """Return whether *message*, or a message in it, has a target or the name of a server."""
    return message.full_name not in visited and any(
        field.name in {"server", "servers"}
        or (
            field.message_type is not None
            and names_registered_tools(field.message_type, visited | {message.full_name})
        )
        for field in message.fields
    )


def test_every_request_that_reads_the_registry_may_wait() -> None:
    """Its response has the revision of the read."""
    reading = {rpc.name for rpc in RPCS if names_registered_tools(rpc.request.DESCRIPTOR)}
    defaults = validation_pb.StreamDefaults.DESCRIPTOR

    assert reading - WRITES - WATCHES - {"ValidateStream"} == {rpc.name for rpc in WAITING}
    assert "min_revision" in defaults.fields_by_name
    assert reading - WATCHES | {"GetServerInfo"} == {
        rpc.name for rpc in RPCS if "registry_revision" in rpc.response.DESCRIPTOR.fields_by_name
    }


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """Return a server whose registry only the running test changes."""
    server = RunningServer(tmp_path_factory.mktemp("revisions"))
    yield server
    server.close()


@pytest.mark.parametrize("rpc", WAITING, ids=lambda rpc: rpc.name)
async def test_a_request_waits_for_its_revision(running: RunningServer, rpc: Rpc) -> None:
    """It ends after the revision is reached, or with an error before its deadline."""
    async with grpc.aio.insecure_channel(running.address) as channel:

        async def call(request: Any, seconds: float) -> grpc.StatusCode:
            send: Any = channel.unary_unary(rpc.path, rpc.request.SerializeToString)
            try:
                await send(request, timeout=seconds)
            except grpc.aio.AioRpcError as error:
                return error.code()
            return grpc.StatusCode.OK

        next_revision = (await register(channel, rpc.name, "a")) + 1
        request = rpc.request(min_revision=next_revision)
        assert grpc.StatusCode.ABORTED == await call(request, 2)
        waiting = asyncio.create_task(call(request, 300))
        assert next_revision == await register(channel, rpc.name, "b")

        assert await waiting in ENDS


async def register(channel: grpc.aio.Channel, server: str, name: str) -> int:
    """Register a tool; return the revision."""
    tool = json.dumps({"name": name, "inputSchema": {"type": "object"}}).encode()
    send: Any = channel.unary_unary(
        "/sidecheck.v1.RegistryService/RegisterTools",
        registry_pb.RegisterToolsRequest.SerializeToString,
        registry_pb.RegisterToolsResponse.FromString,
    )
    request = registry_pb.RegisterToolsRequest(
        server=server, tools=[target_pb2.InlineTool(json=tool)]
    )
    response = await send(request, timeout=300)
    return int(response.registry_revision)


async def test_a_stream_waits_with_its_defaults(running: RunningServer) -> None:
    target = target_pb2.Target(registered_tool=target_pb2.RegisteredTool(server="stream", name="b"))
    item = validation_pb.StreamItem(
        id="1", item=validation_pb.ValidateItem(subject=target_pb2.Subject(arguments=b"{}"))
    )
    async with grpc.aio.insecure_channel(running.address) as channel:
        revision = await register(channel, "stream", "a")
        start: Any = channel.stream_stream(
            "/sidecheck.v1.ValidationService/ValidateStream",
            validation_pb.ValidateStreamRequest.SerializeToString,
            validation_pb.ValidateStreamResponse.FromString,
        )
        call = start(timeout=300)
        defaults = validation_pb.StreamDefaults(target=target, min_revision=revision + 1)
        await call.write(validation_pb.ValidateStreamRequest(defaults=defaults))
        await call.write(validation_pb.ValidateStreamRequest(item=item))
        await register(channel, "stream", "b")
        response = await call.read()
        call.cancel()

    assert (True, revision + 1) == (response.outcome.verdict.valid, response.registry_revision)


def test_a_revision_that_is_not_reached(running: RunningServer) -> None:
    """The server says so after some seconds, and clients do not repeat the call."""
    with grpc.insecure_channel(running.address) as channel:
        send: Any = channel.unary_unary(
            "/sidecheck.v1.RegistryService/GetTool",
            registry_pb.GetToolRequest.SerializeToString,
        )
        with pytest.raises(grpc.RpcError) as raised:
            send(registry_pb.GetToolRequest(min_revision=1_000_000), timeout=300)
    info = error_info_of(raised.value)

    assert isinstance(raised.value, grpc.Call)
    assert grpc.StatusCode.ABORTED == raised.value.code()
    assert ("REVISION_NOT_REACHED", "1000000") == (info.reason, info.metadata["min_revision"])
