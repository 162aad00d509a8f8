"""Endpoint around another one, which knows the open requests of the client."""

import asyncio

from sidecheck_server.proxy.messages import (
    Message,
    Received,
    error_response,
    parse_received,
    request_id,
)
from sidecheck_server.proxy.rulings.pending import PendingRequests, Request, request_of
from sidecheck_server.proxy.stdio.line_messages import (
    LineMessages,
    Unit,
    find_glued,
    is_protocol_message,
)
from sidecheck_server.proxy.stdio.line_queues import LineQueue, LineSink
from sidecheck_server.proxy.stdio.long_lines import LongMessage
from sidecheck_server.proxy.stdio.pipes import LineReader, Reader, Writer

__all__ = ["TappedServer"]

_CANCEL = "notifications/cancelled"


class TappedServer:
    """Base of endpoints between the relay and a server; implements most of `ServerEndpoint`.

    Lines pass unchanged unless a method of the subclass decides otherwise. Lines of the client are
    joined before they pass, so that others may be written between them; lines of the server of more
    than *max_bytes* pass in pieces.
    """

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._lines = LineQueue()
        self.reader: Reader = self._lines
        self.writer: Writer = LineSink(self._accept, self._begin_close)
        #: Requests of the client without a response.
        self.pending = PendingRequests()
        #: Held while a line is passed to the client, which may take several pieces.
        self._output = asyncio.Lock()
        self._closing: asyncio.Task[None] | None = None

    async def pass_client_line(self, line: bytes, received: Received) -> None:
        """Pass *line* of the client, without a line break, to the server."""
        raise NotImplementedError

    async def close(self) -> None:
        """Close the input of the server: the client has no more lines."""
        raise NotImplementedError

    def on_request(self, request: Request) -> None:
        """React to *request*, before it passes."""

    def on_response(self, request: Request) -> None:
        """React to the response to *request*, before it passes."""

    def holds_back(self, _message: Message) -> bool:
        """Return whether *_message* of the server must not pass."""
        return False

    async def answer(self, request: Request, reason: str) -> None:
        """Send the client an error in place of the response to *request*."""
        self.pending.remove(request)
        await self.send_to_client(error_response(request.id_text, reason))

    async def send_to_client(self, text: bytes) -> None:
        """Send the client the message *text*, between lines of the server."""
        async with self._output:
            await self._lines.put(text + b"\n")

    async def pass_output(self, reader: Reader) -> None:
        """Pass the output of the server, from *reader*, to its end."""
        messages, long = LineMessages(self._max_bytes), LongMessage()
        try:
            async for line in LineReader(reader, self._max_bytes).lines():
                if not line.is_piece:
                    for unit in messages.add(line.text):
                        await self._pass_unit(unit)
                    continue
                if not long.size:
                    await self._output.acquire()
                await long.add(line.text)
                if line.is_end:
                    self._close_request(long)
                await self._lines.put(line.text)
                if line.is_end:
                    long = LongMessage()
                    self._output.release()
            for unit in messages.flush():
                await self._pass_unit(unit)
        finally:
            if long.size:  # a long line without an end
                self._output.release()

    def end_output(self) -> None:
        """End the output, after the lines that were passed."""
        self._lines.end()

    async def _accept(self, line: bytes) -> None:
        received = parse_received(line)
        for message in received.messages:
            if message.is_request:
                request = request_of(message)
                self.pending.add(request)
                self.on_request(request)
            elif message.method == _CANCEL:
                cancelled = self.pending.find(request_id(message.params.get("requestId", b"null")))
                if cancelled is not None:
                    self.pending.remove(cancelled)
                    self.on_response(cancelled)
        await self.pass_client_line(line, received)

    def _begin_close(self) -> None:
        if self._closing is None:
            self._closing = asyncio.create_task(self.close())

    async def _pass_unit(self, unit: Unit) -> None:
        received = unit.received
        if not is_protocol_message(received.content):
            received = find_glued(received.text) or received
        if isinstance(received.content, Message) and self.holds_back(received.content):
            return
        for message in received.messages:
            if message.has_answer:
                id_ = message.id
                request = self.pending.find(id_) or self.pending.find_similar(id_)
                self._answered(request)
        async with self._output:
            await self._lines.put(unit.text)

    def _close_request(self, long: LongMessage) -> None:
        if long.id_text is not None and not long.has_method:
            self._answered(self.pending.find(request_id(long.id_text)))

    def _answered(self, request: Request | None) -> None:
        if request is not None:
            self.pending.remove(request)
            self.on_response(request)
