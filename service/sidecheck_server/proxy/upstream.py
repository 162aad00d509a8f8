"""The server behind the proxy, over HTTP, and its responses."""

import re
import zlib
from base64 import b64encode
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import contextmanager
from typing import Final
from urllib.parse import unquote

import aiohttp
from yarl import URL

from sidecheck_server.proxy.http_bytes import BytesHeld
from sidecheck_server.proxy.http_headers import RawHeaders, combine

__all__ = ["BodyTooLargeError", "Upstream", "UpstreamError", "UpstreamResponse", "join_chunks"]

_TIMEOUTS: Final = aiohttp.ClientTimeout(total=None, connect=10.0)
"""In seconds; a response may take as long as it does."""

_IDLE_SECONDS: Final = 2.0
"""How long an idle connection is used again; servers close them after 5 seconds and more."""

_HEAD_BYTES: Final = 1 << 16
"""Limit of the status line and of each header of a response."""

_DECODED_BYTES: Final = 1 << 18
"""Limit of what is decoded at a time."""

_OWN_TARGET: Final = re.compile(r"/(?!/)[!-\[\]-~]*+")
"""A path and query that no reader takes for another host: browsers read ``\\`` as ``/``."""

_REDIRECTIONS: Final = frozenset({301, 302, 303, 307, 308})

_CHOSEN_BY_LIBRARY: Final = ("Accept", "Accept-Encoding", "Content-Type", "User-Agent")
"""Headers that the library adds where the client of the proxy has sent none."""


class UpstreamError(Exception):
    """The server does not respond, or its response breaks off or cannot be decoded."""


class BodyTooLargeError(Exception):
    """A body is larger than the limit."""


async def join_chunks(
    chunks: AsyncIterator[bytes], limit: int, held: BytesHeld | None = None
) -> bytes:
    """Return *chunks* as one text, whose bytes *held* counts as they come.

    Raises:
        BodyTooLargeError: it has more than *limit* bytes.
        NoRoomError: as many bytes cannot be held now.
    """
    pieces, size = [], 0
    async for chunk in chunks:
        size += len(chunk)
        if size > limit:
            raise BodyTooLargeError
        if held is not None:
            await held.grow(len(chunk))
        pieces.append(chunk)
    return b"".join(pieces)


class UpstreamResponse:
    """A response of the server, whose body is yet to be read. It must be closed."""

    def __init__(self, response: aiohttp.ClientResponse) -> None:
        self._response = response
        self.status: int = response.status
        #: By lower-case names.
        self.headers: Mapping[str, str] = combine(response.raw_headers)
        self.raw_headers: RawHeaders = [*response.raw_headers]
        #: Whether the body was read.
        self.is_read = False

    @property
    def media_type(self) -> str:
        """The media type of the body, without its parameters."""
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()

    @property
    def is_success(self) -> bool:
        """Whether the server accepted the request (RFC 9110, section 15.3)."""
        return 200 <= self.status < 300

    @property
    def location(self) -> str | None:
        """Where a redirection leads to (RFC 9110, section 15.4), None for other responses."""
        return self.headers.get("location") if self.status in _REDIRECTIONS else None

    def set_header(self, name: bytes, value: bytes) -> None:
        """Let *name*, in lower case, have this value and no other."""
        kept = [(other, old) for other, old in self.raw_headers if other.lower() != name]
        self.raw_headers = [*kept, (name, value)]

    def lead_to(self, location: str) -> None:
        """Let a redirection lead to *location*."""
        self.raw_headers = [
            (name, location.encode() if name.lower() == b"location" else value)
            for name, value in self.raw_headers
        ]

    async def read(self, limit: int, held: BytesHeld | None = None) -> bytes:
        """Return the whole body, decoded, and close the response.

        Raises:
            BodyTooLargeError: it has more than *limit* bytes.
            NoRoomError: *held* cannot count as many bytes now.
            UpstreamError: it broke off, or cannot be decoded.
        """
        try:
            text = await join_chunks(self.decoded(), limit, held)
        finally:
            self.close()
        self.is_read = True
        return text

    async def chunks(self) -> AsyncIterator[bytes]:
        """Yield the body as it comes, in the encoding that it has.

        Raises:
            UpstreamError: it broke off.
        """
        content = self._response.content
        with _errors_of_server():
            try:
                async for chunk in content.iter_any():
                    yield chunk
            except aiohttp.ClientError:
                # The library raises the error of a break before it returns what came until then.
                if rest := content._read_nowait(-1):  # noqa: SLF001
                    yield rest
                raise

    async def decoded(self) -> AsyncIterator[bytes]:
        """Yield the body as it comes, decoded.

        Raises:
            UpstreamError: it broke off, or cannot be decoded.
        """
        encoding = self.headers.get("content-encoding", "").strip().lower()
        if encoding in {"", "identity"}:
            async for chunk in self.chunks():
                yield chunk
            return
        if encoding not in {"gzip", "deflate"}:
            raise UpstreamError("the content encoding is unknown")
        decoder = zlib.decompressobj(zlib.MAX_WBITS | 32)  # reads the headers of both
        async for chunk in self.chunks():
            rest = chunk
            while rest:
                with _errors_of_server():
                    piece = decoder.decompress(rest, _DECODED_BYTES)
                if piece:
                    yield piece
                rest = decoder.unconsumed_tail
        if not decoder.eof:
            raise UpstreamError("the encoded body is not complete")

    def close(self) -> None:
        """Give back the connection, or close it if the body was not read to its end."""
        self._response.release()


class Upstream:
    """The server at *url*, and what else its host answers. Belongs to one event loop.

    It sends what it is given: no header is added, and no cookie is kept. There are as many
    connections as requests at a time.
    """

    def __init__(self, url: str) -> None:
        # The path and the query are sent as they were given.
        parsed, encoded = URL(url, encoded=True), URL(url)
        self._place = _place(parsed.raw_path.encode())
        self._query = parsed.raw_query_string.encode()
        self._authorization = _basic_credentials(encoded)
        self._origin = encoded.origin()
        self._host = encoded.host_port_subcomponent or ""
        #: The path and query of the server.
        self.target = self.target_of(parsed.raw_path.encode(), b"")
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=_IDLE_SECONDS),
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,
            skip_auto_headers=_CHOSEN_BY_LIBRARY,
            timeout=_TIMEOUTS,
            max_line_size=_HEAD_BYTES,
            max_field_size=_HEAD_BYTES,
        )

    def is_server(self, path: bytes) -> bool:
        """Return whether servers may take *path* for that of this server.

        They differ in whether case, escapes, empty segments and a slash at the end count.
        """
        return _place(path) == self._place

    def target_of(self, path: bytes, query: bytes) -> bytes:
        """Return *path* with *query*, and with that of the server if it is its path."""
        own = self._query if self.is_server(path) else b""
        queries = b"&".join(part for part in (own, query) if part)
        return path + b"?" + queries if queries else path

    def target_at(self, location: str) -> str | None:
        """Return the path and query of the URL *location*, None if it is of another host."""
        try:
            url = self._url(self.target).join(URL(location, encoded=True))
            is_own = _host_of(url) == _host_of(self._origin)
        except ValueError:
            return None
        target = url.raw_path_qs
        return target if is_own and _OWN_TARGET.fullmatch(target) else None

    async def send(
        self, method: str, target: bytes, headers: RawHeaders, body: bytes | None
    ) -> UpstreamResponse:
        """Return the response; close it.

        Raises:
            UpstreamError: there is none.
        """
        sent = [("Host", self._host)]
        sent += [(name.decode("latin-1"), value.decode()) for name, value in headers]
        if self._authorization and all(name != b"authorization" for name, _ in headers):
            sent.append(("Authorization", self._authorization))
        with _errors_of_server():
            response = await self._session.request(
                method, self._url(target), headers=sent, data=body, allow_redirects=False
            )
        return UpstreamResponse(response)

    async def close(self) -> None:
        """Close all connections."""
        await self._session.close()

    def _url(self, target: bytes) -> URL:
        return URL(f"{self._origin}{target.decode('latin-1')}", encoded=True)


@contextmanager
def _errors_of_server() -> Iterator[None]:
    try:
        yield
    except (aiohttp.ClientError, OSError, zlib.error) as error:
        raise UpstreamError(str(error)) from error


def _host_of(url: URL) -> tuple[str, str | None, int | None]:
    """Return what leads to the host of *url*, however it is spelled."""
    return url.scheme, url.host, url.port


def _basic_credentials(url: URL) -> str:
    """Return the header value for the credentials in *url*, empty without any (RFC 7617)."""
    if url.raw_user is None:
        return ""
    credentials = f"{url.user}:{url.password or ''}".encode()
    return f"Basic {b64encode(credentials).decode()}"


def _place(path: bytes) -> list[str]:
    segments: list[str] = []
    for segment in unquote(path.decode("latin-1")).lower().replace("\\", "/").split("/"):
        if segment == "..":
            del segments[-1:]
        elif segment not in {"", "."}:
            segments.append(segment)
    return segments
