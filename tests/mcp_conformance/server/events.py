"""The events of all streams, for clients that resume one."""

from mcp.server.streamable_http import EventCallback, EventId, EventMessage, EventStore, StreamId
from mcp.types import JSONRPCMessage

__all__ = ["MemoryEvents"]


class MemoryEvents(EventStore):
    """Keeps all events for as long as the process lives; the id of one is its index."""

    def __init__(self) -> None:
        self._events: list[tuple[StreamId, JSONRPCMessage | None]] = []

    async def store_event(self, stream_id: StreamId, message: JSONRPCMessage | None) -> EventId:
        """Keep *message*, or an event without one, and return its id."""
        self._events.append((stream_id, message))
        return str(len(self._events) - 1)

    async def replay_events_after(
        self, last_event_id: EventId, send_callback: EventCallback
    ) -> StreamId | None:
        """Send what the stream of the event *last_event_id* had after it."""
        if not last_event_id.isdecimal() or int(last_event_id) >= len(self._events):
            return None
        last = int(last_event_id)
        stream = self._events[last][0]
        for index in range(last + 1, len(self._events)):
            stream_id, message = self._events[index]
            if stream_id == stream and message is not None:
                await send_callback(EventMessage(message, str(index)))
        return stream
