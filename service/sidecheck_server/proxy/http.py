"""The proxy over Streamable HTTP, before the server at one URL.

Clauses: 2025-03-26 to 2025-11-25, basic/transports, "Streamable HTTP", with sessions and GET
streams; 2026-07-28, basic/transports/streamable-http, without either.
"""

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from contextvars import ContextVar
from hashlib import sha256
from itertools import count
from typing import Any, Protocol

import httpx
import msgspec
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from sidecheck_server.core.mcp.http_headers import HEADER_MISMATCH, find_header_faults
from sidecheck_server.proxy.calls import Ruling
from sidecheck_server.proxy.http_exchange import (
    BodyTooLargeError,
    Upstream,
    read_body,
    response_headers,
)
from sidecheck_server.proxy.listings import ListingFailed, Listings
from sidecheck_server.proxy.messages import Message, error_response, join_object, read_message
from sidecheck_server.proxy.report import Action, Direction, Finding, Report
from sidecheck_server.proxy.session import ProxySession
from sidecheck_server.proxy.sse import EventReader, EventTooLongError
from sidecheck_server.proxy.transcript import Transcript

__all__ = ["HttpProxy", "MakeSession"]

_JSON, _EVENTS = "application/json", "text/event-stream"
_SESSION = "mcp-session-id"
_VERSION = "mcp-protocol-version"
#: The first version whose headers repeat parts of the message.
_WITH_HEADERS = "2026-07-28"
_MOST_SESSIONS = 10_000
_MOST_IDENTITIES = 1_000
_LISTING_SECONDS = 10.0

#: Headers of the request at hand, for requests that the proxy makes on its behalf.
_HEADERS: ContextVar[Mapping[str, str]] = ContextVar("_HEADERS")


class MakeSession(Protocol):
    """Makes the session of a connection."""

    def __call__(self, listings: Listings, *, from_beginning: bool) -> ProxySession: ...


class _Connection:
    """A session, whose messages of one side are handled one at a time."""

    def __init__(self, session: ProxySession) -> None:
        self.session = session
        self._locks: dict[Direction, asyncio.Lock] = {
            "client": asyncio.Lock(),
            "server": asyncio.Lock(),
        }

    async def handle(self, text: bytes, sender: Direction) -> Ruling:
        async with self._locks[sender]:
            return await self.session.handle(text, sender)


class HttpProxy:
    """Relays requests to the server at *url*, and validates the messages in them.

    Requests for other paths than that of *url* are passed on as they are. Those with an Origin
    that is not one of *origins* are refused.
    """

    def __init__(
        self,
        url: str,
        make_listings: Callable[[Any], Listings],
        make_session: MakeSession,
        report: Report,
        transcript: Transcript | None,
        max_bytes: int,
        origins: frozenset[str],
        *,
        enforces_headers: bool,
        checks_headers: bool,
    ) -> None:
        self._upstream = Upstream(url)
        self._make_listings = make_listings
        self._make_session = make_session
        self._report = report
        self._transcript = transcript
        self._max_bytes = max_bytes
        self._origins = origins
        self._enforces_headers = enforces_headers
        self._checks_headers = checks_headers
        self._ids = count(1)
        self._sessions: OrderedDict[str, _Connection] = OrderedDict()
        #: Tools by who asks for them: servers may list others to others.
        self._listings: OrderedDict[bytes, Listings] = OrderedDict()

    def application(self) -> Starlette:
        """Return the ASGI application."""
        methods = ["GET", "POST", "DELETE", "PUT", "PATCH", "OPTIONS", "HEAD"]
        route = Route("/{path:path}", self._respond, methods=methods)
        return Starlette(routes=[route], lifespan=self._lifespan)

    @asynccontextmanager
    async def _lifespan(self, _app: Starlette) -> AsyncIterator[None]:
        try:
            yield
        finally:
            for connection in self._sessions.values():
                await connection.session.__aexit__(None, None, None)
            await self._upstream.close()

    async def _respond(self, request: Request) -> Response:
        origin = request.headers.get("origin")
        if origin is not None and origin not in self._origins:
            self._add("client", "ORIGIN_NOT_ALLOWED", Action.REJECTED, "another origin")
            return _problem(403, "this origin is not allowed")
        _HEADERS.set(request.headers)
        try:
            is_message = request.method == "POST"
            if request.url.path != self._upstream.url.path or request.method == "OPTIONS":
                return await self._pass_on(request)
            body = await read_body(request, self._max_bytes)
            if is_message:
                return await self._relay(request, body)
            return await self._stream(request, body)
        except BodyTooLargeError:
            note = f"a message is larger than {self._max_bytes:,} bytes (--max-message-bytes)"
            self._add("client", "MESSAGE_TOO_LONG", Action.REJECTED, note)
            return _problem(413, note)
        except ClientDisconnect:
            return Response(status_code=499)

    async def _pass_on(self, request: Request) -> Response:
        """Pass on a request that is none of the protocol, such as one for authorization."""
        body = await read_body(request, self._max_bytes)
        try:
            response = await self._send(request, body)
        except httpx.HTTPError:
            return _problem(502, "the server does not respond")
        return _streaming(response, response.aiter_bytes())

    async def _relay(self, request: Request, body: bytes) -> Response:
        """Validate the message of a POST, and relay it and the response."""
        message = read_message(body)
        connection = self._connection(request.headers)
        ruling = await connection.handle(body, "client")
        self._record(body, "client", message)
        refused = await self._check_headers(request, message)
        if refused is not None:
            return refused
        if ruling.forward is None:
            if ruling.reply is None:
                return Response(status_code=202)
            return Response(ruling.reply, media_type=_JSON)
        try:
            response = await self._send(request, ruling.forward)
        except httpx.HTTPError:
            self._add("server", "UPSTREAM_UNAVAILABLE", Action.REJECTED, "does not respond")
            return self._unanswered(message)
        if response.status_code >= 400:
            # The message was not taken, and may come again, with credentials for example.
            await connection.session.forget()
        session = response.headers.get(_SESSION)
        if session is not None:
            self._keep(session, connection)
        return await self._relay_response(request, response, connection)

    async def _stream(self, request: Request, body: bytes) -> Response:
        """Relay a GET, whose response is a stream of the server's messages, or a DELETE."""
        try:
            response = await self._send(request, body or None)
        except httpx.HTTPError:
            return _problem(502, "the server does not respond")
        connection = self._connection(request.headers)
        if request.method == "DELETE" and response.is_success:
            ended = self._sessions.pop(request.headers.get(_SESSION, ""), None)
            if ended is not None:
                await ended.session.__aexit__(None, None, None)
        return await self._relay_response(request, response, connection)

    async def _relay_response(
        self, request: Request, response: httpx.Response, connection: _Connection
    ) -> Response:
        kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind == _EVENTS:
            return _streaming(response, self._events(request, response, connection))
        if kind != _JSON or not response.is_success:
            return _streaming(response, response.aiter_bytes())
        try:
            text = await response.aread()
        except httpx.HTTPError:
            self._add("server", "UPSTREAM_UNAVAILABLE", Action.REJECTED, "ended in a response")
            return _problem(502, "the server ended before its response did")
        finally:
            await response.aclose()
        self._record(text, "server", read_message(text))
        ruling = await connection.handle(text, "server")
        return Response(ruling.forward or b"", response.status_code, response_headers(response))

    async def _events(
        self, request: Request, response: httpx.Response, connection: _Connection
    ) -> AsyncIterator[bytes]:
        """Yield the events of *response* as they come, with the messages in them validated."""
        reader = EventReader(self._max_bytes)
        try:
            async for chunk in response.aiter_bytes():
                for event in reader.feed(chunk):
                    if not event.data:
                        yield event.text
                        continue
                    self._record(event.data, "server", read_message(event.data))
                    ruling = await connection.handle(event.data, "server")
                    if ruling.forward is not None:
                        passed = ruling.forward is event.data
                        yield event.text if passed else event.with_data(ruling.forward)
                    if ruling.reply is not None:
                        await self._reply(request, ruling.reply)
            yield reader.rest()
        except EventTooLongError:
            note = f"an event is larger than {self._max_bytes:,} bytes (--max-message-bytes)"
            self._add("server", "MESSAGE_TOO_LONG", Action.REJECTED, note)
        except httpx.HTTPError:
            self._add("server", "UPSTREAM_UNAVAILABLE", Action.REJECTED, "ended in a stream")
        finally:
            await response.aclose()

    async def _check_headers(self, request: Request, message: Any) -> Response | None:
        """Return the response to a request whose headers do not match its *message*."""
        headers = request.headers
        if not self._checks_headers or not isinstance(message, Message):
            return None
        if headers.get(_VERSION, "") < _WITH_HEADERS or not message.is_request:
            return None
        listings = self._listings_of(headers)
        schema = listings.input_schema(message)
        faults = list(find_header_faults(headers, msgspec.json.decode(message.text), schema))
        action = Action.REJECTED if self._enforces_headers else Action.PASSED
        for fault in faults:
            self._report.add(
                Finding(
                    sender="client",
                    method=message.method,
                    code="HEADER_MISMATCH",
                    location=fault.location,
                    action=action,
                    note=fault.message,
                )
            )
        if not faults or not self._enforces_headers:
            return None
        error = {"code": HEADER_MISMATCH, "message": f"Header mismatch: {faults[0].message}"}
        text = error_response(message, msgspec.json.encode(error))
        return Response(text, 400, media_type=_JSON)

    async def list_tools(self, params: Mapping[str, bytes]) -> Message:
        """Ask the server for a page of its tools, with the headers of the request at hand.

        Raises:
            ListingFailed: it does not respond.
        """
        id_ = b'"sidecheck-%d"' % next(self._ids)
        request = {"jsonrpc": b'"2.0"', "id": id_, "method": b'"tools/list"'}
        if params:
            request["params"] = join_object(params)
        passed = {
            name: value
            for name, value in _HEADERS.get().items()
            if not name.startswith(("mcp-param-", "mcp-name", "content-"))
        }
        headers = {
            **passed,
            "mcp-method": "tools/list",
            "content-type": _JSON,
            "accept": f"{_JSON}, {_EVENTS}",
        }
        url = self._upstream.url
        try:
            async with asyncio.timeout(_LISTING_SECONDS):
                response = await self._upstream.send(
                    "POST", url.path, url.query.decode(), headers, join_object(request)
                )
                try:
                    return await self._own_response(response, id_)
                finally:
                    await response.aclose()
        except (httpx.HTTPError, TimeoutError, EventTooLongError):
            raise ListingFailed from None

    async def _own_response(self, response: httpx.Response, id_: bytes) -> Message:
        kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind == _EVENTS:
            reader = EventReader(self._max_bytes)
            async for chunk in response.aiter_bytes():
                for event in reader.feed(chunk):
                    message = read_message(event.data or b"")
                    if isinstance(message, Message) and message.properties.get("id") == id_:
                        return message
            raise ListingFailed
        message = read_message(await response.aread())
        if not isinstance(message, Message):
            raise ListingFailed
        return message

    async def _reply(self, request: Request, reply: bytes) -> None:
        """Send the server the error of a request that it sent in a stream."""
        try:
            response = await self._send(request, reply, method="POST")
            await response.aclose()
        except httpx.HTTPError:
            self._add("server", "UPSTREAM_UNAVAILABLE", Action.REJECTED, "does not respond")

    async def _send(self, request: Request, body: bytes | None, method: str = "") -> httpx.Response:
        return await self._upstream.send(
            method or request.method, request.url.path, request.url.query, request.headers, body
        )

    def _connection(self, headers: Mapping[str, str]) -> _Connection:
        """Return the session that *headers* name, or one for a request by itself."""
        known = self._sessions.get(headers.get(_SESSION, ""))
        if known is not None:
            return known
        is_first = _SESSION not in headers and headers.get(_VERSION, "") < _WITH_HEADERS
        session = self._make_session(self._listings_of(headers), from_beginning=is_first)
        return _Connection(session)

    def _keep(self, id_: str, connection: _Connection) -> None:
        self._sessions.setdefault(id_, connection)
        while len(self._sessions) > _MOST_SESSIONS:
            self._sessions.popitem(last=False)

    def _listings_of(self, headers: Mapping[str, str]) -> Listings:
        identity = "\n".join(headers.get(name, "") for name in ("authorization", "cookie"))
        key = sha256(identity.encode("utf-8", "surrogateescape")).digest()
        listings = self._listings.get(key)
        if listings is None:
            listings = self._listings[key] = self._make_listings(self.list_tools)
            if len(self._listings) > _MOST_IDENTITIES:
                self._listings.popitem(last=False)
        return listings

    def _record(self, text: bytes, sender: Direction, message: object) -> None:
        if self._transcript is not None and message is not None:
            self._transcript.write(text.replace(b"\n", b" ").replace(b"\r", b" "), sender)

    def _unanswered(self, message: Message | list[Message] | None) -> Response:
        if isinstance(message, Message) and message.is_request:
            text = error_response(message, "the server does not respond")
            return Response(text, 502, media_type=_JSON)
        return _problem(502, "the server does not respond")

    def _add(self, sender: Direction, code: str, action: Action, note: str) -> None:
        self._report.add(Finding(sender=sender, code=code, action=action, note=note))


def _problem(status: int, text: str) -> Response:
    error = {"code": -32000, "message": text}
    return Response(
        msgspec.json.encode({"jsonrpc": "2.0", "error": error}), status, media_type=_JSON
    )


def _streaming(response: httpx.Response, body: AsyncIterator[bytes]) -> Response:
    async def relay() -> AsyncIterator[bytes]:
        try:
            async for chunk in body:
                yield chunk
        except httpx.HTTPError:
            # Nothing but a body that ends too early can say so any more.
            raise ConnectionResetError from None
        finally:
            await response.aclose()

    return StreamingResponse(relay(), response.status_code, response_headers(response))
