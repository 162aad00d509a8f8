"""The proxy over Streamable HTTP, before the server at one URL.

Clauses: 2025-03-26 to 2025-11-25, basic/transports, "Streamable HTTP", with sessions and GET
streams; 2026-07-28, basic/transports/streamable-http, without either.
"""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass

import httpx
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from sidecheck_server.proxy.http_checks import CallerCheck, find_mismatches, mismatch_response
from sidecheck_server.proxy.http_connections import UNANSWERED, Connection, HttpConnections
from sidecheck_server.proxy.http_exchange import (
    BodyTooLargeError,
    Upstream,
    media_type,
    problem,
    read_body,
    read_response,
    relayed,
    replaced,
    while_connected,
)
from sidecheck_server.proxy.http_headers import BODY_HEADERS, combine, passed_headers
from sidecheck_server.proxy.http_listing import HEADERS
from sidecheck_server.proxy.http_streams import EventRelay
from sidecheck_server.proxy.messages import Message, read_message
from sidecheck_server.proxy.pins import LockFileError
from sidecheck_server.proxy.policies import Policies, Policy
from sidecheck_server.proxy.report import Action, Direction, Finding, Report
from sidecheck_server.proxy.transcript import Transcript

__all__ = ["HttpProxy"]

_JSON, _EVENTS = "application/json", "text/event-stream"
_METHODS = ["GET", "POST", "DELETE", "PUT", "PATCH", "OPTIONS", "HEAD"]
_READ_HERE = BODY_HEADERS | {b"accept-encoding"}
_OF_TRANSPORT = {"GET", "POST", "DELETE", "HEAD"}


class HttpProxy:
    """Relays requests to the server *upstream*, and validates the messages in them.

    Requests for other paths than that of the server are passed on as they are, unless they
    carry a message.
    """

    def __init__(
        self,
        upstream: Upstream,
        connections: HttpConnections,
        callers: CallerCheck,
        policies: Policies,
        report: Report,
        transcript: Transcript | None,
        max_bytes: int,
    ) -> None:
        self._upstream = upstream
        self._connections = connections
        self._callers = callers
        self._policies = policies
        self._report = report
        self._transcript = transcript
        self._max_bytes = max_bytes
        self._events = EventRelay(upstream, report, transcript, max_bytes)

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
        headers = combine(request.headers.raw)
        if fault := self._callers.fault(headers):
            self._add("client", "CALLER_NOT_ALLOWED", Action.REJECTED, fault)
            return problem(403, fault)
        path: bytes = request.scope["raw_path"]
        if not path.startswith(b"/"):
            return problem(400, "the target of the request is no path")
        try:
            body = await read_body(request, self._max_bytes)
            if request.method == "OPTIONS" or not self._upstream.is_server(path):
                return await self._pass_on(request, body)
            if request.method not in _OF_TRANSPORT:
                return problem(405, "the method is none of Streamable HTTP")
            if headers.get("content-encoding", "identity").lower() != "identity":
                return problem(415, "the body is encoded")
            HEADERS.set(request.headers.raw)
            if request.method == "POST":
                return await self._relay(request, headers, body)
            return await self._stream(request, headers)
        except BodyTooLargeError:
            note = f"a message is larger than {self._max_bytes:,} bytes (--max-message-bytes)"
            self._add("client", "MESSAGE_TOO_LONG", Action.REJECTED, note)
            return problem(413, note)
        except ClientDisconnect:
            return Response(status_code=499)

    async def _pass_on(self, request: Request, body: bytes) -> Response:
        """Pass on a request that is none of the protocol, such as one for authorization."""
        message = read_message(body)
        messages = message if isinstance(message, list) else [message] if message else []
        if any("jsonrpc" in each.properties for each in messages):
            note = "a message for another path than that of --upstream"
            if not self._admits("client", note):
                return problem(404, note)
        try:
            return relayed(await while_connected(request, self._send(request, body or None)))
        except httpx.HTTPError:
            return problem(502, UNANSWERED)

    async def _relay(self, request: Request, headers: Mapping[str, str], body: bytes) -> Response:
        """Validate the message of a POST, and relay it and the response."""
        message = read_message(body)
        self._record(body, "client", message)
        connection = self._connections.acquire(headers, message)
        try:
            ruling = await connection.handle(body, "client")
            # The tool of a call is known by now.
            if refused := self._check_headers(headers, message, connection):
                connection.answer(message)
                return refused
            if ruling.forward is None:
                if ruling.reply is None:
                    return Response(status_code=202)
                return Response(ruling.reply, media_type=_JSON)
            exchange = _Exchange(request, headers, connection, message, ruling.reply)
            return await self._respond_to(exchange, ruling.forward)
        except LockFileError as error:
            self._add("server", "PINS_NOT_WRITTEN", Action.REJECTED, str(error))
            return problem(500, "the tools could not be pinned", connection.answer(message))
        finally:
            await connection.release()

    async def _respond_to(self, exchange: "_Exchange", body: bytes) -> Response:
        """Send the server *body*, which is what passes of a message, and relay the response."""
        request, connection = exchange.request, exchange.connection
        try:
            response, text = await while_connected(request, self._fetch(request, body))
        except httpx.HTTPError:
            self._add("server", "UPSTREAM_UNAVAILABLE", Action.REJECTED, UNANSWERED)
            return problem(502, UNANSWERED, exchange.answer())
        except BodyTooLargeError:
            note = f"a response is larger than {self._max_bytes:,} bytes (--max-message-bytes)"
            self._add("server", "MESSAGE_TOO_LONG", Action.REJECTED, note)
            return problem(502, note, exchange.answer())
        except ClientDisconnect:
            exchange.answer()
            raise
        if response.status_code >= 400:
            # The message was not taken, and may come again, with credentials for example.
            connection.answer(exchange.message)
            await connection.session.forget()
            if response.status_code == 404:
                # The server has ended the session.
                await self._connections.end(exchange.headers)
        await self._connections.keep(response.headers, connection)
        if media_type(response) == _EVENTS:
            connection.acquire()
            events = self._events.relay(
                response, request.headers.raw, connection, exchange.message, exchange.reply
            )
            return relayed(response, events, connection.release)
        if text:
            return replaced(response, await self._rule_body(exchange, text))
        return await self._relay_other(exchange, response)

    async def _fetch(self, request: Request, body: bytes) -> tuple[httpx.Response, bytes]:
        """Return the response to *body*, with its own if that is a message."""
        response = await self._send(request, body)
        if media_type(response) != _JSON or not response.is_success:
            return response, b""
        return response, await read_response(response, self._max_bytes)

    async def _rule_body(self, exchange: "_Exchange", text: bytes) -> bytes:
        """Return what the client gets of *text*, the server's message."""
        self._record(text, "server", read_message(text))
        passed = (await exchange.connection.handle(text, "server")).forward
        if isinstance(exchange.message, list):
            return exchange.answer(passed) or b""
        # The body is all that the request gets; without its response, it is another's.
        error = exchange.answer()
        if self._policies.messages is Policy.ENFORCE:
            return error or passed or b""
        return passed or error or b""

    async def _relay_other(self, exchange: "_Exchange", response: httpx.Response) -> Response:
        """Relay a *response* without a message."""
        leads_back = self._redirect(response)
        due = exchange.answer()
        if due is None or leads_back:
            return relayed(response)
        if response.is_closed or response.status_code == 202:
            # Nothing else is to come: a batch may have had no request that the server got.
            await response.aclose()
            return Response(due, media_type=_JSON)
        if self._admits("server", "a response that is neither JSON nor events"):
            return relayed(response)
        await response.aclose()
        return problem(502, UNANSWERED, due)

    async def _stream(self, request: Request, headers: Mapping[str, str]) -> Response:
        """Relay a GET, whose response is a stream of the server's messages, or a DELETE."""
        try:
            response = await while_connected(request, self._send(request, None))
        except httpx.HTTPError:
            self._add("server", "UPSTREAM_UNAVAILABLE", Action.REJECTED, UNANSWERED)
            return problem(502, UNANSWERED)
        if request.method == "DELETE" and response.is_success:
            await self._connections.end(headers)
        if media_type(response) == _EVENTS and request.method == "GET":
            connection = self._connections.acquire(headers)
            events = self._events.relay(response, request.headers.raw, connection)
            return relayed(response, events, connection.release)
        self._redirect(response)
        return relayed(response)

    def _redirect(self, response: httpx.Response) -> bool:
        """Let a redirection to the server itself lead to the proxy; return whether it does."""
        target = self._upstream.target_at(response.headers.get("location"))
        if target is None or not response.is_redirect:
            return False
        response.headers["location"] = target
        return True

    def _check_headers(
        self,
        headers: Mapping[str, str],
        message: Message | list[Message] | None,
        connection: Connection,
    ) -> Response | None:
        """Return the response to a message that its *headers* do not match."""
        policy = self._policies.messages
        if policy is Policy.OFF or not isinstance(message, Message):
            return None
        action = Action.REJECTED if policy is Policy.ENFORCE else Action.PASSED
        mismatches = find_mismatches(headers, message, connection.listings, action)
        for mismatch in mismatches:
            self._report.add(mismatch)
        if not mismatches or policy is not Policy.ENFORCE:
            return None
        return Response(mismatch_response(message, mismatches[0]), 400, media_type=_JSON)

    async def _send(self, request: Request, body: bytes | None) -> httpx.Response:
        path: bytes = request.scope["raw_path"]
        target = self._upstream.target_of(path, request.scope["query_string"])
        excluded = _READ_HERE if self._upstream.is_server(path) else {b"content-length"}
        headers = passed_headers(request.headers.raw, excluded)
        if excluded is _READ_HERE:
            headers.append((b"accept-encoding", b"identity"))
        return await self._upstream.send(request.method, target, headers, body)

    def _record(self, text: bytes, sender: Direction, message: object) -> None:
        if self._transcript is not None and message is not None:
            self._transcript.write(text, sender)

    def _admits(self, sender: Direction, note: str) -> bool:
        """Report what cannot be validated, and return whether it passes."""
        rejects = self._policies.enforces_any
        self._add(sender, "NOT_VALIDATED", Action.REJECTED if rejects else Action.PASSED, note)
        return not rejects

    def _add(self, sender: Direction, code: str, action: Action, note: str) -> None:
        self._report.add(Finding(sender=sender, code=code, action=action, note=note))


@dataclass(frozen=True, slots=True)
class _Exchange:
    """A message on its way to the server, and what its client gets of the proxy itself."""

    request: Request
    headers: Mapping[str, str]
    connection: Connection
    message: Message | list[Message] | None
    #: The errors of a batch's messages that do not pass.
    reply: bytes | None

    def answer(self, *replies: bytes | None) -> bytes | None:
        """Return all that is due to the client, with *replies* of the server; None for nothing."""
        return self.connection.answer(self.message, *replies, self.reply)
