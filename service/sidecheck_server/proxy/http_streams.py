"""Streams of a server's messages, validated event by event."""

import asyncio
from collections.abc import AsyncGenerator

from sidecheck_server.proxy.http_bytes import BytesHeld, NoRoomError
from sidecheck_server.proxy.http_headers import (
    BODY_HEADERS,
    RawHeaders,
    own_headers,
    passed_headers,
)
from sidecheck_server.proxy.http_messages import HttpMessages
from sidecheck_server.proxy.pins import LockFileError
from sidecheck_server.proxy.report import Action, Finding, Report
from sidecheck_server.proxy.sse import EventReader, EventTooLongError
from sidecheck_server.proxy.transcript import Transcript
from sidecheck_server.proxy.upstream import Upstream, UpstreamError, UpstreamResponse

__all__ = ["EventRelay"]

_REPLY_SECONDS = 10.0


class EventRelay:
    """Relays streams of the server *upstream*, with events of at most *max_bytes*."""

    def __init__(
        self,
        upstream: Upstream,
        report: Report,
        transcript: Transcript | None,
        max_bytes: int,
    ) -> None:
        self._upstream = upstream
        self._report = report
        self._transcript = transcript
        self._max_bytes = max_bytes

    async def relay(
        self,
        response: UpstreamResponse,
        headers: RawHeaders,
        messages: HttpMessages,
        held: BytesHeld,
    ) -> AsyncGenerator[bytes]:
        """Yield the events of *response* as they come, with the *messages* in them validated.

        It is to the request with *headers*. What was read and not yet taken is *held*.
        """
        is_resumable = False
        if begin := messages.begin_events():
            yield begin
        reader = EventReader(self._max_bytes)
        try:
            async for chunk in response.decoded():
                await held.grow(len(chunk))
                for event in reader.feed(chunk):
                    is_resumable = is_resumable or event.has_id
                    ruling = await messages.rule_event(event)
                    if ruling.reply is not None:
                        await self._send(headers, ruling.reply)
                    if ruling.text is not None:
                        yield ruling.text
                held.shrink(reader.held)
        except (EventTooLongError, LockFileError, NoRoomError, UpstreamError) as error:
            is_resumable = is_resumable and isinstance(error, (NoRoomError, UpstreamError))
            self._report_end(error)
        finally:
            end = messages.end_events(is_resumable=is_resumable)
        if end:
            yield end

    def _report_end(self, error: Exception) -> None:
        """Report the *error* that ends a stream."""
        match error:
            case EventTooLongError():
                note = f"an event is larger than {self._max_bytes:,} bytes (--max-message-bytes)"
                self._add("MESSAGE_TOO_LONG", note)
            case LockFileError():
                self._add("PINS_NOT_WRITTEN", str(error))
            case NoRoomError():
                self._add("TOO_MANY_BYTES", str(error))
            case _:
                self._add("UPSTREAM_UNAVAILABLE", "ended in a stream")

    async def _send(self, headers: RawHeaders, reply: bytes) -> None:
        """Send the server the error of a request that it sent in a stream."""
        own = own_headers(passed_headers(headers, BODY_HEADERS), {})
        try:
            async with asyncio.timeout(_REPLY_SECONDS):
                response = await self._upstream.send("POST", self._upstream.target, own, reply)
                response.close()
        except (UpstreamError, TimeoutError):
            self._add("UPSTREAM_UNAVAILABLE", "does not respond")

    def _add(self, code: str, note: str) -> None:
        self._report.add(Finding(sender="server", code=code, action=Action.REJECTED, note=note))
