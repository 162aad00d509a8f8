"""HTTP requests of clients, and the responses that the proxy relays or creates."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Coroutine
from typing import Any, TypeVar

import msgspec
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse
from starlette.types import Message, Receive, Scope, Send

from sidecheck_server.proxy.http_bounds import HttpBounds
from sidecheck_server.proxy.http_bytes import ByteBudgetError, HeldBytes
from sidecheck_server.proxy.http_headers import (
    BODY_HEADERS,
    RawHeaders,
    build_request_headers,
    end_to_end_headers,
)
from sidecheck_server.proxy.http_messages import HttpMessages
from sidecheck_server.proxy.pins import LockFileError
from sidecheck_server.proxy.report import Action, Finding, Report
from sidecheck_server.proxy.sse import EventReader, EventTooLongError
from sidecheck_server.proxy.transcript import Transcript
from sidecheck_server.proxy.upstream import Upstream, UpstreamError, UpstreamResponse, join_chunks

__all__ = [
    "CountedRequest",
    "EventRelay",
    "problem_response",
    "read_body",
    "relay_response",
    "replace_body",
    "run_while_connected",
    "send_in_pieces",
]

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
        held_bytes: HeldBytes,
    ) -> AsyncGenerator[bytes]:
        """Yield the events of *response* as they arrive, after the ruling on each.

        *response* is to the request with *headers*. *held_bytes* counts the bytes that are read and
        not yet sent.
        """
        is_resumable = False
        if begin := messages.begin_events():
            yield begin
        reader = EventReader(self._max_bytes)
        try:
            async for chunk in response.decoded():
                await held_bytes.grow(len(chunk))
                for event in reader.feed(chunk):
                    is_resumable = is_resumable or event.has_id
                    ruling = await messages.rule_event(event)
                    if ruling.reply is not None:
                        await self._send(headers, ruling.reply)
                    if ruling.text is not None:
                        yield ruling.text
                held_bytes.shrink(reader.buffered_bytes)
        except (EventTooLongError, LockFileError, ByteBudgetError, UpstreamError) as error:
            is_resumable = is_resumable and isinstance(error, (ByteBudgetError, UpstreamError))
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
            case ByteBudgetError():
                self._add("TOO_MANY_BYTES", str(error))
            case _:
                self._add("UPSTREAM_UNAVAILABLE", "the server ended a stream early")

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

    def _add(self, code: str, note: str) -> None:
        self._report.add(Finding(sender="server", code=code, action=Action.REJECTED, note=note))


Result = TypeVar("Result")


_PIECE = 64 << 10
"""Bytes to write at a time, so that the write buffer stays small while a client reads slowly."""


class CountedRequest(Request):
    """Request that counts its bytes, and those of its response, until it is released."""

    def __init__(self, scope: Scope, receive: Receive, bounds: HttpBounds) -> None:
        super().__init__(scope, receive)
        self.rejections = bounds.rejections
        self.body_bytes = HeldBytes(bounds.requests)
        self.response_bytes = HeldBytes(bounds.responses)

    def release(self) -> None:
        """Return the bytes of the request and its response to the budgets."""
        self.body_bytes.shrink()
        self.response_bytes.shrink()


async def read_body(request: CountedRequest, limit: int) -> bytes:
    """Return the body of *request*.

    Raises:
        BodyTooLargeError: it has more than *limit* bytes.
        ByteBudgetError: the budget of held bytes is exhausted.
        ClientDisconnect: the client is gone.
    """
    return await join_chunks(request.stream(), limit, request.body_bytes)


def send_in_pieces(send: Send) -> Send:
    """Return *send* with large bodies split, so that no whole body is buffered."""

    async def send_pieces(message: Message) -> None:
        body = message.get("body", b"")
        if len(body) <= _PIECE:
            await send(message)
            return
        for start in range(0, len(body), _PIECE):
            is_last = start + _PIECE >= len(body)
            more_body = not is_last or message.get("more_body", False)
            await send({**message, "body": body[start : start + _PIECE], "more_body": more_body})

    return send_pieces


async def run_while_connected(request: Request, work: Coroutine[Any, Any, Result]) -> Result:
    """Return the result of *work*; cancel it if the client disconnects before its end.

    The body of *request* must have been read.

    Raises:
        ClientDisconnect: the client is gone.
    """
    task = asyncio.ensure_future(work)
    disconnect = asyncio.ensure_future(_wait_for_disconnect(request))
    try:
        await asyncio.wait({task, disconnect}, return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            return task.result()
        raise ClientDisconnect
    finally:
        disconnect.cancel()
        if not task.done():
            task.cancel()
            await asyncio.wait({task})


async def _wait_for_disconnect(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


def problem_response(status: int, text: str, error: bytes | None = None) -> Response:
    """Return a response with the JSON text *error*, or a JSON-RPC error with *text*."""
    if error is None:
        body = {"jsonrpc": "2.0", "error": {"code": -32000, "message": text}}
        error = msgspec.json.encode(body)
    return Response(error, status, media_type="application/json")


def replace_body(response: UpstreamResponse, body: bytes) -> Response:
    """Return *response* with *body* in place of its own."""
    result = Response(body, response.status)
    result.raw_headers += end_to_end_headers(response.raw_headers, BODY_HEADERS)
    return result


def relay_response(
    request: CountedRequest,
    response: UpstreamResponse,
    body: AsyncGenerator[bytes] | None = None,
    release: Callable[[], Awaitable[None]] | None = None,
) -> Response:
    """Return a streaming copy of *response* to *request*, or one with another *body*.

    After it is sent, or the client disconnects, *response* is closed and *release* is called.
    """
    excluded = frozenset[bytes]() if body is None else BODY_HEADERS
    headers = end_to_end_headers(response.raw_headers, excluded)
    return _RelayedResponse(response, headers, body or _count_body(request, response), release)


async def _count_body(request: CountedRequest, response: UpstreamResponse) -> AsyncGenerator[bytes]:
    """Yield the body of *response* as it arrives; count each chunk until it is sent."""
    try:
        async for chunk in response.chunks():
            await request.response_bytes.grow(len(chunk))
            yield chunk
            request.response_bytes.shrink()
    except ByteBudgetError as error:
        request.rejections.add("TOO_MANY_BYTES", str(error), "server")
        raise


class _RelayedResponse(StreamingResponse):
    """Response of the server, sent to the client as it arrives."""

    def __init__(
        self,
        response: UpstreamResponse,
        headers: RawHeaders,
        body: AsyncGenerator[bytes],
        release: Callable[[], Awaitable[None]] | None,
    ) -> None:
        self._response = response
        self._body = body
        self._release = release
        super().__init__(self._chunks(), response.status)
        self.raw_headers += headers

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            # Starlette cancels only the task group inside `__call__` on a disconnect.
            await self._body.aclose()
            self._response.close()
            if self._release is not None:
                await self._release()

    async def _chunks(self) -> AsyncIterator[bytes]:
        try:
            async for chunk in self._body:
                yield chunk
        except (UpstreamError, ByteBudgetError):
            # The head is sent, so only an incomplete body can signal the error to the client.
            raise ConnectionResetError from None
