"""Proxy over Streamable HTTP, in front of the server at one URL.

Clauses: 2025-03-26 to 2025-11-25, basic/transports, "Streamable HTTP", with sessions and GET
streams; 2026-07-28, basic/transports/streamable-http, without either.
"""

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
from sidecheck_server.http_servers.operating_system import STOP_SIGNALS
from sidecheck_server.http_servers.server import HttpServer, open_listener
from sidecheck_server.proxy.http_bounds import HttpBounds, rejection_response
from sidecheck_server.proxy.http_bytes import ByteBudgetError
from sidecheck_server.proxy.http_checks import CallerCheck
from sidecheck_server.proxy.http_connections import UNANSWERED, HttpConnections
from sidecheck_server.proxy.http_exchange import (
    CountedRequest,
    EventRelay,
    problem_response,
    read_body,
    relay_response,
    replace_body,
    run_while_connected,
    send_in_pieces,
)
from sidecheck_server.proxy.http_headers import (
    BODY_HEADERS,
    combine,
    end_to_end_headers,
    is_lookalike,
)
from sidecheck_server.proxy.http_limits import HttpAddress
from sidecheck_server.proxy.http_listing import ENDED_SESSIONS, REQUEST_HEADERS
from sidecheck_server.proxy.http_messages import HttpMessages, Reply
from sidecheck_server.proxy.http_sse_transport import SseTransport
from sidecheck_server.proxy.messages import Direction, has_result, parse_received
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
    "is_ambiguous_path",
    "serve_http",
]

_GRACE_SECONDS = 5
_IDLE_SECONDS = 75
"""Seconds before an idle connection is closed: longer than clients keep connections for reuse."""


async def serve_http(
    application: ASGIApp,
    address: HttpAddress,
    bounds: ClientBounds,
    report_ready: Callable[[int], None],
) -> None:
    """Serve *application* within *bounds* until a signal.

    *report_ready* is called with the port.

    Raises:
        OSError: the address cannot be used, or a file cannot be read.
        ssl.SSLError: a file does not contain a certificate or key.
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
        await HttpServer(config, bounds, STOP_SIGNALS).serve(sockets=[listener])


def _listen(address: Address) -> socket.socket:
    try:
        return open_listener(address)
    except OSError as error:
        raise OSError(f"{address}: {error.strerror or error}") from None


_READ_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
_WRITE_METHODS = frozenset({"POST", "OPTIONS"})

_METADATA_PREFIX = "/.well-known/"
"""Prefix of the paths of authorization metadata (RFC 8414, section 3; RFC 9728, section 3)."""

_AUTHORIZATION_METHODS: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        # Default endpoints of a server that is its own authorization server (2025-03-26,
        # basic/authorization, "Fallbacks for Servers without Metadata Discovery").
        "/authorize": _READ_METHODS | _WRITE_METHODS,
        "/token": _WRITE_METHODS,
        "/register": _WRITE_METHODS,
        # Endpoints of RFC 7009 and RFC 7662, under their names in the official SDKs.
        "/revoke": _WRITE_METHODS,
        "/introspect": _WRITE_METHODS,
    }
)


class OtherPaths:
    """Paths that pass beyond the MCP endpoint: *allowed* paths and paths below them."""

    def __init__(self, allowed: Collection[str] = ()) -> None:
        self._allowed = tuple(path.rstrip("/") for path in allowed)

    def admits(self, method: str, path: bytes) -> bool:
        """Return whether a request of *method* for *path* passes under enforcement."""
        text = path.decode("latin-1")
        if is_ambiguous_path(path):
            return False
        if text.startswith(_METADATA_PREFIX):
            return method in _READ_METHODS
        if method in _AUTHORIZATION_METHODS.get(text, ()):
            return True
        return any(text == allowed or text.startswith(f"{allowed}/") for allowed in self._allowed)


def is_ambiguous_path(path: bytes) -> bool:
    """Return whether some readers may resolve *path* to a different path.

    Such a path has a fragment, a segment ``.`` or ``..`` (RFC 3986, section 5.2.4), a backslash
    or a semicolon, possibly percent-encoded several times.
    """
    text = path.decode("latin-1")
    for _ in range(_DECODINGS):
        if any(character in text for character in "#\\;") or not {".", ".."}.isdisjoint(
            text.split("/")
        ):
            return True
        text = unquote(text, "latin-1")
    return "%" in text


_DECODINGS = 3
"""Number of times to percent-decode a path; one with escapes left after that is rejected."""


_JSON = "application/json"
_ACCEPTED_METHODS = {"GET", "POST", "DELETE", "PUT", "PATCH", "OPTIONS", "HEAD"}
_UNENCODED_BODY_HEADERS = BODY_HEADERS | {b"accept-encoding"}
"""Request headers to replace, so that the server sends unencoded bodies, which the proxy reads."""
_SESSION_HEADER = "mcp-session-id"
_TRANSPORT_METHODS = {"GET", "POST", "DELETE", "HEAD"}
_FIRST_ERROR = 400


class HttpProxy:
    """Relays requests to the server *upstream*, and validates the messages in them.

    Requests for other paths are forwarded unchanged unless they contain a message. If a policy
    enforces, `OtherPaths` must admit them.
    """

    def __init__(  # noqa: PLR0913, PLR0917  (its components)
        self,
        upstream: Upstream,
        connections: HttpConnections,
        callers: CallerCheck,
        report: Report,
        transcript: Transcript | None,
        options: ProxyOptions,
        bounds: HttpBounds,
        sse: SseTransport,
    ) -> None:
        self._upstream = upstream
        self._connections = connections
        self._sse = sse
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
        # Headers that the Connection header names are dropped, so they must not count here either.
        headers = combine(end_to_end_headers(request.headers.raw, ()))
        path, query = request.scope["raw_path"], request.scope["query_string"]
        try:
            body = await read_body(request, self._max_bytes)
            if request.method == "POST" and (stream := self._sse.find(path, query)):
                return await self._sse.relay_message(request, stream, body)
            if request.method == "OPTIONS" or not self._upstream.is_server(path):
                return await self._forward(request, body)
            if request.method not in _TRANSPORT_METHODS:
                return problem_response(
                    405, "method not allowed; Streamable HTTP has GET, POST and DELETE"
                )
            if headers.get("content-encoding", "").strip().lower() not in {"", "identity"}:
                return problem_response(415, "the body is encoded")
            REQUEST_HEADERS.set(request.headers.raw)
            if request.method == "POST":
                return await self._relay(request, headers, body)
            return await self._stream(request, headers)
        except BodyTooLargeError:
            note = f"a message is larger than {self._max_bytes:,} bytes (--max-message-bytes)"
            self._add("client", "MESSAGE_TOO_LONG", Action.REJECTED, note)
            return problem_response(413, note)
        except ByteBudgetError as error:
            self._bounds.rejections.add("TOO_MANY_BYTES", str(error))
            return rejection_response(HTTPStatus.SERVICE_UNAVAILABLE, "TOO_MANY_BYTES", str(error))
        except ClientDisconnect:
            return Response(status_code=499)

    def _reject(self, request: CountedRequest, headers: Mapping[str, str]) -> Response | None:
        """Return the response to a *request* that is rejected before its body is read."""
        if fault := self._callers.find_fault(headers):
            self._add("client", "CALLER_NOT_ALLOWED", Action.REJECTED, fault)
            return problem_response(403, fault)
        if request.method not in _ACCEPTED_METHODS:
            return problem_response(405, "the method is not supported")
        if not request.scope["raw_path"].startswith(b"/"):
            return problem_response(400, "the request target must be a path")
        if not all(_is_utf8(value) for _, value in request.headers.raw):
            return problem_response(400, "a header is not UTF-8")
        if self._enforces and any(is_lookalike(name) for name, _ in request.headers.raw):
            return problem_response(400, "a header has an underscore in place of a hyphen")
        path: bytes = request.scope["raw_path"]
        is_known = (
            not is_ambiguous_path(path)
            if self._upstream.is_server(path)
            else self._other_paths.admits(request.method, path)
        )
        is_endpoint = self._sse.find(path, request.scope["query_string"]) is not None
        if self._enforces and not (is_known or is_endpoint):
            note = "neither the MCP endpoint nor an allowed path (--allow-path)"
            self._add("client", "PATH_NOT_ALLOWED", Action.REJECTED, note)
            return problem_response(404, note)
        return None

    async def _forward(self, request: CountedRequest, body: bytes) -> Response:
        """Forward a request that is not part of MCP, such as one for authorization."""
        if self._enforces and body and self._upstream.is_server(request.scope["raw_path"]):
            return problem_response(415, "a body of OPTIONS is not validated")
        if any("jsonrpc" in message.properties for message in parse_received(body).messages):
            note = "a message for a path other than that of --upstream"
            if not self._create_messages({}).report_and_decide("client", note):
                return problem_response(404, note)
        try:
            return relay_response(
                request, await run_while_connected(request, self._send(request, body or None))
            )
        except UpstreamError:
            return problem_response(502, UNANSWERED)

    async def _relay(
        self, request: CountedRequest, headers: Mapping[str, str], body: bytes
    ) -> Response:
        """Validate the message of a POST; relay the message and the response."""
        messages = self._create_messages(headers)
        ended_sessions: list[bytes] = []
        ENDED_SESSIONS.set(ended_sessions)
        try:
            admission = await messages.admit(body)
            if isinstance(admission, Reply) and ended_sessions and _SESSION_HEADER in headers:
                await self._connections.end(headers)
                return Response(ended_sessions[0], HTTPStatus.NOT_FOUND)
            if isinstance(admission, Reply):
                media_type = _JSON if admission.body else None
                return Response(admission.body, admission.status, media_type=media_type)
            return await self._send_message(request, messages, admission)
        except LockFileError as error:
            self._add("server", "PINS_NOT_WRITTEN", Action.REJECTED, str(error))
            return problem_response(500, "the tools could not be pinned", messages.answer())
        finally:
            await messages.release()

    async def _send_message(
        self, request: CountedRequest, messages: HttpMessages, body: bytes
    ) -> Response:
        """Send *body*, an admitted message or batch, to the server; relay the response."""
        try:
            response, text = await run_while_connected(request, self._fetch(request, body))
        except UpstreamError:
            self._add("server", "UPSTREAM_UNAVAILABLE", Action.REJECTED, UNANSWERED)
            return problem_response(502, UNANSWERED, messages.answer())
        except BodyTooLargeError:
            note = f"a response is larger than {self._max_bytes:,} bytes (--max-message-bytes)"
            self._add("server", "MESSAGE_TOO_LONG", Action.REJECTED, note)
            return problem_response(502, note, messages.answer())
        except ByteBudgetError as error:
            self._bounds.rejections.add("TOO_MANY_BYTES", str(error), "server")
            return problem_response(502, str(error), messages.answer())
        except ClientDisconnect:
            messages.answer()
            raise
        body_kind = await messages.begin_response("POST", response.status, response.headers)
        if body_kind == "events":
            return self._relay_events(request, response, messages)
        if text and body_kind == "message":
            return self._replace_body(response, await messages.rule_body(text))
        if self._enforces and response.status >= _FIRST_ERROR:
            return self._relay_error(messages, response, text)
        return await self._relay_other(request, messages, response)

    def _relay_error(
        self, messages: HttpMessages, response: UpstreamResponse, text: bytes
    ) -> Response:
        """Relay a *response* with an error status; reject it if *text* has a result."""
        if not has_result(text):
            return replace_body(response, text)
        note = "a result with an HTTP error status"
        self._add("server", "NOT_VALIDATED", Action.REJECTED, note)
        return problem_response(502, UNANSWERED, messages.answer())

    def _replace_body(self, response: UpstreamResponse, body: bytes) -> Response:
        """Return *response* with the validated *body*."""
        if self._enforces:
            # A precise content type makes every reader parse the body as it was validated.
            response.set_header(b"content-type", b"application/json")
        return replace_body(response, body)

    def _relay_events(
        self, request: CountedRequest, response: UpstreamResponse, messages: HttpMessages
    ) -> Response:
        """Relay a *response* of events, which holds the session until it ends."""
        connection = messages.connection
        connection.acquire()
        if self._enforces:
            response.set_header(b"content-type", b"text/event-stream")
        events = self._events.relay(response, request.headers.raw, messages, request.response_bytes)
        if request.method == "GET" and _SESSION_HEADER not in request.headers:
            events = self._sse.relay(request, response, events)
        return relay_response(request, response, events, connection.release)

    async def _fetch(self, request: CountedRequest, body: bytes) -> tuple[UpstreamResponse, bytes]:
        """Return the response to *body*, and its body if it must be read at once."""
        response = await self._send(request, body)
        is_error = self._enforces and response.status >= _FIRST_ERROR
        if is_error or (response.media_type == _JSON and response.is_success):
            return response, await response.read(self._max_bytes, request.response_bytes)
        return response, b""

    async def _relay_other(
        self, request: CountedRequest, messages: HttpMessages, response: UpstreamResponse
    ) -> Response:
        """Relay a *response* without a message."""
        leads_to_proxy = self._rewrite_location(response)
        error = messages.answer()
        if error is None and response.is_read:
            return replace_body(response, b"")
        if leads_to_proxy or (error is None and not self._rejects_redirect(messages, response)):
            return relay_response(request, response)
        if response.is_read or response.status == 202:
            # The server has no more to send. For a batch, the errors of rejected messages remain.
            response.close()
            return Response(error, media_type=_JSON)
        if messages.report_and_decide("server", "a response that is neither JSON nor events"):
            return relay_response(request, response)
        response.close()
        return problem_response(502, UNANSWERED, error)

    async def _stream(self, request: CountedRequest, headers: Mapping[str, str]) -> Response:
        """Relay a DELETE, or a GET for a stream of messages from the server."""
        try:
            response = await run_while_connected(request, self._send(request, None))
        except UpstreamError:
            self._add("server", "UPSTREAM_UNAVAILABLE", Action.REJECTED, UNANSWERED)
            return problem_response(502, UNANSWERED)
        messages = self._create_messages(headers)
        try:
            body_kind = await messages.begin_response(
                request.method, response.status, response.headers
            )
            if body_kind == "events":
                return self._relay_events(request, response, messages)
            if self._rewrite_location(response):
                return relay_response(request, response)
            # Some clients read events from a GET response of any content type.
            is_stream = request.method == "GET" and response.is_success and response.status != 204
            if not (is_stream or self._rejects_redirect(messages, response)):
                return relay_response(request, response)
            if not is_stream:
                response.close()
                return problem_response(502, UNANSWERED)
            if messages.report_and_decide("server", "a GET response that is not an event stream"):
                return relay_response(request, response)
            response.close()
            return problem_response(502, UNANSWERED)
        finally:
            await messages.release()

    def _rewrite_location(self, response: UpstreamResponse) -> bool:
        """Point a redirection within the server at the proxy; return whether it is one."""
        location = response.location
        target = None if location is None else self._upstream.resolve_location(location)
        if target is not None:
            response.set_location(target)
        return target is not None

    def _rejects_redirect(self, messages: HttpMessages, response: UpstreamResponse) -> bool:
        """Return whether *response* is a redirection to another server that is rejected."""
        note = "a redirection to another server"
        return response.location is not None and not messages.report_and_decide("server", note)

    def _create_messages(self, headers: Mapping[str, str]) -> HttpMessages:
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
        target = self._upstream.build_target(path, request.scope["query_string"])
        excluded = (
            _UNENCODED_BODY_HEADERS if self._upstream.is_server(path) else {b"content-length"}
        )
        headers = end_to_end_headers(request.headers.raw, excluded)
        if excluded is _UNENCODED_BODY_HEADERS:
            headers.append((b"accept-encoding", b"identity"))
        return await self._upstream.send(request.method, target, headers, body)

    def _record(self, text: bytes, sender: Direction, message: object) -> None:
        if self._transcript is not None and message is not None:
            self._transcript.write(text, sender)

    def _add(self, sender: Direction, code: str, action: Action, note: str) -> None:
        self._report.add(Finding(sender=sender, code=code, action=action, note=note))


def _is_utf8(value: bytes) -> bool:
    """Return whether the header *value* is UTF-8, and may be forwarded.

    Values should be ASCII (RFC 9110, section 5.5).
    """
    try:
        value.decode()
    except UnicodeDecodeError:
        return False
    return True
