"""Calls of WatchTools, and summaries of their changes."""

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any, NamedTuple, TypeAlias

import grpc
from sidecheck.v1 import registry_service_pb2 as registry_pb
from sidecheck.v1 import target_pb2
from sidecheck.v1.registry_service_pb2_grpc import RegistryServiceStub

__all__ = ["ChangedNames", "Watch", "delete", "register", "tool", "watching"]

SECONDS = 180.0

_Metadata: TypeAlias = Sequence[tuple[str, str]]


class ChangedNames(NamedTuple):
    """A change: its server, the names that were registered, and those that were deleted."""

    server: str
    registered: tuple[str, ...] = ()
    deleted: tuple[str, ...] = ()


class Watch:
    """A call of WatchTools."""

    def __init__(
        self,
        channel: grpc.aio.Channel,
        *servers: str,
        after: registry_pb.RevisionCheckpoint | None = None,
        metadata: _Metadata = (),
    ) -> None:
        request = registry_pb.WatchToolsRequest(servers=servers)
        if after is not None:
            request.after_revision, request.after_id = after.revision, after.id
        stub: Any = RegistryServiceStub(channel)
        self._call = stub.WatchTools(request, metadata=metadata)

    async def event(self) -> registry_pb.WatchToolsResponse:
        """Return the next response."""
        async with asyncio.timeout(SECONDS):
            response = await self._call.read()
        assert isinstance(response, registry_pb.WatchToolsResponse), "the stream has ended"
        return response

    async def checkpoint(self) -> registry_pb.RevisionCheckpoint:
        """Return the next response, which must be a checkpoint."""
        event = await self.event()
        assert event.HasField("checkpoint"), event
        return event.checkpoint

    async def messages_until(self, revision: int) -> list[registry_pb.ToolsChange]:
        """Return the messages of changes before the checkpoint of *revision*."""
        async with asyncio.timeout(SECONDS):
            return await self._messages_until(revision)

    async def _messages_until(self, revision: int) -> list[registry_pb.ToolsChange]:
        changes: list[registry_pb.ToolsChange] = []
        checkpoint = 0
        while True:
            event = await self.event()
            if event.HasField("change"):
                # Changes after a checkpoint have a later revision.
                assert event.change.revision > checkpoint
                changes.append(event.change)
            else:
                assert event.checkpoint.revision >= checkpoint
                checkpoint = event.checkpoint.revision
                assert checkpoint <= revision
                if checkpoint == revision:
                    return changes

    async def until(self, revision: int) -> dict[int, ChangedNames]:
        """Return the changes before the checkpoint of *revision*, each of which is one message."""
        changes = await self.messages_until(revision)
        changes_by_revision = {
            change.revision: ChangedNames(
                change.server,
                tuple(bound.name for bound in change.registered),
                tuple(change.deleted),
            )
            for change in changes
        }
        assert list(changes_by_revision) == sorted(change.revision for change in changes)
        assert not any(change.continued for change in changes)
        return changes_by_revision

    def cancel(self) -> None:
        """End the call."""
        self._call.cancel()


@asynccontextmanager
async def watching(
    channel: grpc.aio.Channel, *servers: str, **options: Any
) -> AsyncIterator[Watch]:
    """Yield a call of WatchTools, which ends with the block."""
    watch = Watch(channel, *servers, **options)
    try:
        yield watch
    finally:
        watch.cancel()


def tool(name: str, **schema: Any) -> bytes:
    """Return a definition whose input schema has the keywords *schema*."""
    return json.dumps({"name": name, "inputSchema": {"type": "object", **schema}}).encode()


async def register(
    channel: grpc.aio.Channel, server: str, *tools: bytes, **options: Any
) -> registry_pb.RegisterToolsResponse:
    """Register *tools* of *server*."""
    request = registry_pb.RegisterToolsRequest(
        server=server, tools=[target_pb2.InlineTool(json=text) for text in tools], **options
    )
    stub: Any = RegistryServiceStub(channel)
    response: registry_pb.RegisterToolsResponse = await stub.RegisterTools(request, timeout=SECONDS)
    return response


async def delete(
    channel: grpc.aio.Channel, server: str, *names: str
) -> registry_pb.DeleteToolsResponse:
    """Delete the tools of *server*: those of *names*, or all."""
    request = registry_pb.DeleteToolsRequest(server=server, names=names, all=not names)
    stub: Any = RegistryServiceStub(channel)
    response: registry_pb.DeleteToolsResponse = await stub.DeleteTools(request, timeout=SECONDS)
    return response
