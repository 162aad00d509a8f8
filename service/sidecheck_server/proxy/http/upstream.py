"""HTTP client for the server behind the proxy."""

import re
from base64 import b64encode
from collections import deque
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import contextmanager
from typing import Final
from urllib.parse import unquote

import aiohttp
from yarl import URL

from sidecheck_server.proxy.http.bytes import HeldBytes
from sidecheck_server.proxy.http.encodings import BodyDecoder, content_encoding
from sidecheck_server.proxy.http.headers import RawHeaders, combine

__all__ = [
    "BodyTooLargeError",
    "Upstream",
    "UpstreamError",
    "UpstreamResponse",
    "decode_body",
]

_TIMEOUTS: Final = aiohttp.ClientTimeout(total=None, connect=10.0)
"""Timeouts in seconds; responses have none."""

_IDLE_SECONDS: Final = 2.0
"""Seconds to keep an idle connection for reuse; servers close theirs after 5 seconds or more."""

_HEAD_BYTES: Final = 1 << 16
"""Maximum size of the status line, and of each header, of a response."""

_SAFE_TARGET: Final = re.compile(r"/(?!/)[!-\[\]-~]*+")
"""A path and query that no reader resolves to another host: browsers read ``\\`` as ``/``."""

_REDIRECTIONS: Final = frozenset({301, 302, 303, 307, 308})

_AUTOMATIC_HEADERS: Final = ("Accept", "Accept-Encoding", "Content-Type", "User-Agent")
"""Headers that aiohttp would add if the client of the proxy sent none."""


class UpstreamError(Exception):
    """The server does not respond, or its response is incomplete."""


class BodyTooLargeError(Exception):
    """A body is larger than the limit."""


def decode_body(body: bytes, encoding: str, limit: int) -> bytes:
    """Return *body* in the content *encoding*, decoded.

    Raises:
        BodyTooLargeError: the decoded body has more than *limit* bytes.
        EncodingError: the body cannot be decoded.
    """
    if not encoding:
        return body
    decoder = BodyDecoder(encoding)
    pieces, size = [], 0
    for piece in decoder.decode(body):
        size += len(piece)
        if size > limit:
            raise BodyTooLargeError
        pieces.append(piece)
    decoder.finish()
    return b"".join(pieces)


class UpstreamResponse:
    """Response of the server with an unread body; must be closed."""

    def __init__(self, response: aiohttp.ClientResponse) -> None:
        self._response = response
        self.status: int = response.status
        #: Keyed by lower-case name.
        self.headers: Mapping[str, str] = combine(response.raw_headers)
        self.raw_headers: RawHeaders = [*response.raw_headers]
        #: Whether the body was read.
        self.is_read = False
        #: Parts of the body that were read, and that `chunks` has not yielded since.
        self._read_chunks: deque[bytes] = deque()

    @property
    def media_type(self) -> str:
        """Media type of the body, without parameters."""
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()

    @property
    def is_success(self) -> bool:
        """Whether the server accepted the request (RFC 9110, section 15.3)."""
        return 200 <= self.status < 300

    @property
    def location(self) -> str | None:
        """Location of a redirection (RFC 9110, section 15.4), None for other responses."""
        return self.headers.get("location") if self.status in _REDIRECTIONS else None

    def set_header(self, name: bytes, value: bytes) -> None:
        """Replace all headers *name*, in lower case, by one with *value*."""
        headers = [header for header in self.raw_headers if header[0].lower() != name]
        self.raw_headers = [*headers, (name, value)]

    def set_location(self, location: str) -> None:
        """Replace the location of a redirection by *location*."""
        self.raw_headers = [
            (name, location.encode() if name.lower() == b"location" else value)
            for name, value in self.raw_headers
        ]

    @property
    def encoding(self) -> str:
        """Content encoding of the body, "" for the identity."""
        return content_encoding(self.headers)

    async def read(self, limit: int, held_bytes: HeldBytes | None = None) -> bytes:
        """Return the whole body, decoded; `read_bytes` and `chunks` have it as it was sent.

        Raises:
            BodyTooLargeError: the body, or the decoded body, has more than *limit* bytes.
            ByteBudgetError: the budget of *held_bytes* is exhausted.
            EncodingError: the body cannot be decoded.
            UpstreamError: the body is incomplete.
        """
        size, read_chunks = 0, deque[bytes]()
        # Closed if the body is complete, or the reading fails or is cancelled, but left open for
        # the rest of a body over the limit.
        is_open = False
        try:
            async for chunk in self.chunks():
                size += len(chunk)
                read_chunks.append(chunk)
                if size > limit:
                    self._read_chunks, is_open = read_chunks, True
                    raise BodyTooLargeError
                if held_bytes is not None:
                    await held_bytes.grow(len(chunk))
        finally:
            if not is_open:
                self.close()
        self._read_chunks = read_chunks
        self.is_read = True
        return decode_body(b"".join(read_chunks), self.encoding, limit)

    def unread(self, data: bytes) -> None:
        """Put *data*, the last bytes that were read, back to the start of the rest of the body."""
        if data:
            self._read_chunks.append(data)

    def read_bytes(self) -> bytes:
        """Return the body that was read, as it was sent."""
        return b"".join(self._read_chunks)

    async def chunks(self) -> AsyncIterator[bytes]:
        """Yield the body as it arrives, without decoding it.

        Raises:
            UpstreamError: the body is incomplete.
        """
        while self._read_chunks:
            yield self._read_chunks.popleft()
        if self.is_read:
            return
        content = self._response.content
        with _translate_errors():
            try:
                async for chunk in content.iter_any():
                    yield chunk
            except aiohttp.ClientError:
                # aiohttp raises the error of a lost connection before it returns buffered bytes.
                if rest := content._read_nowait(-1):  # noqa: SLF001
                    yield rest
                raise

    async def decoded(self) -> AsyncIterator[bytes]:
        """Yield the body as it arrives, decoded.

        Raises:
            EncodingError: the body cannot be decoded.
            UpstreamError: the body is incomplete.
        """
        decoder = BodyDecoder(self.encoding)
        async for chunk in self.chunks():
            for piece in decoder.decode(chunk):
                yield piece
        decoder.finish()

    def close(self) -> None:
        """Return the connection to the pool; close it if the body is not read completely."""
        self._response.release()


class Upstream:
    """HTTP client for the server at *url* and other paths of its host.

    Belongs to one event loop. It adds no headers except Host and the credentials in *url*, keeps
    no cookies, and opens one connection for each concurrent request.
    """

    def __init__(self, url: str) -> None:
        # `encoded=True` leaves path and query as they are in *url*.
        verbatim_url, normalized_url = URL(url, encoded=True), URL(url)
        self._normalized_path = _normalize_path(verbatim_url.raw_path.encode())
        self._query = verbatim_url.raw_query_string.encode()
        self._authorization = _basic_credentials(normalized_url)
        self._origin = normalized_url.origin()
        self._host = normalized_url.host_port_subcomponent or ""
        #: Request target (path and query) of the server.
        self.target = self.build_target(verbatim_url.raw_path.encode(), b"")
        # Decision 0072: aiohttp only pools connections; the proxy itself handles what it checks.
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=_IDLE_SECONDS),
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,
            skip_auto_headers=_AUTOMATIC_HEADERS,
            timeout=_TIMEOUTS,
            max_line_size=_HEAD_BYTES,
            max_field_size=_HEAD_BYTES,
        )

    def is_server(self, path: bytes) -> bool:
        """Return whether *path* may be the path of this server.

        Servers differ in whether they distinguish case, escapes, empty segments and a trailing
        slash, so all of these are ignored.
        """
        return _normalize_path(path) == self._normalized_path

    def build_target(self, path: bytes, query: bytes) -> bytes:
        """Return *path* with *query*, and with the server's query if *path* is its path."""
        server_query = self._query if self.is_server(path) else b""
        queries = b"&".join(part for part in (server_query, query) if part)
        return path + b"?" + queries if queries else path

    def resolve_location(self, location: str) -> str | None:
        """Return path and query of the URL *location*, None if it is on another host."""
        try:
            url = self._url(self.target).join(URL(location, encoded=True))
            is_same_host = _host_of(url) == _host_of(self._origin)
        except ValueError:
            return None
        target = url.raw_path_qs
        return target if is_same_host and _SAFE_TARGET.fullmatch(target) else None

    async def send(
        self,
        method: str,
        target: bytes,
        headers: RawHeaders,
        body: bytes | AsyncIterator[bytes] | None,
    ) -> UpstreamResponse:
        """Send a request and return the response, which the caller must close.

        Raises:
            UpstreamError: the server does not respond.
        """
        all_headers = [("Host", self._host)]
        all_headers += [(name.decode("latin-1"), value.decode()) for name, value in headers]
        if self._authorization and all(name != b"authorization" for name, _ in headers):
            all_headers.append(("Authorization", self._authorization))
        with _translate_errors():
            response = await self._session.request(
                method, self._url(target), headers=all_headers, data=body, allow_redirects=False
            )
        return UpstreamResponse(response)

    async def close(self) -> None:
        """Close all connections."""
        await self._session.close()

    def _url(self, target: bytes) -> URL:
        return URL(f"{self._origin}{target.decode('latin-1')}", encoded=True)


@contextmanager
def _translate_errors() -> Iterator[None]:
    try:
        yield
    except (aiohttp.ClientError, OSError) as error:
        raise UpstreamError(str(error)) from error


def _host_of(url: URL) -> tuple[str, str | None, int | None]:
    """Return scheme, host and port of *url* in a comparable form."""
    return url.scheme, url.host, url.port


def _basic_credentials(url: URL) -> str:
    """Return the Basic credentials in *url* as a header value (RFC 7617), or ""."""
    if url.raw_user is None:
        return ""
    credentials = f"{url.user}:{url.password or ''}".encode()
    return f"Basic {b64encode(credentials).decode()}"


def _normalize_path(path: bytes) -> list[str]:
    """Return the segments of *path*: decoded, in lower case, without dot segments."""
    segments: list[str] = []
    for segment in unquote(path.decode("latin-1")).lower().replace("\\", "/").split("/"):
        if segment == "..":
            del segments[-1:]
        elif segment not in {"", "."}:
            segments.append(segment)
    return segments
