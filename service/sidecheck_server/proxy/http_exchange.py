"""Headers and bodies between a client of HTTP, the proxy and the server that it was given."""

import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping

import httpx
import msgspec
from starlette.background import BackgroundTask
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

__all__ = [
    "BodyTooLargeError",
    "Upstream",
    "media_type",
    "problem",
    "read_body",
    "read_response",
    "response_headers",
    "streamed",
]

_NOT_PASSED = frozenset(
    {
        # Of one connection (RFC 9110, section 7.6.1).
        "connection",
        "keep-alive",
        "proxy-authenticate",
        "proxy-authorization",
        "proxy-connection",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
        # Of the message as this process sends it.
        "content-encoding",
        "content-length",
        "accept-encoding",
        "host",
    }
)
_CONNECT_SECONDS = 10.0
_WRITE_SECONDS = 60.0


class BodyTooLargeError(Exception):
    """A body is larger than the limit."""


async def read_body(request: Request, limit: int) -> bytes:
    """Return the body of *request*.

    Raises:
        BodyTooLargeError: it has more than *limit* bytes.
        ClientDisconnect: the client is gone.
    """
    pieces, size = [], 0
    async for chunk in request.stream():
        size += len(chunk)
        if size > limit:
            raise BodyTooLargeError
        pieces.append(chunk)
    return b"".join(pieces)


async def read_response(response: httpx.Response, limit: int) -> bytes:
    """Return the body of *response*, and close it.

    Raises:
        BodyTooLargeError: it has more than *limit* bytes.
        httpx.HTTPError: it broke off.
    """
    pieces, size = [], 0
    try:
        async for chunk in response.aiter_bytes():
            size += len(chunk)
            if size > limit:
                raise BodyTooLargeError
            pieces.append(chunk)
    finally:
        await response.aclose()
    return b"".join(pieces)


def media_type(response: httpx.Response) -> str:
    """Return the media type of *response*, without its parameters."""
    kind: str = response.headers.get("content-type", "")
    return kind.partition(";")[0].strip().lower()


def response_headers(response: httpx.Response) -> dict[str, str]:
    """Return the headers of *response* that are passed on."""
    return {k: v for k, v in response.headers.items() if k not in _NOT_PASSED}


def problem(status: int, text: str, error: bytes | None = None) -> Response:
    """Return the response to a request that is not relayed: *error*, or one that says *text*."""
    if error is None:
        body = {"jsonrpc": "2.0", "error": {"code": -32000, "message": text}}
        error = msgspec.json.encode(body)
    return Response(error, status, media_type="application/json")


def streamed(
    response: httpx.Response,
    body: AsyncIterator[bytes],
    release: Callable[[], Awaitable[None]] | None = None,
) -> Response:
    """Return *response* with another *body*; close it at the end, and *release* what it held."""

    async def end() -> None:
        await response.aclose()
        if release is not None:
            await release()

    async def relay() -> AsyncIterator[bytes]:
        try:
            async for chunk in body:
                yield chunk
        except httpx.HTTPError:
            # Nothing but a body that ends too early can say so any more.
            raise ConnectionResetError from None
        finally:
            await end()

    return StreamingResponse(
        relay(), response.status_code, response_headers(response), background=BackgroundTask(end)
    )


class Upstream:
    """The server at *url*, and what else its host answers. Belongs to one event loop."""

    def __init__(self, url: str) -> None:
        self.url = httpx.URL(url)
        timeout = httpx.Timeout(None, connect=_CONNECT_SECONDS, write=_WRITE_SECONDS)
        limits = httpx.Limits(max_connections=None)
        # The environment's proxies are for the outside; its certificates apply.
        self._client = httpx.AsyncClient(
            timeout=timeout, limits=limits, trust_env=False, verify=ssl.create_default_context()
        )

    async def send(
        self, method: str, path: str, query: str, headers: Mapping[str, str], body: bytes | None
    ) -> httpx.Response:
        """Return the response, whose body is yet to be read; close it.

        Raises:
            httpx.HTTPError: there is none.
        """
        url = self.url.copy_with(path=path, query=query.encode() or None)
        passed = {k: v for k, v in headers.items() if k.lower() not in _NOT_PASSED}
        request = self._client.build_request(
            method, url, headers={**passed, "accept-encoding": "identity"}, content=body
        )
        return await self._client.send(request, stream=True)

    async def close(self) -> None:
        """Close all connections."""
        await self._client.aclose()
