"""Requests and bodies between a client of HTTP, the proxy and the server that it was given."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Coroutine
from typing import Any, TypeVar
from urllib.parse import unquote

import httpx
import msgspec
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from sidecheck_server.proxy.http_headers import (
    BODY_HEADERS,
    ENCODINGS,
    RawHeaders,
    passed_headers,
)
from sidecheck_server.proxy.http_pool import HttpPool

__all__ = [
    "BodyTooLargeError",
    "Upstream",
    "content_of",
    "media_type",
    "problem",
    "read_body",
    "read_response",
    "relayed",
    "replaced",
    "while_connected",
]

_WITH_BODY = {"POST", "PUT", "PATCH"}

Value = TypeVar("Value")


class BodyTooLargeError(Exception):
    """A body is larger than the limit."""


async def read_body(request: Request, limit: int) -> bytes:
    """Return the body of *request*.

    Raises:
        BodyTooLargeError: it has more than *limit* bytes.
        ClientDisconnect: the client is gone.
    """
    return await _join(request.stream(), limit)


async def read_response(response: httpx.Response, limit: int) -> bytes:
    """Return the body of *response*, and close it.

    Raises:
        BodyTooLargeError: it has more than *limit* bytes.
        httpx.HTTPError: it broke off, or cannot be decoded.
    """
    try:
        return await _join(content_of(response), limit)
    finally:
        await response.aclose()


async def content_of(response: httpx.Response) -> AsyncIterator[bytes]:
    """Yield the body of *response* as it comes, decoded.

    Raises:
        httpx.HTTPError: it broke off, or cannot be decoded.
    """
    encodings = response.headers.get("content-encoding", "").split(",")
    if not ENCODINGS.issuperset(encoding.strip().lower() for encoding in encodings):
        raise httpx.DecodingError("the content encoding is unknown")
    async for chunk in response.aiter_bytes():
        yield chunk


async def _join(chunks: AsyncIterator[bytes], limit: int) -> bytes:
    pieces, size = [], 0
    async for chunk in chunks:
        size += len(chunk)
        if size > limit:
            raise BodyTooLargeError
        pieces.append(chunk)
    return b"".join(pieces)


async def while_connected(request: Request, work: Coroutine[Any, Any, Value]) -> Value:
    """Return the result of *work*, which is cancelled if the client is gone before.

    The body of *request* has been read.

    Raises:
        ClientDisconnect: the client is gone.
    """
    task = asyncio.ensure_future(work)
    gone = asyncio.ensure_future(_wait_until_gone(request))
    try:
        await asyncio.wait({task, gone}, return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            return task.result()
        raise ClientDisconnect
    finally:
        gone.cancel()
        if not task.done():
            task.cancel()
            await asyncio.wait({task})


async def _wait_until_gone(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


def media_type(response: httpx.Response) -> str:
    """Return the media type of *response*, without its parameters."""
    kind: str = response.headers.get("content-type", "")
    return kind.partition(";")[0].strip().lower()


def problem(status: int, text: str, error: bytes | None = None) -> Response:
    """Return the response to a request that is not relayed: *error*, or one that says *text*."""
    if error is None:
        body = {"jsonrpc": "2.0", "error": {"code": -32000, "message": text}}
        error = msgspec.json.encode(body)
    return Response(error, status, media_type="application/json")


def replaced(response: httpx.Response, body: bytes) -> Response:
    """Return *response* with the whole *body*."""
    made = Response(body, response.status_code)
    made.raw_headers += passed_headers(response.headers.raw, BODY_HEADERS)
    return made


def relayed(
    response: httpx.Response,
    body: AsyncGenerator[bytes] | None = None,
    release: Callable[[], Awaitable[None]] | None = None,
) -> Response:
    """Return *response* as it comes, or with another *body*.

    At the end, also if that is not reached, it is closed, and *release* is called.
    """
    excluded = frozenset[bytes]() if body is None else BODY_HEADERS
    headers = passed_headers(response.headers.raw, excluded)
    return _Relayed(response, headers, body, release)


class _Relayed(StreamingResponse):
    """A response of the server that is passed on as it comes."""

    def __init__(
        self,
        response: httpx.Response,
        headers: RawHeaders,
        body: AsyncGenerator[bytes] | None,
        release: Callable[[], Awaitable[None]] | None,
    ) -> None:
        self._response = response
        self._body = body
        self._release = release
        super().__init__(self._chunks(), response.status_code)
        self.raw_headers += headers

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            # Outside of what is cancelled when the client is gone.
            if self._body is not None:
                await self._body.aclose()
            await self._response.aclose()
            if self._release is not None:
                await self._release()

    async def _chunks(self) -> AsyncIterator[bytes]:
        try:
            async for chunk in self._response.aiter_raw() if self._body is None else self._body:
                yield chunk
        except httpx.HTTPError:
            # Nothing but a body that ends too early can say so any more.
            raise ConnectionResetError from None


class Upstream:
    """The server at *url*, and what else its host answers. Belongs to one event loop."""

    def __init__(self, url: str) -> None:
        self.url = httpx.URL(url)
        self._place = _place(self.url.raw_path.partition(b"?")[0])
        self._pool = HttpPool(self.url)
        credentials = httpx.BasicAuth(self.url.username, self.url.password)
        request = next(credentials.auth_flow(httpx.Request("GET", self.url)))
        self._authorization = (
            request.headers["authorization"].encode() if self.url.userinfo else b""
        )

    @property
    def target(self) -> bytes:
        """The path and query of the server."""
        return self.url.raw_path

    def is_server(self, path: bytes) -> bool:
        """Return whether servers may take *path* for that of this server.

        They differ in whether case, escapes, empty segments and a slash at the end count.
        """
        return _place(path) == self._place

    def target_of(self, path: bytes, query: bytes) -> bytes:
        """Return *path* with *query*, and with that of the server if it is its path."""
        own = self.url.query if self.is_server(path) else b""
        queries = b"&".join(part for part in (own, query) if part)
        return path + b"?" + queries if queries else path

    def target_at(self, location: str | None) -> str | None:
        """Return the path and query of the URL *location*, None if it is of another host."""
        try:
            url = self.url.join(location or "")
        except httpx.InvalidURL:
            return None
        is_own = (url.scheme, url.netloc) == (self.url.scheme, self.url.netloc)
        return url.raw_path.decode("ascii") if is_own else None

    async def send(
        self, method: str, target: bytes, headers: RawHeaders, body: bytes | None
    ) -> httpx.Response:
        """Return the response, whose body is yet to be read; close it.

        Raises:
            httpx.HTTPError: there is none.
        """
        if self._authorization and all(name != b"authorization" for name, _ in headers):
            headers = [*headers, (b"authorization", self._authorization)]
        framed = [(b"host", self.url.netloc), *headers]
        if body is not None or method in _WITH_BODY:
            framed.append((b"content-length", b"%d" % len(body or b"")))
        return await self._pool.send(method.encode(), target, framed, body)

    async def close(self) -> None:
        """Close all connections."""
        await self._pool.close()


def _place(path: bytes) -> list[str]:
    segments: list[str] = []
    for segment in unquote(path.decode("latin-1")).lower().replace("\\", "/").split("/"):
        if segment == "..":
            del segments[-1:]
        elif segment not in {"", "."}:
            segments.append(segment)
    return segments
