"""HTTP requests of clients, and the responses that the proxy relays or creates."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Coroutine
from typing import Any, TypeVar

import msgspec
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse
from starlette.types import Message, Receive, Scope, Send

from sidecheck_server.proxy.http.bounds import HttpBounds
from sidecheck_server.proxy.http.bytes import ByteBudgetError, HeldBytes
from sidecheck_server.proxy.http.headers import BODY_HEADERS, RawHeaders, end_to_end_headers
from sidecheck_server.proxy.http.upstream import BodyTooLargeError, UpstreamError, UpstreamResponse

__all__ = [
    "CountedRequest",
    "problem_response",
    "relay_response",
    "replace_body",
    "run_while_connected",
    "send_in_pieces",
]

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
        self._pieces = self.stream()
        #: Pieces of a body over the limit.
        self._read_pieces: list[bytes] = []

    async def read(self, limit: int) -> bytes:
        """Return the body.

        Raises:
            BodyTooLargeError: it has more than *limit* bytes; `rest` has it.
            ByteBudgetError: the budget of held bytes is exhausted.
            ClientDisconnect: the client is gone.
        """
        pieces, size = [], 0
        async for piece in self._pieces:
            size += len(piece)
            pieces.append(piece)
            if size > limit:
                self._read_pieces = pieces
                raise BodyTooLargeError
            await self.body_bytes.grow(len(piece))
        return b"".join(pieces)

    async def rest(self) -> AsyncIterator[bytes]:
        """Yield a body over the limit of `read`, from its start.

        Raises:
            ClientDisconnect: the client is gone.
        """
        while self._read_pieces:
            yield self._read_pieces.pop(0)
        self.body_bytes.shrink()
        async for piece in self._pieces:
            yield piece

    def release(self) -> None:
        """Return the bytes of the request and its response to the budgets."""
        self.body_bytes.shrink()
        self.response_bytes.shrink()


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
    *,
    keeps_encoding: bool = False,
) -> Response:
    """Return a streaming copy of *response* to *request*, or one with another *body*.

    With *keeps_encoding*, *body* has the encoding and length of *response*. After it is sent, or
    the client disconnects, *response* is closed and *release* is called.
    """
    if body is None and response.is_read:
        # Its bytes are counted, and would be counted again as they are sent.
        result = Response(response.read_bytes(), response.status)
        result.raw_headers += end_to_end_headers(response.raw_headers, {b"content-length"})
        return result
    excluded = frozenset[bytes]() if body is None or keeps_encoding else BODY_HEADERS
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
                if chunk:
                    yield chunk
        except (UpstreamError, ByteBudgetError):
            # The head is sent, so only an incomplete body can signal the error to the client.
            raise ConnectionResetError from None
