"""Connections to one server over HTTP, used again one after the other."""

import ssl
from collections import deque
from collections.abc import AsyncIterable, AsyncIterator, Iterator
from contextlib import contextmanager

import httpcore
import httpx

from sidecheck_server.proxy.http_headers import RawHeaders

__all__ = ["HttpPool"]

_TIMEOUTS = {"connect": 10.0, "write": 60.0}
"""In seconds; a response may take as long as it does."""

_IDLE_SECONDS = 2.0
"""How long an idle connection is used again; servers close them after 5 seconds and more."""

_ERRORS = (
    httpcore.NetworkError,
    httpcore.ProtocolError,
    httpcore.TimeoutException,
    httpcore.UnsupportedProtocol,
)


class HttpPool:
    """Connections to the server at *url*, as many as there are requests at a time.

    The pool of httpcore looks at all connections for each request; the cost of a request here
    does not depend on their number. It sends what it is given: no header is added, and no cookie
    is kept. Belongs to one event loop.
    """

    def __init__(self, url: httpx.URL) -> None:
        self._url = httpcore.URL(
            scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=b"/"
        )
        self._ssl_context = ssl.create_default_context() if url.scheme == "https" else None
        #: Idle connections, the last that was used at the end.
        self._idle: deque[httpcore.AsyncHTTPConnection] = deque()

    async def send(
        self, method: bytes, target: bytes, headers: RawHeaders, body: bytes | None
    ) -> httpx.Response:
        """Return the response, whose body is yet to be read; close it.

        Raises:
            httpx.TransportError: there is none.
        """
        request = httpcore.Request(
            method,
            self._url,
            headers=headers,
            content=body,
            extensions={"timeout": _TIMEOUTS, "target": target},
        )
        connection = await self._take()
        with _errors_of_httpx():
            response = await connection.handle_async_request(request)
        assert isinstance(response.stream, AsyncIterable)
        stream = _Body(self, connection, response)
        return httpx.Response(response.status, headers=response.headers, stream=stream)

    async def put(self, connection: httpcore.AsyncHTTPConnection) -> None:
        """Take back *connection*, after its response was closed."""
        if connection.is_idle():
            self._idle.append(connection)
        while self._idle and self._idle[0].has_expired():
            await self._idle.popleft().aclose()

    async def close(self) -> None:
        """Close the idle connections."""
        while self._idle:
            await self._idle.pop().aclose()

    async def _take(self) -> httpcore.AsyncHTTPConnection:
        while self._idle:
            connection = self._idle.pop()
            if not connection.has_expired():
                return connection
            await connection.aclose()
        return httpcore.AsyncHTTPConnection(
            self._url.origin, ssl_context=self._ssl_context, keepalive_expiry=_IDLE_SECONDS
        )


class _Body(httpx.AsyncByteStream):
    """The body of a response, at whose end the connection returns to the pool."""

    def __init__(
        self,
        pool: HttpPool,
        connection: httpcore.AsyncHTTPConnection,
        response: httpcore.Response,
    ) -> None:
        self._pool = pool
        self._connection = connection
        self._response = response
        self._is_closed = False

    async def __aiter__(self) -> AsyncIterator[bytes]:
        with _errors_of_httpx():
            async for chunk in self._response.aiter_stream():
                yield chunk

    async def aclose(self) -> None:
        if not self._is_closed:
            self._is_closed = True
            await self._response.aclose()
            await self._pool.put(self._connection)


@contextmanager
def _errors_of_httpx() -> Iterator[None]:
    try:
        yield
    except _ERRORS as error:
        raise httpx.TransportError(str(error)) from error
