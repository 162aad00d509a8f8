"""Position in a stream of events that is opened again after it breaks off."""

import asyncio
from collections.abc import AsyncIterator

from sidecheck_server.proxy.http.headers import RawHeaders
from sidecheck_server.proxy.http.sse import Event, EventReader
from sidecheck_server.proxy.http.upstream import UpstreamResponse

__all__ = ["EventCursor"]

_FIRST_PAUSE = 1.0
_MAX_PAUSE = 30.0


class EventCursor:
    """Position after the last event of a stream, with events of at most *max_bytes*."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._last_id = b""
        #: Seconds that the server asks to wait; None unless it does.
        self._retry: float | None = None
        #: Number of times that the stream broke off since its last event.
        self.breaks = 0

    def headers(self) -> RawHeaders:
        """Return the headers that resume the stream, none if it cannot be resumed."""
        return [(b"last-event-id", self._last_id)] if self._last_id else []

    async def events(self, response: UpstreamResponse) -> AsyncIterator[Event]:
        """Yield the events of *response*.

        Raises:
            EventTooLongError: an event is longer than the limit.
            UpstreamError: the stream breaks off.
        """
        reader = EventReader(self._max_bytes)
        async for chunk in response.decoded():
            for event in reader.feed(chunk):
                self._move(event)
                yield event

    async def pause(self) -> None:
        """Wait before the stream is opened again, longer each time without an event."""
        seconds = _FIRST_PAUSE if self._retry is None else self._retry
        await asyncio.sleep(min(seconds * 2 ** min(self.breaks, 10), _MAX_PAUSE))
        self.breaks += 1

    def _move(self, event: Event) -> None:
        for line in event.text.splitlines():
            name, _, value = line.partition(b":")
            value = value.removeprefix(b" ")
            if name == b"id" and b"\0" not in value:
                self._last_id = value
            elif name == b"retry" and value.isdigit():
                self._retry = min(int(value[:9]) / 1000, _MAX_PAUSE)
        if event.data is not None:
            self.breaks = 0
