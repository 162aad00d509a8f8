"""The proxy over Streamable HTTP, before the server at one URL.

Clauses: 2025-03-26 to 2025-11-25, basic/transports, "Streamable HTTP", with sessions and GET
streams; 2026-07-28, basic/transports/streamable-http, without either.
"""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

import httpx
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from sidecheck_server.policies import Policy
from sidecheck_server.proxy.http_checks import (
    CallerCheck,
    error_status,
    find_mismatches,
    mismatch_finding,
    mismatch_response,
    repeats_parts,
)
from sidecheck_server.proxy.http_connections import UNANSWERED, Connection, HttpConnections
from sidecheck_server.proxy.http_exchange import (
    BodyTooLargeError,
    Upstream,
    media_type,
    problem,
    read_body,
    read_response,
    response_headers,
    streamed,
)
from sidecheck_server.proxy.http_listing import HEADERS, HttpListings
from sidecheck_server.proxy.messages import Message, read_message
from sidecheck_server.proxy.report import Action, Direction, Finding, Report
from sidecheck_server.proxy.sse import EventReader, EventTooLongError
from sidecheck_server.proxy.transcript import Transcript

__all__ = ["HttpProxy"]

_JSON, _EVENTS = "application/json", "text/event-stream"
_METHODS = ["GET", "POST", "DELETE", "PUT", "PATCH", "OPTIONS", "HEAD"]


class HttpProxy:
    """Relays requests to the server *upstream*, and validates the messages in them.

    Requests for other paths than that of the server are passed on as they are. *messages* is
    the policy about messages, which headers belong to.
    """

    def __init__(  # noqa: PLR0913, PLR0917  (what it is composed of)
        self,
        upstream: Upstream,
        listings: HttpListings,
        connections: HttpConnections,
        callers: CallerCheck,
        messages: Policy,
        report: Report,
        transcript: Transcript | None,
        max_bytes: int,
    ) -> None:
        self._upstream = upstream
        self._listings = listings
        self._connections = connections
        self._callers = callers
        self._messages = messages
        self._report = report
        self._transcript = transcript
        self._max_bytes = max_bytes

    def application(self) -> Starlette:
        """Return the ASGI application."""
        route = Route("/{path:path}", self._respond, methods=_METHODS)
        return Starlette(routes=[route], lifespan=self._lifespan)

    @asynccontextmanager
    async def _lifespan(self, _app: Starlette) -> AsyncIterator[None]:
        try:
            yield
        finally:
            await self._connections.close()

    async def _respond(self, request: Request) -> Response:
        if fault := self._callers.fault(request.headers):
            self._add("client", "CALLER_NOT_ALLOWED", Action.REJECTED, fault)
            return problem(403, fault)
        HEADERS.set(request.headers)
        try:
            if request.url.path != self._upstream.url.path or request.method == "OPTIONS":
                return await self._pass_on(request)
            body = await read_body(request, self._max_bytes)
            if request.method == "POST":
                return await self._relay(request, body)
            return await self._stream(request, body)
        except BodyTooLargeError:
            note = f"a message is larger than {self._max_bytes:,} bytes (--max-message-bytes)"
            self._add("client", "MESSAGE_TOO_LONG", Action.REJECTED, note)
            return problem(413, note)
        except ClientDisconnect:
            return Response(status_code=499)

    async def _pass_on(self, request: Request) -> Response:
        """Pass on a request that is none of the protocol, such as one for authorization."""
        body = await read_body(request, self._max_bytes)
        try:
            response = await self._send(request, body)
        except httpx.HTTPError:
            return problem(502, "the server does not respond")
        return streamed(response, response.aiter_bytes())

    async def _relay(self, request: Request, body: bytes) -> Response:
        """Validate the message of a POST, and relay it and the response."""
        message = read_message(body)
        self._record(body, "client", message)
        connection = self._connections.of(request.headers, message)
        try:
            ruling = await connection.handle(body, "client")
            # The tool of a call is known by now.
            if refused := self._check_headers(request.headers, message):
                connection.take_open(message)
                return refused
            if ruling.forward is None:
                if ruling.reply is None:
                    return Response(status_code=202)
                status = error_status(request.headers, ruling.reply)
                return Response(ruling.reply, status, media_type=_JSON)
            try:
                response = await self._send(request, ruling.forward)
            except httpx.HTTPError:
                self._add("server", "UPSTREAM_UNAVAILABLE", Action.REJECTED, "does not respond")
                error = connection.take_open(message)
                return problem(502, UNANSWERED, error)
            if response.status_code >= 400:
                # The message was not taken, and may come again, with credentials for example.
                connection.take_open(message)
                await connection.session.forget()
            await self._connections.keep(response.headers, connection)
            return await self._relay_response(request, response, connection, message)
        finally:
            if not connection.is_streaming:
                await connection.release()

    async def _stream(self, request: Request, body: bytes) -> Response:
        """Relay a GET, whose response is a stream of the server's messages, or a DELETE."""
        try:
            response = await self._send(request, body or None)
        except httpx.HTTPError:
            return problem(502, UNANSWERED)
        connection = self._connections.of(request.headers)
        if request.method == "DELETE" and response.is_success:
            await self._connections.end(request.headers)
        try:
            return await self._relay_response(request, response, connection, None)
        finally:
            if not connection.is_streaming:
                await connection.release()

    async def _relay_response(
        self,
        request: Request,
        response: httpx.Response,
        connection: Connection,
        message: Message | list[Message] | None,
    ) -> Response:
        """Validate the messages of *response*, which is to *message* if that is not None."""
        kind = media_type(response)
        if kind == _EVENTS:
            connection.is_streaming = True
            events = self._events(request, response, connection, message)
            return streamed(response, events, connection.release)
        if kind != _JSON or not response.is_success:
            return streamed(response, response.aiter_bytes())
        try:
            text = await read_response(response, self._max_bytes)
        except BodyTooLargeError:
            note = f"a response is larger than {self._max_bytes:,} bytes (--max-message-bytes)"
            self._add("server", "MESSAGE_TOO_LONG", Action.REJECTED, note)
            return problem(502, note, connection.take_open(message))
        except httpx.HTTPError:
            self._add("server", "UPSTREAM_UNAVAILABLE", Action.REJECTED, "ended in a response")
            return problem(502, UNANSWERED, connection.take_open(message))
        # Some servers give the empty response to a notification a type.
        if not text:
            return Response(b"", response.status_code, response_headers(response))
        self._record(text, "server", read_message(text))
        passed = (await connection.handle(text, "server")).forward
        # The body is all that the request gets; without its response, it is another's.
        error = connection.take_open(message)
        if self._messages is not Policy.ENFORCE:
            error = passed or error
        return Response(error or passed, response.status_code, response_headers(response))

    async def _events(
        self,
        request: Request,
        response: httpx.Response,
        connection: Connection,
        message: Message | list[Message] | None,
    ) -> AsyncIterator[bytes]:
        """Yield the events of *response* as they come, with the messages in them validated."""
        reader = EventReader(self._max_bytes)
        rest = b""
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
            rest = reader.rest()
        except EventTooLongError:
            note = f"an event is larger than {self._max_bytes:,} bytes (--max-message-bytes)"
            self._add("server", "MESSAGE_TOO_LONG", Action.REJECTED, note)
        except httpx.HTTPError:
            self._add("server", "UPSTREAM_UNAVAILABLE", Action.REJECTED, "ended in a stream")
        # In a session, the rest may come in another stream.
        if not connection.is_kept and (error := connection.take_open(message)) is not None:
            yield b"data: " + error + b"\n\n"
        else:
            # No event; what came after it would be taken for a part of it.
            yield rest

    def _check_headers(
        self, headers: Mapping[str, str], message: Message | list[Message] | None
    ) -> Response | None:
        """Return the response to a message that its *headers* do not match."""
        if self._messages is Policy.OFF or not isinstance(message, Message):
            return None
        if not repeats_parts(headers, message):
            return None
        enforces = self._messages is Policy.ENFORCE
        action = Action.REJECTED if enforces else Action.PASSED
        schema = self._listings.of(headers).input_schema(message)
        mismatches = find_mismatches(headers, message, schema)
        for mismatch in mismatches:
            self._report.add(mismatch_finding(message, mismatch, action))
        if not (mismatches and enforces):
            return None
        return Response(mismatch_response(message, mismatches[0]), 400, media_type=_JSON)

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

    def _record(self, text: bytes, sender: Direction, message: object) -> None:
        if self._transcript is not None and message is not None:
            self._transcript.write(text.replace(b"\n", b" ").replace(b"\r", b" "), sender)

    def _add(self, sender: Direction, code: str, action: Action, note: str) -> None:
        self._report.add(Finding(sender=sender, code=code, action=action, note=note))
