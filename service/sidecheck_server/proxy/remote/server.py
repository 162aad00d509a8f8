"""A server over HTTP in place of a server process of `StdioProxy`.

Clauses: 2025-03-26 to 2025-11-25, basic/transports, "Streamable HTTP" and "Backwards
Compatibility"; 2024-11-05, basic/transports, "HTTP with SSE"; 2026-07-28,
basic/transports/streamable-http.
"""

import asyncio
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

import msgspec

from sidecheck_server.core.mcp.call_errors import METHOD_NOT_FOUND
from sidecheck_server.core.mcp.http_headers import create_headers
from sidecheck_server.core.payload import read_json
from sidecheck_server.core.types import JsonValue, Severity
from sidecheck_server.proxy.http.encodings import EncodingError
from sidecheck_server.proxy.http.headers import RawHeaders
from sidecheck_server.proxy.http.sse import EventTooLongError
from sidecheck_server.proxy.http.upstream import (
    BodyTooLargeError,
    Upstream,
    UpstreamError,
    UpstreamResponse,
)
from sidecheck_server.proxy.messages import (
    INTERNAL_ERROR,
    Message,
    RequestId,
    error_response,
    parse_received,
    read_items,
    read_object,
    request_id,
    string_value,
)
from sidecheck_server.proxy.remote.events import EventCursor
from sidecheck_server.proxy.remote.words import ServerWords
from sidecheck_server.proxy.report import Action, Finding, Findings
from sidecheck_server.proxy.rulings.listing_pages import PROTOCOL_VERSION
from sidecheck_server.proxy.stdio.line_queues import LineQueue, LineSink
from sidecheck_server.proxy.stdio.pipes import Reader, Writer

__all__ = ["RemoteServer"]

_MODERN_VERSION: Final = "2026-07-28"
"""First version without sessions, whose headers mirror parts of the message."""

_MAX_REDIRECTIONS: Final = 5
_MAX_ERROR_BYTES: Final = 64 << 10
_ORDER_SECONDS: Final = 30.0
"""Seconds that later messages wait until the server has accepted a notification or the handshake,
so that it receives them in order."""

_ENDPOINT_SECONDS: Final = 10.0
_REST_SECONDS: Final = 60.0
"""Seconds that open requests have after the end of the client's input."""

_DELETE_SECONDS: Final = 2.0
_MAX_ATTEMPTS: Final = 5
"""Number of times that a stream is resumed without progress."""

_OLDER_STATUSES: Final = frozenset({400, 404, 405})
"""Statuses of servers that do not have Streamable HTTP, or not this version of it."""

_EVENTS: Final = "text/event-stream"
_SUBSCRIPTION: Final = "subscriptions/listen"
"""Request whose response comes at the end of the subscription (2026-07-28)."""


@dataclass
class _OpenRequest:
    """Request of the client without a response."""

    message: Message
    task: asyncio.Task[None] | None = None
    is_modern: bool = False
    is_cancelled: bool = False


class RemoteServer:
    """Server over HTTP that reads and writes lines as a process does; a `ServerEndpoint`.

    Each line is sent by POST, with *headers*. A request that the server does not answer gets an
    error in words, so that every request has one response.
    """

    def __init__(
        self,
        upstream: Upstream,
        words: ServerWords,
        headers: RawHeaders,
        report: Findings,
        max_bytes: int,
    ) -> None:
        self._lines = LineQueue()
        self.reader: Reader = self._lines
        self.writer: Writer = LineSink(self._accept, self._close)
        self._upstream = upstream
        self._target = upstream.target
        self._words = words
        self._headers = headers
        self._report = report
        self._max_bytes = max_bytes
        self._session_id = b""
        #: Negotiated version; that of the last request since 2026-07-28.
        self._version = ""
        #: Target for messages over HTTP+SSE of 2024-11-05; b"" over Streamable HTTP.
        self._endpoint = b""
        #: Input schemas of listed tools, which name the headers that mirror arguments.
        self._schemas: dict[str, JsonValue] = {}
        self._open: dict[RequestId, _OpenRequest] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        #: Reads the messages that answer no request, or those of HTTP+SSE.
        self._stream: asyncio.Task[None] | None = None
        self._changed = asyncio.Event()
        self._must_end = asyncio.Event()
        self._ending: asyncio.Task[None] | None = None
        self._code: asyncio.Future[int] = asyncio.get_running_loop().create_future()

    async def wait(self) -> int:
        """Return the exit code at the end: 1 if the connection was lost, or else 0."""
        return await asyncio.shield(self._code)

    def send_signal(self, _number: int) -> None:
        """End the connection; open requests get no response of the server."""
        self._must_end.set()
        self._close()

    async def end(self) -> None:
        """End the connection and the session."""
        self.send_signal(0)
        await self.wait()

    def listen_again(self) -> None:
        """Open the stream of the server again, in a renewed session."""
        if self._stream is not None and not self._endpoint:
            self._stream.cancel()
            self._stream = asyncio.create_task(self._listen())

    def _close(self) -> None:
        if self._ending is None:
            self._ending = asyncio.create_task(self._finish(0))

    async def _finish(self, code: int) -> None:
        """Wait for the responses to open requests, and end the session."""
        with suppress(TimeoutError):
            async with asyncio.timeout(_REST_SECONDS):
                await self._drain()
        tasks = [*self._tasks, *([self._stream] if self._stream is not None else [])]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if self._session_id:
            with suppress(UpstreamError, TimeoutError):
                async with asyncio.timeout(_DELETE_SECONDS):
                    (await self._send("DELETE", self._base_headers())).close()
        self._lines.end()
        self._code.set_result(code)

    async def _drain(self) -> None:
        must_end = asyncio.create_task(self._must_end.wait())
        try:
            while not self._must_end.is_set() and self._has_work():
                self._changed.clear()
                changed = asyncio.create_task(self._changed.wait())
                await asyncio.wait({must_end, changed}, return_when=asyncio.FIRST_COMPLETED)
                changed.cancel()
        finally:
            must_end.cancel()

    def _has_work(self) -> bool:
        listening = {
            request.task
            for request in self._open.values()
            if request.message.method == _SUBSCRIPTION
        }
        is_waiting = any(request.task not in listening for request in self._open.values())
        return is_waiting or bool(self._tasks - listening)

    async def _accept(self, line: bytes) -> None:
        """Begin to send *line*; wait if the server must receive it before later ones."""
        text = line.strip()
        if not text or self._must_end.is_set():
            return
        content = parse_received(text)
        message = content.content
        if isinstance(message, Message) and self._cancel(message):
            return
        requests = [message for message in content.messages if message.is_request]
        for request in requests:
            self._open[request.id] = _OpenRequest(request)
        task = asyncio.create_task(self._exchange(text, content.messages, requests))
        self._tasks.add(task)
        task.add_done_callback(self._forget)
        for request in requests:
            self._open[request.id].task = task
            self._open[request.id].is_modern = _version_of(request) >= _MODERN_VERSION
        if not requests or any(request.method == "initialize" for request in requests):
            await asyncio.wait({task}, timeout=_ORDER_SECONDS)

    def _forget(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        self._changed.set()

    def _cancel(self, message: Message) -> bool:
        """Cancel the request that *message* names; return whether that takes no message.

        Since 2026-07-28, the client cancels a request by closing the stream of its response
        (basic/patterns/cancellation).
        """
        if message.method != "notifications/cancelled":
            return False
        id_ = request_id(message.params.get("requestId", b"null"))
        request = self._open.get(id_)
        if request is None:
            return self._version >= _MODERN_VERSION
        request.is_cancelled = True
        if request.is_modern and request.task is not None:
            del self._open[id_]
            request.task.cancel()
        return request.is_modern

    async def _exchange(
        self, text: bytes, messages: list[Message], requests: list[Message]
    ) -> None:
        """Send *text* with *messages*; pass on the responses to the *requests* among them."""
        try:
            response = await self._post(text, messages)
            try:
                await self._read(response, text, messages, requests)
            finally:
                response.close()
        except UpstreamError as error:
            await self._fail(requests, self._words.unreachable(error))
        except (BodyTooLargeError, EventTooLongError):
            await self._fail(requests, self._too_large())
        except EncodingError as error:
            await self._fail(requests, self._words.say(f"answered with {error}"))

    async def _post(self, text: bytes, messages: list[Message]) -> UpstreamResponse:
        headers = self._base_headers()
        headers.append((b"content-type", b"application/json"))
        first = messages[0] if messages else None
        version = "" if first is None else _version_of(first)
        if first is not None and first.method == "initialize":
            self._session_id, self._version = b"", ""
            headers = [header for header in headers if header[0] not in _SESSION_HEADERS]
        elif version >= _MODERN_VERSION:
            self._version = version
            headers = [header for header in headers if header[0] not in _SESSION_HEADERS]
            headers.append((b"mcp-protocol-version", version.encode()))
        if self._version >= _MODERN_VERSION and first is not None:
            headers += self._mirrored(first)
        return await self._send("POST", headers, text)

    def _mirrored(self, message: Message) -> RawHeaders:
        tool = string_value(message.params.get("name"))
        schema = self._schemas.get(tool) if message.method == "tools/call" else None
        with suppress(msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            mirrored = create_headers(read_json(message.text), schema)
            return [(name.encode(), value.encode()) for name, value in mirrored.items()]
        return []

    def _base_headers(self) -> RawHeaders:
        headers = [
            *self._headers,
            (b"accept", b"application/json, text/event-stream"),
            (b"accept-encoding", b"identity"),
        ]
        if self._session_id:
            headers.append((b"mcp-session-id", self._session_id))
        if self._version:
            headers.append((b"mcp-protocol-version", self._version.encode()))
        return headers

    async def _send(
        self, method: str, headers: RawHeaders, body: bytes | None = None
    ) -> UpstreamResponse:
        """Send a request; follow redirections within the server that keep the method."""
        followed = {307, 308} if method == "POST" else {301, 302, 303, 307, 308}
        target = self._endpoint if self._endpoint and method == "POST" else self._target
        for _ in range(_MAX_REDIRECTIONS):
            response = await self._upstream.send(method, target, headers, body)
            location = response.location if response.status in followed else None
            new_target = None if location is None else self._upstream.resolve_location(location)
            if new_target is None:
                break
            response.close()
            target = new_target.encode()
            if self._endpoint and method == "POST":
                self._endpoint = target
            else:
                self._target = target
        return response

    async def _read(
        self,
        response: UpstreamResponse,
        text: bytes,
        messages: list[Message],
        requests: list[Message],
    ) -> None:
        """Pass on the messages of *response*, that to the POST of *text*."""
        if not response.is_success:
            if self._may_be_older(response, requests) and await self._connect_older():
                response.close()
                await self._exchange(text, messages, requests)
                return
            await self._answer_rejected(response, requests)
            return
        if any(message.method == "initialize" for message in messages):
            self._session_id = response.headers.get("mcp-session-id", "").encode("latin-1")
        if response.media_type == _EVENTS:
            await self._read_events(response, requests)
        else:
            body = await response.read(self._max_bytes)
            await self._read_body(response, body, requests)
        if any(message.method == "notifications/initialized" for message in messages):
            self._begin_stream()

    async def _read_body(
        self, response: UpstreamResponse, body: bytes, requests: list[Message]
    ) -> None:
        received = parse_received(body)
        if any("jsonrpc" in message.properties for message in received.messages):
            await self._emit(body)
        if not requests or any(message.has_answer for message in received.messages):
            return
        has_stream = self._stream is not None and not self._stream.done()
        if response.status == 202 and has_stream:
            return
        if response.status == 202:
            fault = "answered 202 Accepted, and has no stream for the response"
        elif not body.strip():
            fault = f"answered {response.status} without a message"
        else:
            kind = response.media_type or "a body without a media type"
            fault = f"answered with {kind}, which is not a message of MCP; check --upstream"
        await self._fail(requests, self._words.say(fault))

    async def _answer_rejected(self, response: UpstreamResponse, requests: list[Message]) -> None:
        """Answer *requests* with the reason why the server rejected them with *response*."""
        try:
            body = await response.read(_MAX_ERROR_BYTES)
        except (BodyTooLargeError, UpstreamError, EncodingError):
            body = b""
        answer = self._words.error_answer(response, body, in_session=bool(self._session_id))
        # Clients then fall back to `initialize`.
        is_probe = response.status in _OLDER_STATUSES and any(
            request.method == "server/discover" for request in requests
        )
        for request in requests:
            code = METHOD_NOT_FOUND if is_probe else INTERNAL_ERROR
            await self._answer(request, answer.error or answer.text, code)
        if not (is_probe or (requests and answer.error)):
            self._add(answer.note)

    def _may_be_older(self, response: UpstreamResponse, requests: list[Message]) -> bool:
        """Return whether the server may have the transport of 2024-11-05 only."""
        methods = {request.method for request in requests}
        # A server with Streamable HTTP answers 400 to a method of a version that it does not have.
        return not self._endpoint and (
            ("initialize" in methods and response.status in _OLDER_STATUSES)
            or ("server/discover" in methods and response.status in {404, 405})
        )

    async def _connect_older(self) -> bool:
        """Open the stream of HTTP+SSE; return whether the server has one."""
        announced = asyncio.get_running_loop().create_future()
        stream = asyncio.create_task(self._read_older(announced))
        await asyncio.wait(
            {announced, stream}, timeout=_ENDPOINT_SECONDS, return_when=asyncio.FIRST_COMPLETED
        )
        if not announced.done():
            stream.cancel()
            return False
        self._endpoint, self._stream = announced.result(), stream
        return True

    async def _read_older(self, announced: "asyncio.Future[bytes]") -> None:
        """Pass on the messages of the stream of HTTP+SSE until it ends."""
        try:
            headers = [header for header in self._base_headers() if header[0] != b"accept"]
            response = await self._send("GET", [*headers, (b"accept", _EVENTS.encode())])
            try:
                if response.is_success and response.media_type == _EVENTS:
                    await self._read_older_events(response, announced)
            finally:
                response.close()
        except (UpstreamError, EventTooLongError, EncodingError):
            pass
        if announced.done():
            words = self._words.say("ended the stream of the connection")
            await self._fail([request.message for request in self._open.values()], words)
            self._stream = None
            self._must_end.set()
            if self._ending is None:
                self._ending = asyncio.create_task(self._finish(1))

    async def _read_older_events(
        self, response: UpstreamResponse, announced: "asyncio.Future[bytes]"
    ) -> None:
        async for event in EventCursor(self._max_bytes).events(response):
            if event.type == b"endpoint" and not announced.done():
                location = (event.data or b"").decode("latin-1")
                target = self._upstream.resolve_location(location)
                if target is None:
                    self._add(self._words.say("names an endpoint of another server"))
                    return
                announced.set_result(target.encode())
            elif event.type == b"message" and event.data:
                await self._emit(event.data)

    def _begin_stream(self) -> None:
        """Open the stream of messages that answer no request, in versions that have one."""
        if self._stream is None and self._version < _MODERN_VERSION:
            self._stream = asyncio.create_task(self._listen())

    async def _listen(self) -> None:
        """Pass on the messages of the GET stream; open it again whenever it breaks off."""
        cursor = EventCursor(self._max_bytes)
        while True:
            try:
                response = await self._send("GET", self._base_headers() + cursor.headers())
                try:
                    if not response.is_success or response.media_type != _EVENTS:
                        return  # 405 if the server has no stream
                    async for event in cursor.events(response):
                        if event.type == b"message" and event.data:
                            await self._emit(event.data)
                finally:
                    response.close()
            except UpstreamError:
                pass
            except EventTooLongError:
                self._add(self._too_large())
            except EncodingError as error:
                self._add(self._words.say(f"answered with {error}"))
                return
            await cursor.pause()

    async def _read_events(self, response: UpstreamResponse, requests: list[Message]) -> None:
        """Pass on the events of *response*; resume it until all *requests* are answered."""
        cursor = EventCursor(self._max_bytes)
        while True:
            # The stream of the first response breaks off like those that resume it.
            with suppress(UpstreamError):
                async for event in cursor.events(response):
                    if event.type == b"message" and event.data:
                        await self._emit(event.data)
            response.close()
            if not any(self._is_open(request) for request in requests):
                return
            resumed = await self._resume(cursor)
            if resumed is None:
                words = self._words.say("ended the stream of the response before the response")
                await self._fail(requests, words)
                return
            response = resumed

    async def _resume(self, cursor: EventCursor) -> UpstreamResponse | None:
        """Return the stream after the last event of *cursor*, None if it cannot be resumed."""
        while cursor.headers() and cursor.breaks < _MAX_ATTEMPTS:
            await cursor.pause()
            with suppress(UpstreamError):
                response = await self._send("GET", self._base_headers() + cursor.headers())
                if response.is_success and response.media_type == _EVENTS:
                    return response
                response.close()
                if not response.is_success and response.status < 500:
                    return None
        return None

    def _is_open(self, message: Message) -> bool:
        request = self._open.get(message.id)
        return request is not None and request.message is message

    async def _emit(self, text: bytes) -> None:
        """Pass on *text*, a message or a batch, as one line."""
        # Line breaks are white space in JSON, in which strings have none.
        line = text.strip().replace(b"\r", b" ").replace(b"\n", b" ")
        for message in parse_received(line).messages:
            request = self._open.pop(message.id, None) if message.has_answer else None
            if request is not None:
                self._learn(request, message.result or {})
        await self._lines.put(line + b"\n")
        self._changed.set()

    def _learn(self, request: _OpenRequest, result: Mapping[str, bytes]) -> None:
        """Keep what the *result* of *request* says about later requests."""
        if request.message.method == "initialize":
            self._version = string_value(result.get("protocolVersion"))
        elif request.message.method == "tools/list" and request.is_modern:
            for text in read_items(result.get("tools", b"")) or []:
                tool = read_object(text) or {}
                with suppress(msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                    schema = read_json(tool.get("inputSchema", b"null"))
                    self._schemas[string_value(tool.get("name"))] = schema

    async def _fail(self, requests: Iterable[Message], words: str) -> None:
        """Answer *requests* with an error in *words*."""
        for request in [*requests]:
            await self._answer(request, words, INTERNAL_ERROR)
        self._add(words)

    async def _answer(self, request: Message, error: bytes | str, code: int) -> None:
        """Answer *request* with *error* if it has no response."""
        if not self._is_open(request):
            return
        is_cancelled = self._open.pop(request.id).is_cancelled
        if not is_cancelled:
            text = error_response(request.properties["id"], error, code)
            await self._lines.put(text.replace(b"\r", b" ").replace(b"\n", b" ") + b"\n")
        self._changed.set()

    def _too_large(self) -> str:
        limit = f"{self._max_bytes:,}"
        return self._words.say(f"sent a message of more than {limit} bytes (--max-message-bytes)")

    def _add(self, note: str) -> None:
        self._report.add(
            Finding(
                sender="server",
                code="UPSTREAM_UNAVAILABLE",
                severity=Severity.ERROR,
                action=Action.REJECTED,
                note=note,
            )
        )


_SESSION_HEADERS: Final = (b"mcp-session-id", b"mcp-protocol-version")


def _version_of(message: Message) -> str:
    """Return the version that *message* names, "" before 2026-07-28."""
    metadata = read_object(message.params.get("_meta", b"")) or {}
    return string_value(metadata.get(PROTOCOL_VERSION))
