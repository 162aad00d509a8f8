"""The proxy over Streamable HTTP, before the server at one URL.

Clauses: 2025-03-26 to 2025-11-25, basic/transports, "Streamable HTTP", with sessions and GET
streams; 2026-07-28, basic/transports/streamable-http, without either.
"""

import signal
import socket
from collections.abc import Callable, Collection, Mapping
from http import HTTPStatus
from types import MappingProxyType
from urllib.parse import unquote

import uvicorn
from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from sidecheck_server.config.addresses import Address
from sidecheck_server.http_servers.connections import ClientBounds
from sidecheck_server.http_servers.server import HttpServer, open_listener
from sidecheck_server.proxy.http_bounds import HttpBounds, rejection_response
from sidecheck_server.proxy.http_bytes import NoRoomError
from sidecheck_server.proxy.http_checks import CallerCheck
from sidecheck_server.proxy.http_connections import UNANSWERED, HttpConnections
from sidecheck_server.proxy.http_exchange import (
    CountedRequest,
    EventRelay,
    problem,
    read_body,
    relayed,
    replaced,
    send_in_pieces,
    while_connected,
)
from sidecheck_server.proxy.http_headers import (
    BODY_HEADERS,
    combine,
    is_lookalike,
    passed_headers,
)
from sidecheck_server.proxy.http_limits import HttpAddress
from sidecheck_server.proxy.http_listing import HEADERS
from sidecheck_server.proxy.http_messages import HttpMessages, Reply
from sidecheck_server.proxy.messages import Direction, has_result, read_message
from sidecheck_server.proxy.options import ProxyOptions
from sidecheck_server.proxy.pins import LockFileError
from sidecheck_server.proxy.report import Action, Finding, Report
from sidecheck_server.proxy.transcript import Transcript
from sidecheck_server.proxy.upstream import (
    BodyTooLargeError,
    Upstream,
    UpstreamError,
    UpstreamResponse,
)

__all__ = [
    "HttpProxy",
    "OtherPaths",
    "has_steps",
    "serve_http",
]

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_GRACE_SECONDS = 5
_IDLE_SECONDS = 75
"""How long a connection is open without a request: longer than clients use it again."""


async def serve_http(
    application: ASGIApp,
    address: HttpAddress,
    bounds: ClientBounds,
    report_ready: Callable[[int], None],
) -> None:
    """Serve *application* within *bounds* until a signal; *report_ready* gets the port.

    Raises:
        OSError: the address cannot be used, or a file cannot be read.
        ssl.SSLError: a file is no certificate or key.
    """
    config = uvicorn.Config(
        application,
        ssl_certfile=address.certificate,
        ssl_keyfile=address.private_key,
        log_config=None,
        access_log=False,
        server_header=False,
        date_header=False,
        timeout_keep_alive=_IDLE_SECONDS,
        timeout_graceful_shutdown=_GRACE_SECONDS,
        lifespan="off",
        ws="none",
    )
    config.load()
    with _listen(address.address) as listener:
        report_ready(listener.getsockname()[1])
        await HttpServer(config, bounds, _SIGNALS).serve(sockets=[listener])


def _listen(address: Address) -> socket.socket:
    try:
        return open_listener(address)
    except OSError as error:
        raise OSError(f"{address}: {error.strerror or error}") from None


_READ = frozenset({"GET", "HEAD", "OPTIONS"})
_SENT = frozenset({"POST", "OPTIONS"})

_METADATA = "/.well-known/"
"""Below it is the metadata of authorization (RFC 8414, section 3; RFC 9728, section 3)."""

_AUTHORIZATION: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        # The endpoints of a server that authorizes its clients itself (2025-03-26,
        # basic/authorization, "Fallbacks for Servers without Metadata Discovery").
        "/authorize": _READ | _SENT,
        "/token": _SENT,
        "/register": _SENT,
        # Those of RFC 7009 and RFC 7662, by the names that the official SDKs give them.
        "/revoke": _SENT,
        "/introspect": _SENT,
    }
)


class OtherPaths:
    """The paths that pass beside the endpoint: *allowed* ones, and what is below them."""

    def __init__(self, allowed: Collection[str] = ()) -> None:
        self._allowed = tuple(path.rstrip("/") for path in allowed)

    def admits(self, method: str, path: bytes) -> bool:
        """Return whether a request of *method* for *path* passes under enforcement."""
        text = path.decode("latin-1")
        if has_steps(path):
            return False
        if text.startswith(_METADATA):
            return method in _READ
        if method in _AUTHORIZATION.get(text, ()):
            return True
        return any(text == allowed or text.startswith(f"{allowed}/") for allowed in self._allowed)


def has_steps(path: bytes) -> bool:
    """Return whether readers may take *path* for another one.

    It has a fragment, segments ``.`` and ``..`` (RFC 3986, section 5.2.4), backslashes or a
    semicolon, plainly or with escapes of escapes.
    """
    text = path.decode("latin-1")
    for _ in range(_ESCAPES):
        if any(character in text for character in "#\\;") or not {".", ".."}.isdisjoint(
            text.split("/")
        ):
            return True
        text = unquote(text, "latin-1")
    return "%" in text


_ESCAPES = 3
"""How many times a path is unescaped; one that has escapes then is no honest one."""


_JSON = "application/json"
_METHODS = {"GET", "POST", "DELETE", "PUT", "PATCH", "OPTIONS", "HEAD"}
_READ_HERE = BODY_HEADERS | {b"accept-encoding"}
_OF_TRANSPORT = {"GET", "POST", "DELETE", "HEAD"}
_FIRST_ERROR = 400


class HttpProxy:
    """Relays requests to the server *upstream*, and validates the messages in them.

    Requests for other paths than that of the server are passed on as they are, unless they
    carry a message; if anything is enforced, those that `OtherPaths` admits.
    """

    def __init__(
        self,
        upstream: Upstream,
        connections: HttpConnections,
        callers: CallerCheck,
        report: Report,
        transcript: Transcript | None,
        options: ProxyOptions,
        bounds: HttpBounds,
    ) -> None:
        self._upstream = upstream
        self._connections = connections
        self._callers = callers
        self._policies = options.policies
        self._enforces = options.enforces
        self._other_paths = OtherPaths(options.paths)
        self._report = report
        self._transcript = transcript
        self._bounds = bounds
        self._max_bytes = options.max_message_bytes
        self._events = EventRelay(upstream, report, transcript, self._max_bytes)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Respond to a request, as an ASGI application."""
        request = CountedRequest(scope, receive, self._bounds)
        try:
            response = await self._respond(request)
            await response(scope, receive, send_in_pieces(send))
        finally:
            request.release()

    async def _respond(self, request: CountedRequest) -> Response:
        if rejection := self._reject(request, combine(request.headers.raw)):
            return rejection
        # A client can name headers of its own as those of the connection, which do not pass.
        headers = combine(passed_headers(request.headers.raw, ()))
        path: bytes = request.scope["raw_path"]
        try:
            body = await read_body(request, self._max_bytes)
            if request.method == "OPTIONS" or not self._upstream.is_server(path):
                return await self._pass_on(request, body)
            if request.method not in _OF_TRANSPORT:
                return problem(405, "method not allowed; Streamable HTTP has GET, POST and DELETE")
            if headers.get("content-encoding", "").strip().lower() not in {"", "identity"}:
                return problem(415, "the body is encoded")
            HEADERS.set(request.headers.raw)
            if request.method == "POST":
                return await self._relay(request, headers, body)
            return await self._stream(request, headers)
        except BodyTooLargeError:
            note = f"a message is larger than {self._max_bytes:,} bytes (--max-message-bytes)"
            self._add("client", "MESSAGE_TOO_LONG", Action.REJECTED, note)
            return problem(413, note)
        except NoRoomError as error:
            self._bounds.rejections.add("TOO_MANY_BYTES", str(error))
            return rejection_response(HTTPStatus.SERVICE_UNAVAILABLE, "TOO_MANY_BYTES", str(error))
        except ClientDisconnect:
            return Response(status_code=499)

    def _reject(self, request: CountedRequest, headers: Mapping[str, str]) -> Response | None:
        """Return the response to a *request* that is not looked at any further."""
        if fault := self._callers.fault(headers):
            self._add("client", "CALLER_NOT_ALLOWED", Action.REJECTED, fault)
            return problem(403, fault)
        if request.method not in _METHODS:
            return problem(405, "the method is not supported")
        if not request.scope["raw_path"].startswith(b"/"):
            return problem(400, "the request target must be a path")
        if not all(_is_utf8(value) for _, value in request.headers.raw):
            return problem(400, "a header is not UTF-8")
        if self._enforces and any(is_lookalike(name) for name, _ in request.headers.raw):
            return problem(400, "a header has an underscore in place of a hyphen")
        path: bytes = request.scope["raw_path"]
        is_known = (
            not has_steps(path)
            if self._upstream.is_server(path)
            else self._other_paths.admits(request.method, path)
        )
        if self._enforces and not is_known:
            note = "neither the endpoint nor a path that is known to be another (--allow-path)"
            self._add("client", "PATH_NOT_ALLOWED", Action.REJECTED, note)
            return problem(404, note)
        return None

    async def _pass_on(self, request: CountedRequest, body: bytes) -> Response:
        """Pass on a request that is none of the protocol, such as one for authorization."""
        if self._enforces and body and self._upstream.is_server(request.scope["raw_path"]):
            return problem(415, "a body of OPTIONS is not validated")
        message = read_message(body)
        messages = message if isinstance(message, list) else [message] if message else []
        if any("jsonrpc" in each.properties for each in messages):
            note = "a message for another path than that of --upstream"
            if not self._messages({}).admits_unread("client", note):
                return problem(404, note)
        try:
            return relayed(
                request, await while_connected(request, self._send(request, body or None))
            )
        except UpstreamError:
            return problem(502, UNANSWERED)

    async def _relay(
        self, request: CountedRequest, headers: Mapping[str, str], body: bytes
    ) -> Response:
        """Validate the message of a POST, and relay it and the response."""
        messages = self._messages(headers)
        try:
            admitted = await messages.admit(body)
            if isinstance(admitted, Reply):
                kind = _JSON if admitted.body else None
                return Response(admitted.body, admitted.status, media_type=kind)
            return await self._respond_to(request, messages, admitted)
        except LockFileError as error:
            self._add("server", "PINS_NOT_WRITTEN", Action.REJECTED, str(error))
            return problem(500, "the tools could not be pinned", messages.answer())
        finally:
            await messages.release()

    async def _respond_to(
        self, request: CountedRequest, messages: HttpMessages, body: bytes
    ) -> Response:
        """Send the server *body*, which is what passes of a message, and relay the response."""
        try:
            response, text = await while_connected(request, self._fetch(request, body))
        except UpstreamError:
            self._add("server", "UPSTREAM_UNAVAILABLE", Action.REJECTED, UNANSWERED)
            return problem(502, UNANSWERED, messages.answer())
        except BodyTooLargeError:
            note = f"a response is larger than {self._max_bytes:,} bytes (--max-message-bytes)"
            self._add("server", "MESSAGE_TOO_LONG", Action.REJECTED, note)
            return problem(502, note, messages.answer())
        except NoRoomError as error:
            self._bounds.rejections.add("TOO_MANY_BYTES", str(error), "server")
            return problem(502, str(error), messages.answer())
        except ClientDisconnect:
            messages.answer()
            raise
        kind = await messages.begin_response("POST", response.status, response.headers)
        if kind == "events":
            return self._relay_events(request, response, messages)
        if text and kind == "message":
            return self._replaced(response, await messages.rule_body(text))
        if self._enforces and response.status >= _FIRST_ERROR:
            return self._relay_error(messages, response, text)
        return await self._relay_other(request, messages, response)

    def _relay_error(
        self, messages: HttpMessages, response: UpstreamResponse, text: bytes
    ) -> Response:
        """Relay a *response* with the status of an error, unless *text* is a result after all."""
        if not has_result(text):
            return replaced(response, text)
        note = "a result with the status of an error"
        self._add("server", "NOT_VALIDATED", Action.REJECTED, note)
        return problem(502, UNANSWERED, messages.answer())

    def _replaced(self, response: UpstreamResponse, body: bytes) -> Response:
        """Return *response* with *body*, which every reader takes for what was validated."""
        if self._enforces:
            response.set_header(b"content-type", b"application/json")
        return replaced(response, body)

    def _relay_events(
        self, request: CountedRequest, response: UpstreamResponse, messages: HttpMessages
    ) -> Response:
        """Relay a *response* that is a stream, which has the session until it ends."""
        connection = messages.connection
        connection.acquire()
        if self._enforces:
            response.set_header(b"content-type", b"text/event-stream")
        events = self._events.relay(response, request.headers.raw, messages, request.response_bytes)
        return relayed(request, response, events, connection.release)

    async def _fetch(self, request: CountedRequest, body: bytes) -> tuple[UpstreamResponse, bytes]:
        """Return the response to *body*, with its own if that is a message."""
        response = await self._send(request, body)
        is_error = self._enforces and response.status >= _FIRST_ERROR
        if is_error or (response.media_type == _JSON and response.is_success):
            return response, await response.read(self._max_bytes, request.response_bytes)
        return response, b""

    async def _relay_other(
        self, request: CountedRequest, messages: HttpMessages, response: UpstreamResponse
    ) -> Response:
        """Relay a *response* without a message."""
        leads_back = self._redirect(response)
        due = messages.answer()
        if due is None and response.is_read:
            return replaced(response, b"")
        if leads_back or (due is None and not self._leads_past(messages, response)):
            return relayed(request, response)
        if response.is_read or response.status == 202:
            # Nothing else is to come: a batch may have had no request that the server got.
            response.close()
            return Response(due, media_type=_JSON)
        if messages.admits_unread("server", "a response that is neither JSON nor events"):
            return relayed(request, response)
        response.close()
        return problem(502, UNANSWERED, due)

    async def _stream(self, request: CountedRequest, headers: Mapping[str, str]) -> Response:
        """Relay a GET, whose response is a stream of the server's messages, or a DELETE."""
        try:
            response = await while_connected(request, self._send(request, None))
        except UpstreamError:
            self._add("server", "UPSTREAM_UNAVAILABLE", Action.REJECTED, UNANSWERED)
            return problem(502, UNANSWERED)
        messages = self._messages(headers)
        try:
            kind = await messages.begin_response(request.method, response.status, response.headers)
            if kind == "events":
                return self._relay_events(request, response, messages)
            if self._redirect(response):
                return relayed(request, response)
            # Some clients read the stream of a GET whatever its type is.
            is_stream = request.method == "GET" and response.is_success and response.status != 204
            if not (is_stream or self._leads_past(messages, response)):
                return relayed(request, response)
            if not is_stream:
                response.close()
                return problem(502, UNANSWERED)
            if messages.admits_unread("server", "a response to GET that is not of events"):
                return relayed(request, response)
            response.close()
            return problem(502, UNANSWERED)
        finally:
            await messages.release()

    def _redirect(self, response: UpstreamResponse) -> bool:
        """Let a redirection to the server itself lead to the proxy; return whether it does."""
        location = response.location
        target = None if location is None else self._upstream.target_at(location)
        if target is not None:
            response.lead_to(target)
        return target is not None

    def _leads_past(self, messages: HttpMessages, response: UpstreamResponse) -> bool:
        """Return whether *response* leads to another server, and may not."""
        note = "a redirection to another server"
        return response.location is not None and not messages.admits_unread("server", note)

    def _messages(self, headers: Mapping[str, str]) -> HttpMessages:
        return HttpMessages(
            self._connections,
            self._policies,
            self._report,
            headers,
            self._record,
            enforces=self._enforces,
        )

    async def _send(self, request: CountedRequest, body: bytes | None) -> UpstreamResponse:
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

    def _add(self, sender: Direction, code: str, action: Action, note: str) -> None:
        self._report.add(Finding(sender=sender, code=code, action=action, note=note))


def _is_utf8(value: bytes) -> bool:
    """Return whether *value* can be sent on as it is; values should be ASCII (RFC 9110, 5.5)."""
    try:
        value.decode()
    except UnicodeDecodeError:
        return False
    return True
