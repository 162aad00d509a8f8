"""Open streams of HTTP+SSE, each of which is one connection of a client."""

import asyncio
from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import aclosing, contextmanager, suppress

from sidecheck_server.proxy.http.connections import Connection, HttpConnections
from sidecheck_server.proxy.http.headers import RawHeaders
from sidecheck_server.proxy.http.messages import HttpMessages
from sidecheck_server.proxy.http.sse import KEEP_ALIVE, Event, EventReader, EventTooLongError
from sidecheck_server.proxy.http.timeouts import Deadline, iterate_with_pauses
from sidecheck_server.proxy.http.upstream import UpstreamError, UpstreamResponse
from sidecheck_server.proxy.messages import Message, read_message, string_value

__all__ = [
    "SseMessages",
    "SseStream",
    "StreamConnections",
    "StreamStart",
    "merge_replies",
    "target_key",
]


class SseStream:
    """Stream whose client sends messages to *target*, and opened it with *headers*."""

    def __init__(self, target: bytes, headers: RawHeaders, connection: Connection) -> None:
        self.target = target
        self.headers = headers
        self.connection = connection
        #: Events of the proxy for the client.
        self.replies: asyncio.Queue[bytes] = asyncio.Queue()
        #: Responses to requests of the proxy itself, by id.
        self._responses: dict[str, asyncio.Future[Message]] = {}

    def send(self, message: bytes) -> None:
        """Send *message* of the proxy to the client."""
        self.replies.put_nowait(b"event: message\ndata: " + message + b"\n\n")

    @contextmanager
    def expect_response(self, id_: str) -> Iterator["asyncio.Future[Message]"]:
        """Yield the response to the request *id_* of the proxy, while it is expected."""
        response = self._responses[id_] = asyncio.get_running_loop().create_future()
        try:
            yield response
        finally:
            self._responses.pop(id_, None)
            response.cancel()

    def take_response(self, data: bytes | None, prefix: str) -> bool:
        """Take a response in *data* to a request whose id has *prefix*; return whether it is one.

        True also for a response that is too late.
        """
        if not data or prefix.encode() not in data:
            return False
        message = read_message(data)
        if not isinstance(message, Message) or not message.is_response:
            return False
        id_ = string_value(message.properties["id"])
        response = self._responses.get(id_)
        if response is not None and not response.done():
            response.set_result(message)
        return id_.startswith(prefix)

    def close(self) -> None:
        """End waiting for responses: none can come."""
        for response in self._responses.values():
            if not response.done():
                response.set_exception(ConnectionResetError())


class StreamConnections(HttpConnections):
    """The one connection of a stream, to which all of its messages belong."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def acquire(self, _headers: Mapping[str, str], _message: object = None) -> Connection:
        """Return the connection; the caller must release it."""
        self._connection.acquire()
        return self._connection

    async def keep(self, _headers: Mapping[str, str], _connection: Connection) -> None:
        """Do nothing: the stream holds the connection."""

    async def end(self, _headers: Mapping[str, str]) -> None:
        """Do nothing: the connection ends with the stream."""


class SseMessages(HttpMessages):
    """Messages over HTTP+SSE, which no headers mirror."""

    def _check_headers(self, *_message: object) -> None:
        """Find no fault: the clause is about Streamable HTTP alone."""


class StreamStart:
    """Start of a stream up to its first event with data, which tells its transport.

    Comments before it pass; *is_strict* leaves what all readers read alike. A stream without data
    for *keep_alive* seconds gets a comment; with None, it gets none.
    """

    def __init__(self, max_bytes: int, keep_alive: float | None, *, is_strict: bool) -> None:
        self._reader = EventReader(max_bytes)
        self._keep_alive = keep_alive
        self._is_strict = is_strict
        #: First event of HTTP+SSE; None for a stream of Streamable HTTP.
        self.endpoint: Event | None = None

    async def read(self, response: UpstreamResponse) -> AsyncGenerator[bytes]:
        """Yield the comments of *response*, and leave the events after them, or the endpoint."""
        events: list[Event] = []
        unread = b""
        pauses = iterate_with_pauses(response.chunks(), self._keep_alive, Deadline(None))
        with suppress(UpstreamError):  # raised again for the reader of the rest
            async with aclosing(pauses) as chunks:
                async for chunk in chunks:
                    if chunk is None:
                        yield KEEP_ALIVE
                        continue
                    try:
                        events.extend(self._reader.feed(chunk))
                    except EventTooLongError as error:
                        unread = error.unread
                    while events and events[0].data is None:
                        event = events.pop(0)
                        yield event.safe_text(None) if self._is_strict else event.text
                    if events and events[0].type == b"endpoint":
                        self.endpoint = events.pop(0)
                    if events or unread or self.endpoint is not None:
                        break
        texts = [event.text for event in events]
        response.unread(b"".join([*texts, unread, self._reader.rest()]))


def target_key(path: bytes, query: bytes) -> bytes:
    """Return a key for the target of *path* and *query*, without a slash at the end of the path.

    Servers redirect from one form to the other.
    """
    return (path.rstrip(b"/") or b"/") + b"?" + query


async def merge_replies(texts: AsyncGenerator[bytes], stream: SseStream) -> AsyncGenerator[bytes]:
    """Yield *texts* and the replies of *stream* as they come, until *texts* ends."""
    next_text = asyncio.create_task(_next(texts))
    next_reply = asyncio.create_task(stream.replies.get())
    try:
        while True:
            await asyncio.wait({next_text, next_reply}, return_when=asyncio.FIRST_COMPLETED)
            if next_reply.done():
                yield next_reply.result()
                next_reply = asyncio.create_task(stream.replies.get())
            elif (text := next_text.result()) is None:
                return
            else:
                yield text
                next_text = asyncio.create_task(_next(texts))
    finally:
        next_text.cancel()
        next_reply.cancel()
        await asyncio.gather(next_text, next_reply, return_exceptions=True)
        await texts.aclose()


async def _next(texts: AsyncGenerator[bytes]) -> bytes | None:
    return await anext(texts, None)
