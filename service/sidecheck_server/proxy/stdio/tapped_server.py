"""Endpoint around another one, which knows the open requests of the client."""

import asyncio
from abc import ABC, abstractmethod

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
from sidecheck_server.proxy.stdio.pipes import Line, LineReader, Reader, Writer

__all__ = ["TappedServer"]

_CANCEL = "notifications/cancelled"
_ENDED = "the server ended before it received the whole message"


class TappedServer(ABC):
    """Base of endpoints between the relay and a server; implements most of `ServerEndpoint`.

    Lines pass unchanged unless a method of the subclass decides otherwise. Lines of the client are
    joined before they pass, so that others may be written between them; lines of either side of
    more than *max_bytes* pass in pieces.
    """

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._lines = LineQueue()
        self.reader: Reader = self._lines
        self.writer: Writer = LineSink(
            self._accept, self._begin_close, self._accept_piece, max_bytes
        )
        #: Requests of the client without a response.
        self.pending = PendingRequests()
        #: Held while a line is passed to the client, which may take several pieces.
        self._output = asyncio.Lock()
        #: Whether the last line for the client has no end, as that of a server that broke off.
        self._is_line_open = False
        #: Lines of the output that were read, by which others notice that the server is silent.
        self.output_lines = 0
        #: Whether a line of the output waits for the client to read.
        self.is_passing = False
        self._closing: asyncio.Task[None] | None = None
        #: Held while a line is passed to the server, which may take several pieces.
        self.input = asyncio.Lock()
        #: The line of the client that passes in pieces; None without one.
        self._long_input: LongMessage | None = None
        #: Whether the server does not get the rest of that line.
        self._is_input_lost = False

    @abstractmethod
    async def pass_client_line(self, line: bytes, received: Received) -> None:
        """Pass *line* of the client, without a line break, to the server.

        `input` is held meanwhile.
        """

    @abstractmethod
    async def pass_client_piece(self, piece: bytes, *, is_first: bool) -> None:
        """Pass *piece* of a line of the client to the server; as `pass_client_line`.

        Raises:
            OSError: the server does not get it, nor the rest of the line.
        """

    @abstractmethod
    async def close(self) -> None:
        """Close the input of the server: the client has no more lines."""

    def on_request(self, request: Request) -> None:  # noqa: B027  (optional)
        """React to *request*, before it passes."""

    def on_response(self, request: Request) -> None:  # noqa: B027  (optional)
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
            await self._begin_line(text + b"\n")

    async def pass_output(self, reader: Reader) -> None:
        """Pass the output of the server, from *reader*, to its end."""
        messages, long = LineMessages(self._max_bytes), _LongOutput()
        try:
            async for line in LineReader(reader, self._max_bytes).lines():
                self.output_lines += 1
                self.is_passing = True
                if line.is_piece:
                    await self._pass_piece(line, long)
                    if line.is_end:
                        long = _LongOutput()
                else:
                    for unit in messages.add(line.text):
                        await self._pass_unit(unit)
                self.is_passing = False
            for unit in messages.flush():
                await self._pass_unit(unit)
        finally:
            self.is_passing = False
            if long.has_begun:  # a long line without an end
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
        async with self.input:
            await self.pass_client_line(line, received)

    async def _accept_piece(self, piece: bytes, is_end: bool) -> None:  # noqa: FBT001
        """Pass *piece* of a long line of the client."""
        is_first = self._long_input is None
        if is_first:
            await self.input.acquire()
            self._is_input_lost = False
        long = self._long_input = self._long_input or LongMessage()
        await long.add(piece)
        request = _request_in(long) if is_end else None
        if request is not None:
            # Before it is written, because the response may come at once.
            self.pending.add(request)
            self.on_request(request)
        if not self._is_input_lost:
            try:
                text = piece + b"\n" if is_end else piece
                await self.pass_client_piece(text, is_first=is_first)
            except OSError:
                self._is_input_lost = True
        if is_end:
            self._long_input = None
            self.input.release()
        if self._is_input_lost and request is not None and request in self.pending:
            self.on_response(request)
            await self.answer(request, _ENDED)

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
            await self._begin_line(unit.text)

    async def _pass_piece(self, line: Line, long: "_LongOutput") -> None:
        """Pass the piece *line* of the line *long*."""
        is_first = not long.has_begun
        if is_first:
            await self._output.acquire()
            long.has_begun = True
        await long.message.add(line.text)
        response = long.response
        request = None if response is None else self.pending.find(response.id)
        if is_first and response is not None:
            long.is_held_back = self.holds_back(response)
        if request is not None and not long.is_held_back:
            # Pending until its end, which may never come.
            self.on_response(request)
        if not long.is_held_back:
            await (self._begin_line if is_first else self._continue_line)(line.text)
        if line.is_end:
            self._answered(request)
            long.has_begun = False
            self._output.release()

    async def _begin_line(self, text: bytes) -> None:
        """Pass *text*, which begins a line."""
        await self._continue_line(b"\n" + text if self._is_line_open else text)

    async def _continue_line(self, text: bytes) -> None:
        self._is_line_open = not text.endswith(b"\n")
        await self._lines.put(text)

    def _answered(self, request: Request | None) -> None:
        if request is not None:
            self.pending.remove(request)
            self.on_response(request)


class _LongOutput:
    """A line of the server that passes in pieces."""

    def __init__(self) -> None:
        self.message = LongMessage()
        #: Whether a piece was read; the output is locked until the end of the line then.
        self.has_begun = False
        self.is_held_back = False

    @property
    def response(self) -> Message | None:
        """The response that it is, without its result; None if that is not known yet."""
        id_text = self.message.id_text
        if id_text is None or self.message.has_method:
            return None
        return Message(b"", {"id": id_text, "result": b"null"})


def _request_in(long: LongMessage) -> Request | None:
    """Return the request that *long* is, without its method; None if it is no request."""
    if long.id_text is None or not long.has_method:
        return None
    return request_of(Message(b"", {"id": long.id_text, "method": b'""'}))
