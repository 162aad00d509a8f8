"""Responses of WatchTools: changes of the registry, in messages of a bounded size."""

from collections.abc import Iterator

from sidecheck.v1 import registry_service_pb2 as proto

from sidecheck_server.registry.definitions import Change
from sidecheck_server.rpc.mapping.registration import tool_to_proto
from sidecheck_server.services.change_log import Checkpoint

__all__ = ["change_to_proto", "checkpoint_to_proto"]


def change_to_proto(change: Change, max_bytes: int) -> Iterator[proto.WatchToolsResponse]:
    """Yield the messages of *change*, each with *max_bytes* of tools and names, or with one.

    All but the last say that the change goes on.
    """
    message = _begin(change)
    size = 0
    for binding in change.bound:
        # What a tool has beside its definition may be far more than that.
        tool = tool_to_proto(binding, binding.definition.json)
        tool_size = tool.ByteSize()
        size += tool_size
        if size > max_bytes and message.registered:
            yield _continued(message)
            message, size = _begin(change), tool_size
        message.registered.append(tool)
    for name in change.unbound:
        name_size = len(name.encode())
        size += name_size
        if size > max_bytes and (message.registered or message.deleted):
            yield _continued(message)
            message, size = _begin(change), name_size
        message.deleted.append(name)
    yield proto.WatchToolsResponse(change=message)


def checkpoint_to_proto(checkpoint: Checkpoint) -> proto.WatchToolsResponse:
    """Return the message of *checkpoint*."""
    return proto.WatchToolsResponse(
        checkpoint=proto.RevisionCheckpoint(revision=checkpoint.revision, id=str(checkpoint.id))
    )


def _begin(change: Change) -> proto.ToolsChange:
    return proto.ToolsChange(revision=change.revision, id=str(change.id), server=change.server)


def _continued(message: proto.ToolsChange) -> proto.WatchToolsResponse:
    message.continued = True
    return proto.WatchToolsResponse(change=message)
