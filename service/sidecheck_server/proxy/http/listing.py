"""Tool lists over HTTP, which the proxy fetches with the headers of the client."""

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from hashlib import sha256
from http import HTTPStatus
from itertools import count

from sidecheck_server.proxy.http.encodings import EncodingError
from sidecheck_server.proxy.http.headers import (
    BODY_HEADERS,
    RawHeaders,
    build_request_headers,
    end_to_end_headers,
)
from sidecheck_server.proxy.http.sse import EventReader, EventTooLongError
from sidecheck_server.proxy.http.upstream import (
    BodyTooLargeError,
    Upstream,
    UpstreamError,
    UpstreamResponse,
)
from sidecheck_server.proxy.messages import Message, join_object, read_message
from sidecheck_server.proxy.rulings.listing_pages import ListingFailed, ListTools
from sidecheck_server.proxy.rulings.listings import Listings

__all__ = ["ENDED_SESSIONS", "REQUEST_HEADERS", "HttpListings"]

_MAX_IDENTITIES = 1_000
_LISTING_SECONDS = 10.0
_IDENTITY_HEADERS = ("authorization", "cookie", "mcp-session-id")

REQUEST_HEADERS: ContextVar[RawHeaders] = ContextVar("REQUEST_HEADERS")
"""Headers of the current client request, for requests that the proxy makes on its behalf."""

ENDED_SESSIONS: ContextVar[list[bytes]] = ContextVar("ENDED_SESSIONS")
"""Receives the body of a 404 to a request that the proxy makes in the session of the client: the
client must learn that its session has ended."""


class HttpListings:
    """Cache of tool lists by client identity: a server may list different tools to each."""

    def __init__(
        self, upstream: Upstream, create: Callable[[ListTools], Listings], max_bytes: int
    ) -> None:
        self._upstream = upstream
        self._create = create
        self._max_bytes = max_bytes
        self._ids = count(1)
        self._listings: OrderedDict[bytes, Listings] = OrderedDict()

    def create_tools(self) -> Listings:
        """Return new listings, which no other session shares."""
        return self._create(self._list_tools)

    def find_tools(self, headers: Mapping[str, str]) -> Listings:
        """Return the tools of the client that sends *headers*."""
        identity = "\n".join(headers.get(name, "") for name in _IDENTITY_HEADERS)
        key = sha256(identity.encode("utf-8", "surrogateescape")).digest()
        listings = self._listings.get(key)
        if listings is None:
            listings = self._listings[key] = self.create_tools()
            if len(self._listings) > _MAX_IDENTITIES:
                self._listings.popitem(last=False)
        self._listings.move_to_end(key)
        return listings

    async def _list_tools(self, params: Mapping[str, bytes]) -> Message:
        """Request a page of tools from the server.

        Raises:
            ListingFailed: it does not respond.
        """
        id_ = b'"sidecheck-%d"' % next(self._ids)
        request = {"jsonrpc": b'"2.0"', "id": id_, "method": b'"tools/list"'}
        if params:
            request["params"] = join_object(params)
        client_headers = end_to_end_headers(REQUEST_HEADERS.get(), BODY_HEADERS)
        headers = build_request_headers(client_headers, {b"mcp-method": b"tools/list"})
        try:
            async with asyncio.timeout(_LISTING_SECONDS):
                response = await self._upstream.send(
                    "POST", self._upstream.target, headers, join_object(request)
                )
                try:
                    if response.status == HTTPStatus.NOT_FOUND:
                        ENDED_SESSIONS.get([]).append(await response.read(self._max_bytes))
                    return await self._read(response, id_)
                finally:
                    response.close()
        except (
            UpstreamError,
            TimeoutError,
            EventTooLongError,
            BodyTooLargeError,
            EncodingError,
        ):
            raise ListingFailed from None

    async def _read(self, response: UpstreamResponse, id_: bytes) -> Message:
        """Return the response to the request with *id_*.

        Raises:
            ListingFailed: there is none.
        """
        if response.media_type == "text/event-stream":
            reader = EventReader(self._max_bytes)
            async for chunk in response.decoded():
                for event in reader.feed(chunk):
                    message = read_message(event.data or b"")
                    if isinstance(message, Message) and message.properties.get("id") == id_:
                        return message
            raise ListingFailed
        message = read_message(await response.read(self._max_bytes))
        if not isinstance(message, Message):
            raise ListingFailed
        return message
