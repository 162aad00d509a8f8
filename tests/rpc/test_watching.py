"""WatchTools with a real server: events of watchers, and resumption."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any
from uuid import uuid4

import grpc
import pytest
from sidecheck.v1 import registry_service_pb2 as registry_pb
from sidecheck.v1.registry_service_pb2_grpc import RegistryServiceStub
from support.running import RunningServer
from support.watching import ChangedNames, Watch, delete, register, tool, watching
from support.wire import error_info_of

REPLACE = registry_pb.REGISTRATION_MODE_REPLACE
#: A page of definitions or names, and what else a message has.
MESSAGE_BYTES = (256 << 10) + (64 << 10)


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """Return a server whose registry only the running test changes."""
    server = RunningServer(tmp_path_factory.mktemp("watching"))
    yield server
    server.close()


@pytest.fixture
async def channel(running: RunningServer) -> AsyncIterator[grpc.aio.Channel]:
    async with grpc.aio.insecure_channel(running.address) as channel:
        yield channel


async def error_of(watch: Watch) -> tuple[grpc.StatusCode, Any]:
    """Return the status and the details of the error that ends *watch* instead of an event."""
    with pytest.raises(grpc.aio.AioRpcError) as raised:
        await watch.event()
    return raised.value.code(), error_info_of(raised.value)


async def test_changes_are_sent_in_order_and_then_a_checkpoint(channel: grpc.aio.Channel) -> None:
    """The first response is the checkpoint of the present revision."""
    async with watching(channel) as watch:
        begin = await watch.checkpoint()
        for number, change in enumerate(
            (
                register(channel, "s", tool("b"), tool("a")),
                register(channel, "s", tool("b"), tool("a")),
                register(channel, "s", tool("a", maxProperties=1), tool("c"), mode=REPLACE),
                delete(channel, "s", "a", "unknown"),
                delete(channel, "s"),
                delete(channel, "s"),
            )
        ):
            changed: Any = await change
            assert begin.revision + (1, 1, 2, 3, 4, 4)[number] == changed.registry_revision
        changes = await watch.until(begin.revision + 4)

    assert [
        (begin.revision + 1, ChangedNames("s", ("a", "b"))),
        (begin.revision + 2, ChangedNames("s", ("a", "c"), ("b",))),
        (begin.revision + 3, ChangedNames("s", (), ("a",))),
        (begin.revision + 4, ChangedNames("s", (), ("c",))),
    ] == list(changes.items())


async def test_tools_are_sent_as_they_are_listed(channel: grpc.aio.Channel) -> None:
    """They have their bytes, digests, revision and protocol version."""
    text = b' {"x": 1.50, "name": "a", "inputSchema": {"type":"object"}} '
    stub: Any = RegistryServiceStub(channel)
    async with watching(channel) as watch:
        begin = await watch.checkpoint()
        await register(channel, "listed", text, tool("b"), protocol_version="2025-06-18")
        listed = await stub.ListTools(registry_pb.ListToolsRequest(server="listed"))
        [change] = await watch.messages_until(begin.revision + 1)

    assert list(listed.tools) == list(change.registered)
    assert (text, "2025-06-18") == (
        change.registered[0].json,
        change.registered[0].protocol_version,
    )
    assert {change.revision} == {tool.revision for tool in change.registered}


async def test_a_watcher_of_some_servers(channel: grpc.aio.Channel) -> None:
    """Checkpoints cover changes of other servers too."""
    async with watching(channel, "x", "y") as watch:
        begin = await watch.checkpoint()
        for number, server in enumerate("xzyz"):
            await register(channel, server, tool("a", title=str(number)))
        changes = await watch.until(begin.revision + 4)

    assert {
        begin.revision + 1: ChangedNames("x", ("a",)),
        begin.revision + 3: ChangedNames("y", ("a",)),
    } == changes


async def test_a_watcher_resumes(channel: grpc.aio.Channel) -> None:
    """It resumes after a checkpoint, or after a change with the checkpoint's id."""
    async with watching(channel) as watch:
        begin = await watch.checkpoint()
    for name in "abc":
        await register(channel, "resumed", tool(name))
    expected = {
        begin.revision + number: ChangedNames("resumed", (name,))
        for number, name in enumerate("abc", 1)
    }
    async with watching(channel, after=begin) as watch:
        assert expected == await watch.until(begin.revision + 3)
    async with watching(channel, after=begin) as watch:
        first, second = (await watch.event()).change, (await watch.event()).change
    after = registry_pb.RevisionCheckpoint(revision=first.revision, id=first.id)
    del expected[first.revision]
    async with watching(channel, after=after) as watch:
        assert expected == await watch.until(begin.revision + 3)
    after = registry_pb.RevisionCheckpoint(revision=second.revision)
    del expected[second.revision]
    async with watching(channel, after=after) as watch:
        assert expected == await watch.until(begin.revision + 3)
    async with watching(channel) as watch:
        last = await watch.checkpoint()
    async with watching(channel, after=last) as watch:
        assert last == await watch.checkpoint()


async def test_another_history_is_not_resumed(channel: grpc.aio.Channel) -> None:
    """The ID does not belong to the revision: the tools must be listed again."""
    begin = (await register(channel, "s", tool(str(uuid4())))).registry_revision
    after = registry_pb.RevisionCheckpoint(revision=begin, id=str(uuid4()))
    code, info = await error_of(Watch(channel, after=after))

    assert (grpc.StatusCode.OUT_OF_RANGE, "COMPACTED") == (code, info.reason)
    assert {"oldest_revision": "0", "revision": str(begin)} == dict(info.metadata)


async def test_changes_before_the_start_cannot_be_watched(tmp_path: Path) -> None:
    """The revision of a registry in a file continues after a restart."""
    flags = ("--registry", str(tmp_path / "registry.db"))
    running = RunningServer(tmp_path, *flags)
    try:
        async with grpc.aio.insecure_channel(running.address) as channel:
            for name in "ab":
                await register(channel, "s", tool(name))
    finally:
        running.close()
    running = RunningServer(tmp_path, *flags)
    try:
        async with grpc.aio.insecure_channel(running.address) as channel:
            before = registry_pb.RevisionCheckpoint(revision=1)
            code, info = await error_of(Watch(channel, after=before))
            await register(channel, "s", tool("c"))
            last = registry_pb.RevisionCheckpoint(revision=2)
            async with watching(channel, after=last) as watch:
                assert {3: ChangedNames("s", ("c",))} == await watch.until(3)
    finally:
        running.close()

    assert (grpc.StatusCode.OUT_OF_RANGE, "COMPACTED") == (code, info.reason)
    assert {"oldest_revision": "2", "revision": "2"} == dict(info.metadata)


async def test_a_large_change_is_split(channel: grpc.aio.Channel) -> None:
    """All messages but the last have `continued`."""
    names = [f"{number:04}{'n' * 196}" for number in range(2000)]
    async with watching(channel) as watch:
        begin = await watch.checkpoint()
        await register(channel, "large", tool("old"))
        tools = [tool(name, description="d" * 500) for name in names]
        await register(channel, "large", *tools, mode=REPLACE)
        first, *registered = await watch.messages_until(begin.revision + 2)
        await delete(channel, "large")
        deleted = await watch.messages_until(begin.revision + 3)

    assert (["old"], False) == ([tool.name for tool in first.registered], first.continued)
    for messages, count in ((registered, 6), (deleted, 2)):
        assert len(messages) >= count
        assert 1 == len({(message.revision, message.id, message.server) for message in messages})
        assert [True] * (len(messages) - 1) + [False] == [message.continued for message in messages]
    assert names == [tool.name for message in registered for tool in message.registered]
    assert ["old"] == [name for message in registered for name in message.deleted]
    assert names == [name for message in deleted for name in message.deleted]
    assert [] == [message for message in deleted if message.registered]
    sizes = [message.ByteSize() for message in (*registered, *deleted)]
    assert max(size for size in sizes) < 2 * MESSAGE_BYTES


async def test_small_tools_of_a_server_with_a_long_name(channel: grpc.aio.Channel) -> None:
    """The size of a message includes the overhead of each tool."""
    names = [f"t{number:04}" for number in range(1000)]
    async with watching(channel) as watch:
        begin = await watch.checkpoint()
        await register(channel, "\N{SNAKE}" * 256, *map(tool, names))
        messages = await watch.messages_until(begin.revision + 1)

    assert names == [tool.name for message in messages for tool in message.registered]
    assert max(message.ByteSize() for message in messages) < MESSAGE_BYTES


async def test_all_watchers_receive_every_change(
    channel: grpc.aio.Channel, running: RunningServer
) -> None:
    """Each on a connection of its own, though tools are registered at the same time."""
    count = 20
    async with AsyncExitStack() as stack:
        watches = []
        for _ in range(8):
            options = [("grpc.use_local_subchannel_pool", 1)]
            own = grpc.aio.insecure_channel(running.address, options=options)
            watches.append(Watch(await stack.enter_async_context(own)))
        begin = [await watch.checkpoint() for watch in watches]
        for number in range(count):
            await register(channel, "all", tool(f"t{number}"))
        received = [await watch.until(begin[0].revision + count) for watch in watches]

    assert [begin[0]] * 8 == begin
    assert [received[0]] * 8 == received
    assert [ChangedNames("all", (f"t{number}",)) for number in range(count)] == list(
        received[0].values()
    )


@pytest.mark.parametrize("flags", [(), ("--processes", "2")], ids=["one process", "two"])
async def test_a_server_that_stops_ends_watches(tmp_path: Path, flags: tuple[str, ...]) -> None:
    """They would go on, and hold it up."""
    running = RunningServer(tmp_path, *flags)
    try:
        async with grpc.aio.insecure_channel(running.address) as channel:
            watch = Watch(channel)
            await watch.checkpoint()
            running.process.terminate()
            code, info = await error_of(watch)
        assert 0 == await asyncio.to_thread(running.process.wait, 180)
    finally:
        running.close()

    assert (grpc.StatusCode.UNAVAILABLE, "SHUTTING_DOWN") == (code, info.reason)
