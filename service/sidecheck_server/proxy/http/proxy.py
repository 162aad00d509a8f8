"""Proxy over Streamable HTTP, in front of the server at one URL.

Clauses: 2025-03-26 to 2025-11-25, basic/transports, "Streamable HTTP", with sessions and GET
streams; 2026-07-28, basic/transports/streamable-http, without either.
"""

from collections.abc import AsyncIterator, Awaitable, Mapping
from http import HTTPStatus

from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from sidecheck_server.proxy.http.bounds import HttpBounds, rejection_response
from sidecheck_server.proxy.http.bytes import ByteBudgetError
from sidecheck_server.proxy.http.checks import CallerCheck
from sidecheck_server.proxy.http.connections import UNANSWERED, HttpConnections
from sidecheck_server.proxy.http.encodings import (
    BodyDecoder,
    EncodingError,
    content_encoding,
    encoding_name,
)
from sidecheck_server.proxy.http.events import EventRelay
from sidecheck_server.proxy.http.exchange import (
    CountedRequest,
    problem_response,
    relay_response,
    replace_body,
    run_while_connected,
    send_in_pieces,
)
from sidecheck_server.proxy.http.forwarding import Forwarder
from sidecheck_server.proxy.http.headers import combine, end_to_end_headers, is_lookalike
from sidecheck_server.proxy.http.listing import ENDED_SESSIONS, REQUEST_HEADERS
from sidecheck_server.proxy.http.messages import HttpMessages, Reply
from sidecheck_server.proxy.http.paths import OtherPaths, is_ambiguous_path
from sidecheck_server.proxy.http.sse_transport import SseTransport
from sidecheck_server.proxy.http.timeouts import CallTimeouts, Deadline
from sidecheck_server.proxy.http.upstream import (
    BodyTooLargeError,
    Upstream,
    UpstreamError,
    UpstreamResponse,
    decode_body,
)
from sidecheck_server.proxy.messages import Direction, has_result, parse_received
from sidecheck_server.proxy.options import ProxyOptions
from sidecheck_server.proxy.report import Action, Finding, Report
from sidecheck_server.proxy.rulings.pins import LockFileError
from sidecheck_server.proxy.transcript import Transcript

__all__ = ["HttpProxy"]

_JSON = "application/json"
_ACCEPTED_METHODS = {"GET", "POST", "DELETE", "PUT", "PATCH", "OPTIONS", "HEAD"}
_SESSION_HEADER = "mcp-session-id"
_CALLER_OPTIONS = {"Origin": "--allow-origin ORIGIN", "Host": "--allow-host NAME"}
_TRANSPORT_METHODS = {"GET", "POST", "DELETE", "HEAD"}
_FIRST_ERROR = 400
_EMPTY_STATUSES = {202, 204}
_REDIRECT = "a redirection to another server"


class UnreadableBodyError(Exception):
    """The body of a response cannot be read, and is rejected."""


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
        self._timeouts = CallTimeouts(options.timeout, upstream, report)
        self._events = EventRelay(
            upstream, report, self._max_bytes, self._timeouts, options.keep_alive
        )
        self._forwarder = Forwarder(upstream, options.public_url)

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
            body = await self._read_body(request)
            if body is None:
                return await self._pass_large(request)
            if request.method == "POST" and (stream := self._sse.find(path, query)):
                return await self._sse.relay_message(request, stream, body)
            if request.method == "OPTIONS" or not self._upstream.is_server(path):
                return await self._forward(request, body)
            if request.method not in _TRANSPORT_METHODS:
                note = "Streamable HTTP has GET, POST and DELETE"
                if not self._create_messages({}).report_and_decide("client", note):
                    return problem_response(405, f"method not allowed; {note}")
                return await self._forward(request, body)
            REQUEST_HEADERS.set(request.headers.raw)
            if request.method == "POST":
                return await self._relay(request, headers, body)
            return await self._stream(request, headers)
        except ByteBudgetError as error:
            self._bounds.rejections.add("TOO_MANY_BYTES", str(error))
            return rejection_response(HTTPStatus.SERVICE_UNAVAILABLE, "TOO_MANY_BYTES", str(error))
        except ClientDisconnect:
            return Response(status_code=499)

    async def _read_body(self, request: CountedRequest) -> bytes | None:
        """Return the body of *request*, None if it is over the limit and passes.

        Raises:
            ByteBudgetError: the budget of held bytes is exhausted.
            ClientDisconnect: the client is gone.
        """
        try:
            return await request.read(self._max_bytes)
        except BodyTooLargeError:
            return None

    async def _pass_large(self, request: CountedRequest) -> Response:
        """Relay a *request* with a body over the limit in pieces; reject it under enforcement."""
        note = f"a message is larger than {self._max_bytes:,} bytes (--max-message-bytes)"
        self._add("client", "MESSAGE_TOO_LONG", self._action, note)
        if self._enforces:
            return problem_response(413, note)
        return await self._pass_unread(request, request.rest())

    async def _pass_unread(
        self, request: CountedRequest, body: bytes | AsyncIterator[bytes]
    ) -> Response:
        """Relay *body* of a *request* that cannot be read, and the response.

        Without the request, a message in the response would count as unexpected.
        """
        try:
            response = await self._forwarder.send(request, body, keeps_encoding=True)
        except UpstreamError:
            return problem_response(502, UNANSWERED)
        self._forwarder.rewrite_location(response)
        return relay_response(request, response)

    def _reject(self, request: CountedRequest, headers: Mapping[str, str]) -> Response | None:
        """Return the response to a *request* that is rejected before its body is read."""
        if header := self._callers.find_fault(headers):
            note = f"the value of the {header} header is not allowed ({_CALLER_OPTIONS[header]})"
            self._add("client", "CALLER_NOT_ALLOWED", Action.REJECTED, note)
            return problem_response(403, note)
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
        path, query = request.scope["raw_path"], request.scope["query_string"]
        is_endpoint = self._upstream.is_server(path) or self._sse.find(path, query) is not None
        if self._enforces and body and is_endpoint:
            return problem_response(415, f"a body of {request.method} is not validated")
        if any("jsonrpc" in message.properties for message in parse_received(body).messages):
            note = "a message for a path other than that of --upstream"
            if not self._create_messages({}).report_and_decide("client", note):
                return problem_response(404, note)
        try:
            response = await run_while_connected(
                request, self._forwarder.send(request, body or None)
            )
            metadata = await self._forwarder.read_metadata(request, response, self._max_bytes)
        except UpstreamError:
            return problem_response(502, UNANSWERED)
        if metadata is not None:
            return replace_body(response, metadata)
        return relay_response(request, response)

    async def _relay(
        self, request: CountedRequest, headers: Mapping[str, str], body: bytes
    ) -> Response:
        """Validate the message of a POST; relay the message and the response."""
        messages = self._create_messages(headers)
        encoding = content_encoding(headers)
        if encoding:
            name = encoding_name(encoding)
            note = f"a request with the content encoding {name}; send it without an encoding"
            if not messages.report_and_decide("client", note):
                return problem_response(415, note)
        try:
            text = decode_body(body, encoding, self._max_bytes)
        except (BodyTooLargeError, EncodingError):
            return await self._pass_unread(request, body)
        ended_sessions: list[bytes] = []
        ENDED_SESSIONS.set(ended_sessions)
        try:
            admission = await messages.admit(text)
            if isinstance(admission, Reply) and ended_sessions and _SESSION_HEADER in headers:
                await self._connections.end(headers)
                return Response(ended_sessions[0], HTTPStatus.NOT_FOUND)
            if isinstance(admission, Reply):
                media_type = _JSON if admission.body else None
                return Response(admission.body, admission.status, media_type=media_type)
            is_same = admission == text
            return await self._send_message(
                request, messages, body if is_same else admission, keeps_encoding=is_same
            )
        except LockFileError as error:
            self._add("server", "PINS_NOT_WRITTEN", Action.REJECTED, str(error))
            return problem_response(500, "the tools could not be pinned", messages.answer())
        finally:
            await messages.release()

    async def _send_message(
        self,
        request: CountedRequest,
        messages: HttpMessages,
        body: bytes,
        *,
        keeps_encoding: bool,
    ) -> Response:
        """Send *body*, an admitted message or batch, to the server; relay the response."""
        deadline = self._timeouts.begin(messages)
        try:
            async with deadline:
                sent = self._forwarder.send(request, body, keeps_encoding=keeps_encoding)
                response, text = await run_while_connected(
                    request, self._fetch(request, messages, sent)
                )
        except TimeoutError:
            self._timeouts.cancel(messages, request.headers.raw)
            error = messages.answer(reason=self._timeouts.reason)
            return Response(error, media_type=_JSON)
        except UpstreamError:
            self._add("server", "UPSTREAM_UNAVAILABLE", Action.REJECTED, UNANSWERED)
            return problem_response(502, UNANSWERED, messages.answer())
        except UnreadableBodyError as error:
            return problem_response(502, str(error), messages.answer(reason=str(error)))
        except ByteBudgetError as error:
            self._bounds.rejections.add("TOO_MANY_BYTES", str(error), "server")
            return problem_response(502, str(error), messages.answer(reason=str(error)))
        except ClientDisconnect:
            messages.answer()
            raise
        body_kind = await messages.begin_response("POST", response.status, response.headers)
        if body_kind == "events":
            return self._relay_events(request, response, messages, deadline)
        if text is None:
            messages.answer()
            return relay_response(request, response)
        if text and body_kind == "message":
            return self._replace_body(request, response, text, await messages.rule_body(text))
        if self._enforces and response.status >= _FIRST_ERROR:
            return self._relay_error(messages, response, text)
        return await self._relay_other(request, messages, response, has_text=bool(text))

    def _relay_error(
        self, messages: HttpMessages, response: UpstreamResponse, text: bytes
    ) -> Response:
        """Relay a *response* with an error status; reject it if *text* has a result."""
        if not has_result(text):
            return replace_body(response, text)
        note = "a result with an HTTP error status"
        self._add("server", "NOT_VALIDATED", Action.REJECTED, note)
        return problem_response(502, note, messages.answer(reason=note))

    def _replace_body(
        self, request: CountedRequest, response: UpstreamResponse, text: bytes, body: bytes
    ) -> Response:
        """Return *response*, whose body is *text*, with the validated *body*."""
        if body == text and not self._enforces:
            return relay_response(request, response)
        if self._enforces:
            # A precise content type makes every reader parse the body as it was validated.
            response.set_header(b"content-type", b"application/json")
        return replace_body(response, body)

    def _relay_events(
        self,
        request: CountedRequest,
        response: UpstreamResponse,
        messages: HttpMessages,
        deadline: Deadline,
    ) -> Response:
        """Relay a *response* of events, which holds the session until it ends."""
        encoding = response.encoding
        try:
            decoder = BodyDecoder(encoding)
        except EncodingError as error:
            messages.report("NOT_VALIDATED", str(error))
            answer = messages.answer(reason=str(error))
            if not self._enforces:
                return relay_response(request, response)
            response.close()
            return problem_response(502, str(error), answer)
        connection = messages.connection
        connection.acquire()
        if self._enforces:
            response.set_header(b"content-type", b"text/event-stream")
        passes_encoded = bool(encoding) and not self._enforces
        arguments = (request.headers.raw, messages, request.response_bytes)
        events = (
            self._events.relay_encoded(response, decoder, *arguments)
            if passes_encoded
            else self._events.relay(response, *arguments, deadline)
        )
        if request.method == "GET" and not encoding and _SESSION_HEADER not in request.headers:
            events = self._sse.relay(request, response, events)
        return relay_response(
            request, response, events, connection.release, keeps_encoding=passes_encoded
        )

    async def _fetch(
        self,
        request: CountedRequest,
        messages: HttpMessages,
        sent: Awaitable[UpstreamResponse],
    ) -> tuple[UpstreamResponse, bytes | None]:
        """Return the response to the *sent* request, and its body if it must be read at once.

        The body is None if it cannot be read, and passes.

        Raises:
            ByteBudgetError: the budget of held bytes is exhausted.
            UnreadableBodyError: the body cannot be read, and is rejected.
            UpstreamError: the server does not respond, or not completely.
        """
        response = await sent
        is_error = self._enforces and response.status >= _FIRST_ERROR
        if not (is_error or (response.media_type == _JSON and response.is_success)):
            return response, b""
        try:
            return response, await response.read(self._max_bytes, request.response_bytes)
        except BodyTooLargeError:
            code = "MESSAGE_TOO_LONG"
            note = f"a response is larger than {self._max_bytes:,} bytes (--max-message-bytes)"
        except EncodingError as error:
            code, note = "NOT_VALIDATED", str(error)
        messages.report(code, note)
        if self._enforces:
            response.close()
            raise UnreadableBodyError(note)
        request.response_bytes.shrink()
        return response, None

    async def _relay_other(
        self,
        request: CountedRequest,
        messages: HttpMessages,
        response: UpstreamResponse,
        *,
        has_text: bool,
    ) -> Response:
        """Relay a *response* without a message; with *has_text*, its body is another one."""
        if self._forwarder.rewrite_location(response):
            messages.answer()
            return relay_response(request, response)
        if response.location is not None and self._rejects_redirect(messages, response):
            response.close()
            return problem_response(502, _REDIRECT, messages.answer(reason=_REDIRECT))
        if not (response.is_success or self._enforces):
            return relay_response(request, response)
        if not has_text and (response.is_read or response.status in _EMPTY_STATUSES):
            # The server has no more to send. For a batch, the errors of rejected messages remain.
            error = messages.end_without_response(response.status)
            if error is None:
                return relay_response(request, response)
            response.close()
            if response.status == HTTPStatus.NO_CONTENT:
                return problem_response(502, UNANSWERED, error)
            return Response(error, media_type=_JSON)
        error = messages.reject("NOT_VALIDATED", messages.fault)
        if error is None or not self._enforces:
            return relay_response(request, response)
        response.close()
        return problem_response(502, messages.fault, error)

    async def _stream(self, request: CountedRequest, headers: Mapping[str, str]) -> Response:
        """Relay a DELETE, or a GET for a stream of messages from the server."""
        try:
            response = await run_while_connected(request, self._forwarder.send(request, None))
        except UpstreamError:
            self._add("server", "UPSTREAM_UNAVAILABLE", Action.REJECTED, UNANSWERED)
            return problem_response(502, UNANSWERED)
        messages = self._create_messages(headers)
        try:
            body_kind = await messages.begin_response(
                request.method, response.status, response.headers
            )
            if body_kind == "events":
                return self._relay_events(request, response, messages, Deadline(None))
            if self._forwarder.rewrite_location(response):
                return relay_response(request, response)
            # Some clients read events from a GET response of any content type.
            is_stream = request.method == "GET" and response.is_success and response.status != 204
            if not (is_stream or self._rejects_redirect(messages, response)):
                return relay_response(request, response)
            note = _REDIRECT
            if is_stream:
                note = "a GET response that is not an event stream"
                if messages.report_and_decide("server", note):
                    return relay_response(request, response)
            response.close()
            return problem_response(502, note)
        finally:
            await messages.release()

    def _rejects_redirect(self, messages: HttpMessages, response: UpstreamResponse) -> bool:
        """Return whether *response* is a redirection to another server that is rejected."""
        return response.location is not None and not messages.report_and_decide("server", _REDIRECT)

    def _create_messages(self, headers: Mapping[str, str]) -> HttpMessages:
        return HttpMessages(
            self._connections,
            self._policies,
            self._report,
            headers,
            self._record,
            enforces=self._enforces,
        )

    @property
    def _action(self) -> Action:
        return Action.REJECTED if self._enforces else Action.PASSED

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
