"""Messages of WatchTools."""

from collections.abc import Sequence

from sidecheck.errors import InvalidResponse
from sidecheck.v1 import registry_service_pb2 as registry_pb
from sidecheck.watching import Checkpoint, ToolsChange, WatchEvent
from sidecheck.wire.registry import decode_registered_tool

__all__ = ["WatchDecoder", "encode_watch"]


def encode_watch(servers: Sequence[str], after: Checkpoint | None) -> registry_pb.WatchToolsRequest:
    """Return the request to watch *servers*, after a checkpoint if there is one."""
    if after is None:
        return registry_pb.WatchToolsRequest(servers=servers)
    return registry_pb.WatchToolsRequest(
        servers=servers, after_revision=after.revision, after_id=after.id
    )


class WatchDecoder:
    """Joins the responses of one revision."""

    def __init__(self) -> None:
        self._parts: list[registry_pb.ToolsChange] = []

    def decode(self, response: registry_pb.WatchToolsResponse) -> WatchEvent | None:
        """Return the event that *response* completes, or None if more responses follow.

        Raises:
            InvalidResponse: *response* has no event.
        """
        match response.WhichOneof("event"):
            case "checkpoint":
                return Checkpoint(response.checkpoint.revision, response.checkpoint.id)
            case "change":
                self._parts.append(response.change)
                return None if response.change.continued else self._join()
            case _:
                raise InvalidResponse("WatchToolsResponse has neither a change nor a checkpoint")

    def _join(self) -> ToolsChange:
        parts, self._parts = self._parts, []
        last = parts[-1]
        return ToolsChange(
            revision=last.revision,
            id=last.id,
            server=last.server,
            registered=tuple(
                decode_registered_tool(tool) for part in parts for tool in part.registered
            ),
            deleted=tuple(name for part in parts for name in part.deleted),
        )
