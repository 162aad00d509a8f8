"""Relay of HTTP+SSE, the transport of 2024-11-05, which many servers still have.

Clause: 2024-11-05, basic/transports, "HTTP with SSE": the client opens a stream by GET, whose
first event, ``endpoint``, is the URL for its messages; all messages of the server are events of
that stream.
"""

import asyncio
import re
import secrets
from collections.abc import AsyncGenerator, Callable, Mapping
from itertools import count

from starlette.responses import Response

from sidecheck_server.proxy.http.bytes import ByteBudgetError
from sidecheck_server.proxy.http.connections import (
    UNANSWERED,
    Connection,
    MakeSession,
)
from sidecheck_server.proxy.http.encodings import (
    EncodingError,
    content_encoding,
    encoding_name,
)
from sidecheck_server.proxy.http.exchange import (
    CountedRequest,
    problem_response,
    relay_response,
    replace_body,
    run_while_connected,
)
from sidecheck_server.proxy.http.headers import (
    BODY_HEADERS,
    RawHeaders,
    build_request_headers,
    combine,
    end_to_end_headers,
)
from sidecheck_server.proxy.http.listing import REQUEST_HEADERS
from sidecheck_server.proxy.http.messages import HttpMessages, Reply
from sidecheck_server.proxy.http.sse import Event, EventReader, EventTooLongError
from sidecheck_server.proxy.http.sse_streams import (
    SseMessages,
    SseStream,
    StreamConnections,
    StreamStart,
    merge_replies,
    target_key,
)
from sidecheck_server.proxy.http.upstream import (
    BodyTooLargeError,
    Upstream,
    UpstreamError,
    UpstreamResponse,
    decode_body,
)
from sidecheck_server.proxy.messages import Direction, Message, has_result, join_object
from sidecheck_server.proxy.options import ProxyOptions
from sidecheck_server.proxy.report import Action, Finding, Findings
from sidecheck_server.proxy.rulings.listing_pages import ListingFailed, ListTools
from sidecheck_server.proxy.rulings.listings import Listings
from sidecheck_server.proxy.rulings.pins import LockFileError
from sidecheck_server.proxy.transcript import Transcript

__all__ = ["SseTransport"]

_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*+:", re.IGNORECASE)
"""Scheme of a URL (RFC 3986, section 3.1). Browsers read ``https:/host/`` as another host where the
scheme is not that of the page."""

_REPLY_SECONDS = 10.0
_LISTING_SECONDS = 10.0
_JSON = "application/json"
_ENDED = "the server ended the stream before it responded"
_OTHER_SERVER = "an endpoint of another server, whose messages do not pass the proxy"


class SseTransport:
    """Streams of HTTP+SSE that are open, and the messages that clients send for them."""

    def __init__(
        self,
        upstream: Upstream,
        make_listings: Callable[[ListTools], Listings],
        make_session: MakeSession,
        report: Findings,
        transcript: Transcript | None,
        options: ProxyOptions,
    ) -> None:
        self._upstream = upstream
        self._make_listings = make_listings
        self._make_session = make_session
        self._report = report
        self._transcript = transcript
        self._policies = options.policies
        self._enforces = options.enforces
        self._max_bytes = options.max_message_bytes
        self._keep_alive = options.keep_alive
        #: Streams by the target for their messages.
        self._streams: dict[bytes, SseStream] = {}
        # Random, so that ids of the proxy never collide with ids of the client.
        self._id_prefix = f"sidecheck-{secrets.token_hex(8)}-"
        self._ids = count(1)

    def find(self, path: bytes, query: bytes) -> SseStream | None:
        """Return the open stream whose endpoint has *path* and *query*, None without one."""
        return self._streams.get(target_key(path, query))

    async def relay(
        self,
        request: CountedRequest,
        response: UpstreamResponse,
        events: AsyncGenerator[bytes],
    ) -> AsyncGenerator[bytes]:
        """Yield the events of *response* to a GET.

        Without an endpoint as its first event, *response* is a stream of Streamable HTTP, which
        *events* relays.
        """
        start = StreamStart(self._max_bytes, self._keep_alive, is_strict=self._enforces)
        source = events
        try:
            async for text in start.read(response):
                yield text
            endpoint = start.endpoint
            if endpoint is not None and self._is_own(endpoint):
                source = self._relay_stream(request, response, endpoint)
            elif endpoint is not None:
                action = Action.REJECTED if self._enforces else Action.PASSED
                self._add("NOT_VALIDATED", _OTHER_SERVER, action)
                if self._enforces:
                    return
                yield endpoint.text
            async for text in source:
                yield text
        finally:
            await source.aclose()
            await events.aclose()

    async def relay_message(
        self, request: CountedRequest, stream: SseStream, body: bytes
    ) -> Response:
        """Validate *body*, a message for *stream*; relay it and the response.

        Errors of the proxy are events of the stream, where the client expects responses.

        Raises:
            ClientDisconnect: the client is gone.
        """
        headers = combine(end_to_end_headers(request.headers.raw, ()))
        REQUEST_HEADERS.set(request.headers.raw)
        messages = self._messages(stream, headers)
        encoding = content_encoding(headers)
        if encoding:
            note = f"a request with the content encoding {encoding_name(encoding)}; send it without"
            if not messages.report_and_decide("client", note):
                return problem_response(415, note)
        try:
            text = decode_body(body, encoding, self._max_bytes)
        except (BodyTooLargeError, EncodingError):
            return await self._send_message(request, messages, body, keeps_body=True)
        try:
            admission = await messages.admit(text)
            if isinstance(admission, Reply):
                return _reply(stream, admission)
            if messages.reply is not None:
                stream.send(messages.reply)
            # In audit, the message and its encoding stay as they are.
            is_same = admission == text
            return await self._send_message(
                request, messages, body if is_same else admission, keeps_body=is_same
            )
        except LockFileError as error:
            self._add("PINS_NOT_WRITTEN", str(error))
            return problem_response(500, "the tools could not be pinned", messages.answer())
        finally:
            await messages.release()

    async def _send_message(
        self, request: CountedRequest, messages: HttpMessages, body: bytes, *, keeps_body: bool
    ) -> Response:
        excluded = {b"content-length"} if keeps_body else BODY_HEADERS
        headers = end_to_end_headers(request.headers.raw, excluded)
        query: bytes = request.scope["query_string"]
        target: bytes = request.scope["raw_path"] + (b"?" + query if query else b"")
        try:
            response = await run_while_connected(
                request, self._upstream.send("POST", target, headers, body)
            )
            if not response.is_success:
                # The server did not take the message. The client may send it again.
                messages.answer()
            if not self._enforces:
                return relay_response(request, response)
            text = await response.read(self._max_bytes, request.response_bytes)
        except (UpstreamError, BodyTooLargeError, ByteBudgetError, EncodingError):
            self._add("UPSTREAM_UNAVAILABLE", UNANSWERED)
            return problem_response(502, UNANSWERED, messages.answer())
        if not has_result(text):
            return replace_body(response, text)
        note = "a result in the response to a POST; over HTTP+SSE, results are events of the stream"
        self._add("NOT_VALIDATED", note)
        return problem_response(502, note, messages.answer())

    async def _relay_stream(
        self, request: CountedRequest, response: UpstreamResponse, endpoint: Event
    ) -> AsyncGenerator[bytes]:
        """Yield the *endpoint* and the events of *response* after it."""
        location = _location(endpoint)
        resolved = self._upstream.resolve_location(location)
        assert resolved is not None
        path, _, query = resolved.encode().partition(b"?")
        stream = self._open_stream(resolved.encode(), request.headers.raw)
        messages = self._messages(stream, combine(request.headers.raw))
        key = target_key(path, query)
        self._streams[key] = stream
        try:
            # A path without a host leads to the proxy as it is.
            is_relative = not (location.startswith("//") or _SCHEME.match(location))
            data = (endpoint.data or b"") if is_relative else resolved.encode()
            if self._enforces:
                yield endpoint.safe_text(data)
            else:
                yield endpoint.text if is_relative else endpoint.with_data(data)
            texts = merge_replies(self._rule_events(request, response, stream, messages), stream)
            try:
                async for text in texts:
                    yield text
            finally:
                await texts.aclose()
        finally:
            if self._streams.get(key) is stream:
                del self._streams[key]
            stream.close()
            await stream.connection.release()

    async def _rule_events(
        self,
        request: CountedRequest,
        response: UpstreamResponse,
        stream: SseStream,
        messages: HttpMessages,
    ) -> AsyncGenerator[bytes]:
        """Yield the events of *response* after the ruling on each."""
        reader = EventReader(self._max_bytes, splits_long_events=not self._enforces)
        has_parts = False
        held_bytes = request.response_bytes
        reason = _ENDED
        try:
            async for chunk in response.chunks():
                await held_bytes.grow(len(chunk))
                for event in reader.feed(chunk):
                    if event.is_part and not has_parts:
                        has_parts = True
                        self._add("MESSAGE_TOO_LONG", self._too_long, Action.PASSED)
                    if text := await self._rule_event(event, stream, messages):
                        yield text
                held_bytes.shrink(reader.buffered_bytes)
        except (EventTooLongError, LockFileError, ByteBudgetError, UpstreamError) as error:
            reason = self._report_end(error)
        if has_parts:
            return  # the response may have been in an event that was not read
        for error_text in stream.connection.session.fail_pending(reason):
            yield b"event: message\ndata: " + error_text + b"\n\n"

    def _report_end(self, error: Exception) -> str:
        """Report the *error* that ends a stream; return its text."""
        match error:
            case EventTooLongError():
                code, reason = "MESSAGE_TOO_LONG", self._too_long
            case LockFileError():
                self._add("PINS_NOT_WRITTEN", str(error))
                return "the tools could not be pinned"
            case ByteBudgetError():
                code, reason = "TOO_MANY_BYTES", str(error)
            case _:
                code, reason = "UPSTREAM_UNAVAILABLE", _ENDED
        self._add(code, reason)
        return reason

    async def _rule_event(
        self, event: Event, stream: SseStream, messages: HttpMessages
    ) -> bytes | None:
        if stream.take_response(event.data, self._id_prefix):
            return None
        if messages.rejects_endpoint(event):
            return None
        ruling = await messages.rule_event(event)
        if ruling.reply is not None:
            try:
                async with asyncio.timeout(_REPLY_SECONDS):
                    await self._post(stream, stream.headers, ruling.reply)
            except (UpstreamError, TimeoutError):
                self._add("UPSTREAM_UNAVAILABLE", "the server does not respond to a reply")
        return ruling.text

    def _open_stream(self, target: bytes, headers: RawHeaders) -> SseStream:
        async def list_tools(params: Mapping[str, bytes]) -> Message:
            return await self._list_tools(stream, params)

        tools = self._make_listings(list_tools)
        session = self._make_session(tools, from_beginning=True, protocol_version="")
        connection = Connection(session, tools, is_new=True)
        connection.acquire()
        stream = SseStream(target, headers, connection)
        return stream

    async def _list_tools(self, stream: SseStream, params: Mapping[str, bytes]) -> Message:
        """Request a page of tools, whose response is an event of *stream*.

        Raises:
            ListingFailed: the server does not respond.
        """
        id_ = f"{self._id_prefix}{next(self._ids)}"
        request = {"jsonrpc": b'"2.0"', "id": b'"%s"' % id_.encode(), "method": b'"tools/list"'}
        if params:
            request["params"] = join_object(params)
        try:
            with stream.expect_response(id_) as response:
                async with asyncio.timeout(_LISTING_SECONDS):
                    headers = REQUEST_HEADERS.get(stream.headers)
                    await self._post(stream, headers, join_object(request))
                    return await response
        except (UpstreamError, TimeoutError, ConnectionError):
            raise ListingFailed from None

    async def _post(self, stream: SseStream, headers: RawHeaders, text: bytes) -> None:
        """Send *text*, a message of the proxy, with the headers of the client.

        Raises:
            UpstreamError: the server does not accept it.
        """
        own = build_request_headers(end_to_end_headers(headers, BODY_HEADERS), {})
        response = await self._upstream.send("POST", stream.target, own, text)
        response.close()
        if not response.is_success:
            raise UpstreamError(f"HTTP {response.status}")

    @property
    def _too_long(self) -> str:
        return f"an event is larger than {self._max_bytes:,} bytes (--max-message-bytes)"

    def _is_own(self, endpoint: Event) -> bool:
        return self._upstream.resolve_location(_location(endpoint)) is not None

    def _messages(self, stream: SseStream, headers: Mapping[str, str]) -> HttpMessages:
        return SseMessages(
            StreamConnections(stream.connection),
            self._policies,
            self._report,
            headers,
            self._record,
            enforces=self._enforces,
        )

    def _record(self, text: bytes, sender: Direction, message: object) -> None:
        if self._transcript is not None and message is not None:
            self._transcript.write(text, sender)

    def _add(self, code: str, note: str, action: Action = Action.REJECTED) -> None:
        self._report.add(Finding(sender="server", code=code, action=action, note=note))


def _location(endpoint: Event) -> str:
    return (endpoint.data or b"").decode("latin-1").strip()


def _reply(stream: SseStream, reply: Reply) -> Response:
    """Return the response to a message that is not forwarded, and send *reply* in *stream*."""
    if reply.status >= 400:
        return Response(reply.body, reply.status, media_type=_JSON if reply.body else None)
    if reply.body:
        stream.send(reply.body)
    return Response(b"Accepted", 202)
