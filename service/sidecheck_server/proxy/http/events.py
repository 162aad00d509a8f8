"""Relay of the streams of events of the server, each event after the ruling on it."""

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import dataclass

from sidecheck_server.proxy.http.bytes import ByteBudgetError, HeldBytes
from sidecheck_server.proxy.http.encodings import BodyDecoder, EncodingError
from sidecheck_server.proxy.http.headers import (
    BODY_HEADERS,
    RawHeaders,
    build_request_headers,
    end_to_end_headers,
)
from sidecheck_server.proxy.http.messages import HttpMessages
from sidecheck_server.proxy.http.sse import KEEP_ALIVE, Event, EventReader, EventTooLongError
from sidecheck_server.proxy.http.timeouts import CallTimeouts, Deadline, iterate_with_pauses
from sidecheck_server.proxy.http.upstream import Upstream, UpstreamError, UpstreamResponse
from sidecheck_server.proxy.report import Action, Finding, Report
from sidecheck_server.proxy.rulings.pins import LockFileError

__all__ = ["WITHOUT_RESPONSE", "EventRelay"]

WITHOUT_RESPONSE = "the stream ended without the response to the request"
"""Text of the error for a request whose stream ended in order."""

_REPLY_SECONDS = 10.0

_ENDS = (
    ByteBudgetError,
    EncodingError,
    EventTooLongError,
    LockFileError,
    TimeoutError,
    UpstreamError,
)
"""Errors that end a stream."""

_BROKEN = "the server ended a stream early"


@dataclass(slots=True)
class _Outcome:
    """Outcome of a stream, as far as it has come."""

    #: Whether an event had an id, after which a client can resume the stream.
    is_resumable: bool = False
    #: Whether an event over the limit passed in parts, which were not read.
    has_parts: bool = False
    #: Whether the server ended the stream.
    is_whole: bool = False
    #: Reason of an early end.
    reason: str = _BROKEN


class EventRelay:
    """Relays streams of the server *upstream*, with events of at most *max_bytes*.

    A stream without data for *keep_alive* seconds gets a comment; with None, it gets none.
    """

    def __init__(
        self,
        upstream: Upstream,
        report: Report,
        max_bytes: int,
        timeouts: CallTimeouts,
        keep_alive: float | None,
    ) -> None:
        self._upstream = upstream
        self._report = report
        self._max_bytes = max_bytes
        self._timeouts = timeouts
        self._keep_alive = keep_alive

    async def relay(
        self,
        response: UpstreamResponse,
        headers: RawHeaders,
        messages: HttpMessages,
        held_bytes: HeldBytes,
        deadline: Deadline,
    ) -> AsyncGenerator[bytes]:
        """Yield the events of *response* as they arrive, after the ruling on each.

        *response* is to the request with *headers*. *held_bytes* counts the bytes that are read and
        not yet sent. The response to the request must come before the *deadline*.
        """
        if begin := messages.begin_events():
            yield begin
        reader = EventReader(self._max_bytes, splits_long_events=not messages.enforces)
        chunks = iterate_with_pauses(response.decoded(), self._keep_alive, deadline)
        outcome = _Outcome()
        try:
            async for chunk in chunks:
                if chunk is not None:
                    await held_bytes.grow(len(chunk))
                    for event in reader.feed(chunk):
                        yield await self._rule(event, headers, messages, outcome)
                    held_bytes.shrink(reader.buffered_bytes)
                elif not reader.is_in_part:
                    # Events are sent as a whole, except parts of one over the limit.
                    yield KEEP_ALIVE
                if not messages.is_pending:
                    deadline.clear()
            if not messages.enforces and (last_event := reader.finish()):
                yield await self._rule(last_event, headers, messages, outcome)
            outcome.is_whole = True
        except _ENDS as error:
            outcome.is_resumable &= isinstance(error, (ByteBudgetError, UpstreamError))
            outcome.reason = self._report_end(error, messages, headers)
        finally:
            await chunks.aclose()
            end = _end(messages, outcome)
        if end:
            yield end

    async def relay_encoded(
        self,
        response: UpstreamResponse,
        decoder: BodyDecoder,
        headers: RawHeaders,
        messages: HttpMessages,
        held_bytes: HeldBytes,
    ) -> AsyncGenerator[bytes]:
        """Yield the body of *response* as it was sent, each chunk after its events are checked.

        Raises:
            ByteBudgetError: the budget of held bytes is exhausted.
            UpstreamError: the body is incomplete.
        """
        reader = EventReader(self._max_bytes, splits_long_events=True)
        outcome, is_decoded = _Outcome(), True
        try:
            async for chunk in response.chunks():
                await held_bytes.grow(len(chunk))
                try:
                    for piece in decoder.decode(chunk) if is_decoded else ():
                        for event in reader.feed(piece):
                            await self._rule(event, headers, messages, outcome)
                except EncodingError as error:
                    is_decoded = False
                    messages.report("NOT_VALIDATED", str(error))
                yield chunk
                held_bytes.shrink(reader.buffered_bytes)
        finally:
            messages.answer()

    async def _rule(
        self, event: Event, headers: RawHeaders, messages: HttpMessages, outcome: "_Outcome"
    ) -> bytes:
        """Return the text of *event* for the client, empty to send nothing."""
        outcome.is_resumable = outcome.is_resumable or event.has_id
        if event.is_part and not outcome.has_parts:
            outcome.has_parts = True
            self._report_long_event(Action.PASSED)
        if messages.rejects_endpoint(event):
            return b""
        ruling = await messages.rule_event(event)
        if ruling.reply is not None:
            await self._send(headers, ruling.reply)
        return ruling.text or b""

    def _report_end(self, error: Exception, messages: HttpMessages, headers: RawHeaders) -> str:
        """Report the *error* that ends a stream; return its text."""
        match error:
            case TimeoutError():
                self._timeouts.cancel(messages, headers)
                return self._timeouts.reason
            case EventTooLongError():
                return self._report_long_event(Action.REJECTED)
            case LockFileError():
                return self._add("PINS_NOT_WRITTEN", str(error))
            case ByteBudgetError():
                return self._add("TOO_MANY_BYTES", str(error))
            case EncodingError():
                return self._add("NOT_VALIDATED", str(error))
            case _:
                return self._add("UPSTREAM_UNAVAILABLE", _BROKEN)

    def _report_long_event(self, action: Action) -> str:
        note = f"an event is larger than {self._max_bytes:,} bytes (--max-message-bytes)"
        return self._add("MESSAGE_TOO_LONG", note, action)

    async def _send(self, headers: RawHeaders, reply: bytes) -> None:
        """Send *reply*, the error of a request that arrived in a stream, to the server."""
        reply_headers = build_request_headers(end_to_end_headers(headers, BODY_HEADERS), {})
        try:
            async with asyncio.timeout(_REPLY_SECONDS):
                response = await self._upstream.send(
                    "POST", self._upstream.target, reply_headers, reply
                )
                response.close()
        except (UpstreamError, TimeoutError):
            self._add("UPSTREAM_UNAVAILABLE", "the server does not respond to a reply")

    def _add(self, code: str, note: str, action: Action = Action.REJECTED) -> str:
        self._report.add(Finding(sender="server", code=code, action=action, note=note))
        return note


def _end(messages: HttpMessages, outcome: _Outcome) -> bytes:
    """Return the event to end a stream with; empty for none."""
    if outcome.has_parts:
        # The response may have been in the parts.
        messages.answer()
        return b""
    if outcome.is_whole and messages.is_pending and not messages.enforces:
        if not outcome.is_resumable:
            messages.end_without_response(200)
        return b""
    if outcome.is_whole:
        outcome.reason = WITHOUT_RESPONSE
    end = messages.end_events(is_resumable=outcome.is_resumable, reason=outcome.reason)
    if end and outcome.is_whole:
        messages.report("REQUEST_NOT_ANSWERED", outcome.reason)
    return end
