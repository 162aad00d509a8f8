"""Relay over stdio that changes nothing: messages pass at once, and are validated afterwards."""

import asyncio
from collections.abc import Mapping
from contextlib import suppress

from sidecheck_server.proxy.messages import (
    Direction,
    Message,
    Received,
    RequestId,
    error_response,
    join_object,
    request_id,
)
from sidecheck_server.proxy.report import Action
from sidecheck_server.proxy.rulings.listing_pages import list_params
from sidecheck_server.proxy.stdio.line_messages import (
    LineMessages,
    Unit,
    find_glued,
    is_protocol_message,
)
from sidecheck_server.proxy.stdio.link import ENDED, FRAMING, Link, OpenSession
from sidecheck_server.proxy.stdio.long_lines import LongMessage
from sidecheck_server.proxy.stdio.own_requests import OwnRequests
from sidecheck_server.proxy.stdio.pipes import Line, LineReader, Reader

__all__ = ["Observer"]

_MAX_QUEUED_BYTES = 64 << 20
"""Bytes of messages that wait for their validation; further ones are not validated."""

_MESSAGE_BYTES = 500
"""Bytes of a queued message beside its text."""

_HURRY_SECONDS = 1.0
"""Maximum seconds for validation to finish after a signal: clients kill a proxy that does not end
in about two seconds."""


class Observer:
    """Relay whose session validates copies of the messages, in the order of their arrival."""

    def __init__(
        self,
        link: Link,
        open_session: OpenSession,
        *,
        lists_tools: bool,
        finish_seconds: float,
    ) -> None:
        self._link = link
        self._open_session = open_session
        self._finish_seconds = finish_seconds
        self._own = OwnRequests(self._write_own)
        #: Texts of the ids of the client's open requests, by id.
        self._open: dict[RequestId, list[bytes]] = {}
        self._has_ended = False
        self._is_framed = False
        self._client = LineReader(_PassingReader(link.from_client, self), link.max_bytes)
        self._server_lock = asyncio.Lock()
        #: Whether a line of the client has begun, so that no other line may be written.
        self._is_mid_line = False
        self._own_lines: list[bytes] = []
        #: Whether the session has to list the tools, which the client has not listed.
        self._lists_tools = lists_tools
        #: Responses to requests for tools, by the params, that the session is yet to make.
        self._pages: dict[bytes, asyncio.Future[Message]] = {}
        #: Whether the server has ended its output within a line.
        self._is_line_open = False
        self._is_relaying = False
        self._queue: asyncio.Queue[tuple[Received, Direction] | None] = asyncio.Queue()
        self._queued_bytes = 0
        self._unchecked = 0
        self._failure = ""
        self._hurry = asyncio.Event()
        self._checking = asyncio.create_task(self._check())

    @property
    def is_busy(self) -> bool:
        """Whether a line is being written."""
        return self._is_relaying

    @property
    def client_lines(self) -> int:
        """Number of chunks that the client has sent."""
        return self._client.chunks

    async def relay_client(self) -> None:
        """Relay the input of the client until its end; then close that of the server."""
        messages, long = LineMessages(self._link.max_bytes), LongMessage()
        try:
            async for line in self._client.lines():
                if line.is_piece:
                    await long.add(line.text)
                    if line.is_end:
                        self._pass_long(long, "client")
                        long = LongMessage()
                else:
                    for unit in messages.add(line.text):
                        self._note_client(unit)
                if self._has_ended:
                    await self._answer_open()
            for unit in messages.flush():
                self._note_client(unit)
        finally:
            await self._link.to_server.close()

    async def pass_chunk(self, chunk: bytes) -> None:
        """Write *chunk* of the client to the server, and requests of the proxy between lines."""
        async with self._server_lock:
            head, line_break, rest = chunk.partition(b"\n")
            self._is_mid_line = not chunk.endswith(b"\n")
            if not self._is_mid_line:
                chunk = b"".join([chunk, *self._own_lines])
                self._own_lines.clear()
            elif line_break and self._own_lines:
                chunk = b"".join([head, line_break, *self._own_lines, rest])
                self._own_lines.clear()
            with suppress(OSError):  # the server has closed its input
                await self._link.to_server.write(chunk)

    async def relay_server(self) -> None:
        """Relay the output of the server until its end.

        Raises:
            OSError: the client is gone.
        """
        messages, long = LineMessages(self._link.max_bytes), LongMessage()
        async for line in self._link.from_server.lines():
            self._is_relaying = True
            if self._is_framed:
                await self._write_client(line.text)
            elif line.is_piece:
                long = await self._relay_piece(line, long)
            elif line.text[: len(FRAMING)].lower() == FRAMING:
                await self._pass_frames(line.text)
            else:
                for unit in messages.add(line.text):
                    await self._relay_unit(unit)
            self._is_relaying = False
        for unit in messages.flush():
            await self._relay_unit(unit)

    async def end_server(self) -> None:
        """Answer open requests with errors, now and from now on."""
        self._has_ended = True
        self._own.end()
        await self._answer_open()

    async def finish(self) -> None:
        """Wait until the queued messages are validated, and report how many are not."""
        self._link.finish()
        self._queue.put_nowait(None)
        hurry = asyncio.create_task(self._hurry.wait())
        await asyncio.wait(
            {self._checking, hurry},
            timeout=self._finish_seconds,
            return_when=asyncio.FIRST_COMPLETED,
        )
        for task in (hurry, self._checking):
            task.cancel()
        await asyncio.gather(hurry, self._checking, return_exceptions=True)
        while not self._queue.empty():
            item = self._queue.get_nowait()
            if item is not None:
                self._count_unchecked(item[1])
        if self._unchecked:
            reason = self._failure or "validation was not finished when the connection ended"
            note = f"{self._unchecked:,} messages passed without validation: {reason}"
            self._link.add("client", "NOT_VALIDATED", note, Action.PASSED)

    def hurry(self) -> None:
        """Do not wait long for the validation of queued messages."""
        asyncio.get_running_loop().call_later(_HURRY_SECONDS, self._hurry.set)

    async def _write_own(self, line: bytes) -> None:
        """Write a request of the proxy itself, between lines of the client."""
        async with self._server_lock:
            if self._is_mid_line:
                self._own_lines.append(line)
            else:
                await self._link.to_server.write(line)

    async def _list_tools(self, params: Mapping[str, bytes]) -> Message:
        """Return a page of tools, which may have been requested already.

        Raises:
            ListingFailed: the server does not respond.
        """
        response = self._pages.pop(join_object(params), None)
        if response is None:
            return await self._own.list_tools(params)
        return await self._own.wait(response)

    def _request_tools(self, call: Message) -> None:
        """Request the tools for the validation of *call*, once.

        The server may have ended before the session is open.
        """
        self._lists_tools = False
        params = list_params(call.params)
        line, self._pages[join_object(params)] = self._own.prepare(params)
        self._own_lines.append(line)

    async def _write_client(self, text: bytes) -> None:
        """Write *text* of the server to the client.

        Raises:
            OSError: the client is gone.
        """
        self._is_line_open = not text.endswith(b"\n")
        await self._link.to_client.write(text)

    def _note_client(self, unit: Unit) -> None:
        """Remember and queue what the client has sent."""
        if not unit.text.strip():
            return
        if unit.text[: len(FRAMING)].lower() == FRAMING:
            self._is_framed = True
        if self._is_framed:
            return
        self._link.add_form(unit, "client", Action.PASSED)
        for message in unit.received.messages:
            if message.method == "tools/list":
                self._lists_tools = False
            elif message.method == "tools/call" and self._lists_tools:
                self._request_tools(message)
            if message.is_request:
                self._open.setdefault(message.id, []).append(message.properties["id"])
            elif message.method == "notifications/cancelled":
                self._close(request_id(message.params.get("requestId", b"null")))
        self._enqueue(unit.received, "client")

    async def _relay_unit(self, unit: Unit) -> None:
        """Relay a line of the server, or the lines of one message."""
        content = unit.received.content
        glued = None if is_protocol_message(content) else find_glued(unit.received.text)
        if self._own.take(content if glued is None else glued.content):
            return
        text = unit.text
        if self._is_message(unit.received):
            # Queued before it is written, so that the reaction of the client comes after it.
            for message in unit.received.messages:
                if message.is_response:
                    self._close(message.id)
            self._link.add_form(unit, "server", Action.PASSED)
            self._enqueue(unit.received, "server")
        elif b'"jsonrpc"' in text:
            # The client gets what it gets without the proxy: it may read the message inside.
            self._link.add_stray(unit, Action.PASSED, has_message=glued is not None)
        elif text.strip():
            self._link.add_stray(unit, Action.DROPPED)
            return
        await self._write_client(text)

    def _is_message(self, received: Received) -> bool:
        """Return whether *received* is a message, also the invalid response to a request."""
        return is_protocol_message(received.content) or any(
            message.has_answer and message.id in self._open for message in received.messages
        )

    async def _relay_piece(self, line: Line, long: LongMessage) -> LongMessage:
        """Relay a piece of a long line; return the reader of the next piece."""
        await long.add(line.text)
        # A line that has begun to pass must pass to its end.
        if not self._own.fail(long.id_text) or self._is_line_open:
            await self._write_client(line.text)
        if not line.is_end:
            return long
        self._pass_long(long, "server")
        return LongMessage()

    def _pass_long(self, long: LongMessage, sender: Direction) -> None:
        """Remember a message that is too long to be validated, and report it."""
        limit = f"{self._link.max_bytes:,}"
        note = (
            f"a line of {long.size:,} bytes is longer than {limit} (--max-message-bytes);"
            " passed without validation"
        )
        self._link.report.count_message(sender)
        self._link.add(sender, "MESSAGE_TOO_LONG", note, Action.PASSED)
        if long.id_text is None:
            return
        id_ = request_id(long.id_text)
        if sender == "client" and long.has_method:
            self._open.setdefault(id_, []).append(long.id_text)
        elif sender == "server" and not long.has_method:
            self._close(id_)

    async def _pass_frames(self, header: bytes) -> None:
        """Pass all further output unread, because its messages are not lines."""
        self._is_framed = True
        self._link.from_server.limit = 0
        note = (
            "the server frames its messages by Content-Length, as language servers do; in MCP"
            " each message is one line of JSON. They pass without validation"
        )
        self._link.add("server", "CONTENT_LENGTH_FRAMING", note, Action.PASSED)
        await self._write_client(header)

    def _close(self, id_: RequestId) -> None:
        """Forget the oldest open request with *id_*."""
        texts = self._open.get(id_)
        if texts:
            del texts[0]
            if not texts:
                del self._open[id_]

    async def _answer_open(self) -> None:
        """Answer the open requests of the client with errors."""
        requests, self._open = self._open, {}
        with suppress(OSError):
            for texts in requests.values():
                for id_text in texts:
                    start = b"\n" if self._is_line_open else b""
                    await self._write_client(start + error_response(id_text, ENDED) + b"\n")

    def _enqueue(self, received: Received, sender: Direction) -> None:
        """Record a message, and queue it for validation."""
        if received.content is not None:
            self._link.record(received.text, sender)
        size = len(received.text) + _MESSAGE_BYTES
        if self._failure or self._queued_bytes + size > _MAX_QUEUED_BYTES:
            if not self._failure and not self._unchecked:
                note = "messages pass without validation: more than 64 MiB wait for it"
                self._link.add(sender, "NOT_VALIDATED", note, Action.PASSED)
            self._count_unchecked(sender)
            return
        self._queued_bytes += size
        self._queue.put_nowait((received, sender))

    def _count_unchecked(self, sender: Direction) -> None:
        self._unchecked += 1
        self._link.report.count_message(sender)

    async def _check(self) -> None:
        """Validate the queued messages."""
        try:
            async with self._open_session(self._list_tools) as session:
                while (item := await self._queue.get()) is not None:
                    received, sender = item
                    await session.handle(received, sender)
                    self._queued_bytes -= len(received.text) + _MESSAGE_BYTES
        except Exception as error:  # noqa: BLE001  (no fault of validation may end the relay)
            self._failure = f"validation failed ({type(error).__name__})"
            self._link.add("client", "NOT_VALIDATED", self._failure, Action.PASSED)


class _PassingReader:
    """Reads what the client sends, and writes it to the server before it reads more.

    So the caller knows of a request before the response can arrive.
    """

    def __init__(self, reader: Reader, observer: Observer) -> None:
        self._reader = reader
        self._observer = observer
        self._unwritten = b""

    async def read(self, n: int) -> bytes:
        if self._unwritten:
            await self._observer.pass_chunk(self._unwritten)
        self._unwritten = await self._reader.read(n)
        return self._unwritten
