"""Watches of registered tools: their events, and what becomes of them when a server is lost."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import grpc
import grpc.aio
import pytest
from google.protobuf.any_pb2 import Any as AnyMessage
from google.protobuf.duration_pb2 import Duration
from google.rpc.error_details_pb2 import RetryInfo
from google.rpc.status_pb2 import Status
from sidecheck import (
    BlockingClient,
    Checkpoint,
    Client,
    InvalidResponse,
    RegisteredTool,
    SidecheckError,
    ToolsChange,
    Unavailable,
    WatchEvent,
)
from sidecheck._transport import reconnection
from sidecheck.v1.registry_service_pb2 import (
    RevisionCheckpoint,
    Tool,
    WatchToolsRequest,
    WatchToolsResponse,
)
from sidecheck.v1.registry_service_pb2 import (
    ToolsChange as ChangeMessage,
)
from sidecheck.wire.rpcs import find_rpc
from support.clients import CLIENT_KINDS
from support.running import RunningServer

Step: TypeAlias = WatchToolsResponse | grpc.StatusCode | RetryInfo

TOOL = {"name": "a", "inputSchema": {"type": "object"}}


def change(revision: int, *names: str, continued: bool = False) -> WatchToolsResponse:
    """Return the response for a change that registered tools, and deleted one."""
    tools = [Tool(server="s", name=name, json=b"{}") for name in names]
    message = ChangeMessage(
        revision=revision,
        id=f"id {revision}",
        server="s",
        registered=tools,
        deleted=[] if continued else ["gone"],
        continued=continued,
    )
    return WatchToolsResponse(change=message)


def checkpoint(revision: int) -> WatchToolsResponse:
    """Return the response for a checkpoint."""
    return WatchToolsResponse(checkpoint=RevisionCheckpoint(revision=revision, id=f"id {revision}"))


def trailers_of(detail: RetryInfo) -> tuple[tuple[str, bytes], ...]:
    """Return the trailing metadata of an error with *detail*."""
    packed = AnyMessage()
    packed.Pack(detail)
    return (("grpc-status-details-bin", Status(details=[packed]).SerializeToString()),)


@dataclass
class Script:
    """A server whose streams respond with their *steps*, and end with a code or well."""

    streams: list[list[Step]]
    requests: list[WatchToolsRequest] = field(default_factory=list)
    address: str = ""

    async def watch(self, requests: AsyncIterator[Any], context: Any) -> AsyncIterator[Any]:
        self.requests.append(await anext(requests))
        for step in self.streams.pop(0):
            if isinstance(step, grpc.StatusCode):
                await context.abort(step, "scripted")
            if isinstance(step, RetryInfo):
                await context.abort(grpc.StatusCode.UNAVAILABLE, "scripted", trailers_of(step))
            yield step


@asynccontextmanager
async def serving(*streams: list[Step]) -> AsyncIterator[Script]:
    """Serve *streams*, one after the other."""
    script = Script(list(streams))
    rpc = find_rpc(WatchToolsRequest)
    handler = grpc.stream_stream_rpc_method_handler(
        script.watch, rpc.request.FromString, rpc.response.SerializeToString
    )
    server = grpc.aio.server()
    generic = grpc.method_handlers_generic_handler(rpc.service, {rpc.name: handler})
    server.add_generic_rpc_handlers([generic])
    script.address = f"127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"
    await server.start()
    try:
        yield script
    finally:
        await server.stop(None)


async def watch(kind: str, address: str, count: int, **settings: Any) -> list[WatchEvent]:
    """Return the first *count* events of a watch, by a client of *kind*."""

    def block() -> list[WatchEvent]:
        with BlockingClient(address) as client:
            events = client.watch(**settings)
            try:
                return [next(events) for _ in range(count)]
            finally:
                events.close()

    if kind == "blocking":
        return await asyncio.to_thread(block)
    async with Client(address) as client, aclosing(client.watch(**settings)) as events:
        return [await anext(events) for _ in range(count)]


@pytest.fixture(autouse=True)
def _short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reconnection, "FIRST_PAUSE", 0.01)


@pytest.mark.parametrize("kind", CLIENT_KINDS)
async def test_a_lost_watch_continues_after_its_last_revision(kind: str) -> None:
    """A partially received change is received again as a whole."""
    streams: list[list[Step]] = [
        [
            checkpoint(3),
            change(4, "a"),
            change(5, "b", continued=True),
            grpc.StatusCode.UNAVAILABLE,
        ],
        [grpc.StatusCode.INTERNAL],
        [change(5, "b", continued=True), change(5, "c")],
        [checkpoint(5)],
    ]
    async with serving(*streams) as script:
        events = await watch(kind, script.address, 4)

    assert [
        ("Checkpoint", 3, "id 3", [], ()),
        ("ToolsChange", 4, "id 4", ["a"], ("gone",)),
        ("ToolsChange", 5, "id 5", ["b", "c"], ("gone",)),
        ("Checkpoint", 5, "id 5", [], ()),
    ] == [
        (
            type(event).__name__,
            event.revision,
            event.id,
            [tool.name for tool in getattr(event, "registered", ())],
            getattr(event, "deleted", ()),
        )
        for event in events
    ]
    assert [
        WatchToolsRequest(),
        WatchToolsRequest(after_revision=4, after_id="id 4"),
        WatchToolsRequest(after_revision=4, after_id="id 4"),
        WatchToolsRequest(after_revision=5, after_id="id 5"),
    ] == script.requests


@pytest.mark.parametrize("kind", CLIENT_KINDS)
@pytest.mark.parametrize(
    ("step", "error"),
    [
        (grpc.StatusCode.OUT_OF_RANGE, SidecheckError),
        (grpc.StatusCode.PERMISSION_DENIED, Unavailable),
        (grpc.StatusCode.UNIMPLEMENTED, Unavailable),
        (WatchToolsResponse(), InvalidResponse),
    ],
)
async def test_errors_that_would_come_again_end_it(
    kind: str, step: Step, error: type[SidecheckError]
) -> None:
    async with serving([step]) as script:
        with pytest.raises(error) as raised:
            await watch(kind, script.address, 1)

    assert error is raised.type
    assert 1 == len(script.requests)


@pytest.mark.parametrize("kind", CLIENT_KINDS)
async def test_a_failed_reconnection_is_an_error(kind: str) -> None:
    with pytest.raises(Unavailable):
        await watch(kind, "127.0.0.1:1", 1, patience=0.2)
    with pytest.raises(ValueError, match="timeout must be positive"):
        await watch(kind, "127.0.0.1:1", 1, patience=0)


@pytest.mark.parametrize("kind", CLIENT_KINDS)
async def test_a_server_that_asks_for_more_patience(kind: str) -> None:
    """The delay that it asks for is not waited for in vain."""
    retry = RetryInfo(retry_delay=Duration(seconds=3600))
    async with serving([checkpoint(3), retry]) as script:
        with pytest.raises(Unavailable) as raised:
            await watch(kind, script.address, 2)

    assert 3600 == raised.value.retry_after


@pytest.fixture(scope="module")
def registering(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """Return a server whose registry no other test uses."""
    server = RunningServer(tmp_path_factory.mktemp("watch"))
    yield server
    server.close()


@pytest.mark.server
async def test_a_registry_is_mirrored(registering: RunningServer) -> None:
    """The mirror uses a checkpoint, a list and the later changes."""
    async with Client(registering.address) as client, aclosing(client.watch("s")) as events:
        begun = await anext(events)
        await client.register("s", [TOOL, {**TOOL, "name": "b"}])
        await client.register("other", TOOL)
        mirror = {tool.name: tool async for tool in client.list("s")}
        await client.delete("s", ["b"])
        registration = await client.register("s", {**TOOL, "description": "Changed."})
        states = [begun]
        async for event in events:
            states.append(event)
            if isinstance(event, ToolsChange):
                mirror |= {tool.name: tool for tool in event.registered}
                for name in event.deleted:
                    del mirror[name]
            elif event.revision == registration.registry_revision:
                break

        assert {"a": await client.get("s", "a")} == mirror
    changes = [event for event in states if isinstance(event, ToolsChange)]
    assert ["s"] * 3 == [event.server for event in changes]
    assert Checkpoint(changes[-1].revision, changes[-1].id) == changes[-1].checkpoint == states[-1]


@pytest.mark.server
@pytest.mark.parametrize("kind", CLIENT_KINDS)
async def test_a_watch_after_a_compacted_revision(kind: str, registering: RunningServer) -> None:
    with pytest.raises(SidecheckError) as raised:
        await watch(kind, registering.address, 1, after=Checkpoint(0, "of another registry"))

    assert "COMPACTED" == raised.value.reason


@pytest.mark.server
def test_requests_wait_for_a_revision(registering: RunningServer) -> None:
    """All that read the registry have the revision; one that is not reached is an error."""
    with BlockingClient(registering.address, timeout=60) as client:
        revision = client.register("w", TOOL).registry_revision
        client.min_revision = revision
        target = RegisteredTool("w", "a")
        with client.stream(target=target) as stream:
            stream.finish()
            assert [] == list(stream)

        assert client.validate(target, {}).registry_revision >= revision
        assert "a" == client.get("w", "a").name
        client.min_revision = revision + 1_000
        with pytest.raises(SidecheckError, match="REVISION_NOT_REACHED"):
            client.get("w", "a")
        assert client.info().registry_revision >= revision
