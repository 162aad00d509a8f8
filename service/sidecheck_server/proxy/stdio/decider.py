"""Relay over stdio in which a session decides on each message before it passes."""

import asyncio
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace

from sidecheck_server.proxy.messages import (
    INVALID_REQUEST,
    Direction,
    Message,
    Received,
    RequestId,
    error_response,
    parse_received,
    request_id,
)
from sidecheck_server.proxy.report import Action
from sidecheck_server.proxy.rulings.listing_pages import ListTools
from sidecheck_server.proxy.rulings.session import ProxySession
from sidecheck_server.proxy.stdio.line_messages import (
    LineMessages,
    Unit,
    find_glued,
    is_protocol_message,
    unit_of,
)
from sidecheck_server.proxy.stdio.link import ENDED, FRAMING, Link
from sidecheck_server.proxy.stdio.long_lines import LongMessage
from sidecheck_server.proxy.stdio.own_requests import OwnRequests
from sidecheck_server.proxy.stdio.pipes import Line, LineReader
from sidecheck_server.proxy.stdio.portable import PortableTools

__all__ = ["Decider"]

_CALL = "tools/call"
_CANCEL = "notifications/cancelled"
_MAX_WAITING = 1_000
"""Maximum number of calls and results that wait alone; then the messages after them wait too."""


class Decider:
    """Relay whose session decides on each message, in the order of each side.

    Calls wait alone for the list of tools and for workers, and so do their results: other
    messages pass meanwhile, since the server may need them to list its tools.
    """

    def __init__(self, link: Link, portable: PortableTools | None) -> None:
        self._link = link
        self._portable = portable
        self._own = OwnRequests(link.to_server.write)
        self._session: ProxySession | None = None
        self._has_ended = False
        self._client = LineReader(link.from_client, link.max_bytes)
        self._is_handling: dict[Direction, bool] = {"client": False, "server": False}
        #: Ids of calls of the client without a result.
        self._calls: set[RequestId] = set()
        #: Calls and results that wait alone, and their senders.
        self._tasks: dict[asyncio.Task[None], Direction] = {}
        #: Those that wait for their ruling, by sender and id.
        self._waiting: dict[tuple[Direction, RequestId], asyncio.Task[None]] = {}
        self._failure: BaseException | None = None
        self._ending: asyncio.Task[None] | None = None

    def start(self, session: ProxySession) -> None:
        """Decide by *session*, before any message."""
        self._session = session

    @property
    def session(self) -> ProxySession:
        """The session, after the start."""
        assert self._session is not None
        return self._session

    @property
    def list_tools(self) -> ListTools:
        """Function that requests a page of tools from the server."""
        return self._own.list_tools

    @property
    def is_busy(self) -> bool:
        """Whether messages were read that have not been written."""
        # A call that waits for a server that has ended gets an error.
        return any(self._is_handling.values()) or "server" in self._tasks.values()

    @property
    def client_lines(self) -> int:
        """Number of chunks that the client has sent."""
        return self._client.chunks

    async def relay_client(self) -> None:
        """Relay the input of the client until its end; then close that of the server."""
        long = _LongLine(self, "client")
        try:
            async for line in self._client.lines():
                self._is_handling["client"] = True
                if line.is_piece:
                    long = await long.add(line)
                elif line.text.strip():
                    await self._relay(unit_of([line.text]), "client")
                self._is_handling["client"] = False
            await _finish(task for task, sender in self._tasks.items() if sender == "client")
        finally:
            await self._link.to_server.close()

    async def relay_server(self) -> None:
        """Relay the output of the server until its end.

        Raises:
            OSError: the client is gone.
        """
        messages, long = LineMessages(self._link.max_bytes), _LongLine(self, "server")
        async for line in self._link.from_server.lines():
            self._is_handling["server"] = True
            if line.is_piece:
                long = await long.add(line)
            elif line.text[: len(FRAMING)].lower() == FRAMING:
                self._link.add("server", "CONTENT_LENGTH_FRAMING", _FRAMING_NOTE, Action.REJECTED)
                # The relay ends the server as if the client were gone.
                raise BrokenPipeError
            else:
                for unit in messages.add(line.text):
                    await self._relay_output(unit)
            self._is_handling["server"] = False
        for unit in messages.flush():
            await self._relay_output(unit)
        await _finish(task for task, sender in self._tasks.items() if sender == "server")
        self._is_handling["server"] = False

    async def end_server(self) -> None:
        """Answer open requests with errors, now and from now on."""
        self._has_ended = True
        self._own.end()
        for task in self._waiting.values():
            task.cancel()
        await self._answer_open()

    async def finish(self) -> None:
        """End all waiting; raise the error that ended the relay, if there is one."""
        self._link.finish()
        for task in self._tasks:
            task.cancel()
        await _finish(self._tasks)
        if self._failure is not None and not isinstance(self._failure, OSError):
            raise self._failure

    def hurry(self) -> None:
        """Do nothing: the report is complete with the last message."""

    def report_long(self, sender: Direction) -> None:
        """Report a message that is too long."""
        limit = f"{self._link.max_bytes:,}"
        note = f"a message is longer than {limit} bytes (--max-message-bytes); not forwarded"
        self._link.add(sender, "MESSAGE_TOO_LONG", note, Action.REJECTED)

    async def answer_long(self, message: LongMessage, sender: Direction, *, is_end: bool) -> bool:
        """Answer the request, or in place of the response, that *message* is.

        Return whether its id is known, and so the answer sent.
        """
        reason = f"the message is longer than {self._link.max_bytes:,} bytes (--max-message-bytes)"
        receiver: Direction = "server" if sender == "client" else "client"
        id_text = message.id_text
        if id_text is not None and message.has_method:
            await self._write(error_response(id_text, reason, INVALID_REQUEST) + b"\n", sender)
            return True
        if id_text is not None and (message.has_answer or is_end):
            if sender == "server" and self._own.fail(id_text):
                return True
            if sender == "client":
                await self._write(error_response(id_text, reason) + b"\n", receiver)
                return True
            request = Message(b"", {"id": id_text, "method": b'""'})
            return await self._answer_open([request], reason)
        is_response = message.has_answer or not message.is_structured or is_end
        if sender == "server" and is_response and not message.has_method:
            errors = self.session.fail_single(reason)
            for error in errors:
                await self._link.to_client.write(error + b"\n")
            return bool(errors)
        return False

    async def _relay_output(self, unit: Unit) -> None:
        """Relay a line of the server, or the lines of one message."""
        content = unit.received.content
        if not unit.text.strip() or self._own.take(content):
            return
        if not self._is_message(unit.received):
            # Never answered: a server that logs what it receives would log the answer.
            glued = find_glued(unit.received.text)
            message = None if glued is None else glued.content
            if self._own.take(message):
                return
            if glued is None or not (isinstance(message, Message) and self._is_expected(message)):
                self._link.add_stray(unit, Action.DROPPED, has_message=glued is not None)
                return
            self._link.add_stray(unit, Action.REPAIRED, has_message=True)
            unit = replace(unit, received=glued)
        await self._relay(unit, "server")

    def _is_message(self, received: Received) -> bool:
        """Return whether *received* is a message, also the invalid response to a request."""
        return is_protocol_message(received.content) or any(
            map(self._is_expected, received.messages)
        )

    def _is_expected(self, message: Message) -> bool:
        return message.has_answer and self.session.expects(message.id)

    async def _relay(self, unit: Unit, sender: Direction) -> None:
        """Relay a message; return when the next of *sender* may follow."""
        self._link.add_form(unit, sender, Action.REPAIRED)
        received = unit.received
        if received.content is not None:
            self._link.record(received.text, sender)
        if self._portable is not None and sender == "client":
            received = await self._portable.from_client(received)
        message = received.content if isinstance(received.content, Message) else None
        # A second result must find that the first has been ruled on.
        previous = None if message is None else self._waiting.get((sender, message.id))
        if sender == "server" and previous is not None:
            await _finish([previous])
        is_checked = asyncio.Event()
        waits_alone = self._waits_alone(received, sender)
        task = asyncio.create_task(
            self._decide(unit, received, sender, is_checked, waits_alone=waits_alone)
        )
        if not waits_alone:
            await task
            return
        self._tasks[task] = sender
        task.add_done_callback(self._end_task)
        if message is not None:
            self._waiting[sender, message.id] = task
        checking = asyncio.create_task(is_checked.wait())
        await asyncio.wait({checking, task}, return_when=asyncio.FIRST_COMPLETED)
        checking.cancel()
        if len(self._tasks) >= _MAX_WAITING:
            await asyncio.wait(self._tasks, return_when=asyncio.FIRST_COMPLETED)

    def _waits_alone(self, received: Received, sender: Direction) -> bool:
        """Return whether *received* has calls, or the result of one."""
        if sender == "client":
            calls = [message for message in received.messages if message.method == _CALL]
            self._calls.update(call.id for call in calls if call.is_request)
            return bool(calls)
        message = received.content
        if not isinstance(message, Message) or not message.has_answer:
            return False
        is_result = message.id in self._calls
        self._calls.discard(message.id)
        return is_result

    async def _decide(
        self,
        unit: Unit,
        received: Received,
        sender: Direction,
        is_checked: asyncio.Event,
        *,
        waits_alone: bool,
    ) -> None:
        """Let the session decide on *received*; write the outcome."""
        ruling = await self.session.handle(received, sender, on_checked=is_checked.set)
        message = received.content
        if isinstance(message, Message):
            if waits_alone and self._waiting.get((sender, message.id)) is asyncio.current_task():
                # From here on, the message cannot be cancelled.
                del self._waiting[sender, message.id]
            if sender == "client" and message.method == _CANCEL and self._drop_call(message):
                return
        if ruling.forward is not None:
            # The last line may lack a line break, and an error for another request may follow it.
            is_unchanged = ruling.forward is unit.received.text
            line_break = unit.line_break if is_unchanged else b""
            await self._forward(ruling.forward, line_break or b"\n", sender)
        for text in ruling.others:
            await self._forward(text, b"\n", sender)
        if ruling.reply is not None:
            await self._write(ruling.reply + b"\n", sender)
        if self._has_ended:
            await self._answer_open()

    def _drop_call(self, cancellation: Message) -> bool:
        """Drop the waiting call that *cancellation* names; return whether there is one.

        The server has not received it, so it gets neither.
        """
        id_text = cancellation.params.get("requestId", b"null")
        task = self._waiting.pop(("client", request_id(id_text)), None)
        if task is None:
            return False
        task.cancel()
        self._calls.discard(request_id(id_text))
        self.session.fail_pending("", [Message(b"", {"id": id_text, "method": b'""'})])
        return True

    async def _forward(self, text: bytes, line_break: bytes, sender: Direction) -> None:
        """Write the message *text* of *sender* to the other side."""
        if self._portable is not None and sender == "server":
            text = await self._portable.to_client(text)
        await self._write(text + line_break, "client" if sender == "server" else "server")

    async def _write(self, line: bytes, receiver: Direction) -> None:
        """Write *line*; answer its requests with errors if the server does not read it.

        Raises:
            OSError: the client is gone.
        """
        if receiver == "client":
            await self._link.to_client.write(line)
            return
        try:
            await self._link.to_server.write(line)
        except OSError:
            await self._answer_open(parse_received(line).messages)

    async def _answer_open(
        self, messages: Iterable[Message] | None = None, reason: str = ENDED
    ) -> bool:
        """Answer the open requests of the client with errors, or only those among *messages*.

        Return whether there are any.
        """
        errors = self.session.fail_pending(reason, messages)
        with suppress(OSError):
            for error in errors:
                await self._link.to_client.write(error + b"\n")
        return bool(errors)

    def _end_task(self, task: asyncio.Task[None]) -> None:
        """Forget *task*; end the server if it has failed, which ends the relay."""
        self._tasks.pop(task, None)
        for key in [key for key, waiting in self._waiting.items() if waiting is task]:
            del self._waiting[key]
        failure = None if task.cancelled() else task.exception()
        if failure is not None and self._ending is None:
            self._failure = failure
            self._ending = asyncio.create_task(self._link.server.end())


class _LongLine:
    """A line beyond the limit: answered once, and skipped to its end."""

    def __init__(self, decider: Decider, sender: Direction) -> None:
        self._decider = decider
        self._sender = sender
        self._message = LongMessage()
        self._is_answered = False

    async def add(self, line: Line) -> "_LongLine":
        """Skip the piece *line*; return the reader of the next piece."""
        if not self._message.size:
            self._decider.report_long(self._sender)
        await self._message.add(line.text)
        if not self._is_answered:
            self._is_answered = await self._decider.answer_long(
                self._message, self._sender, is_end=line.is_end
            )
        return _LongLine(self._decider, self._sender) if line.is_end else self


async def _finish(tasks: Iterable[asyncio.Task[None]]) -> None:
    """Wait for the end of *tasks*, whatever it is."""
    await asyncio.gather(*list(tasks), return_exceptions=True)


_FRAMING_NOTE = (
    "the server frames its messages by Content-Length, as language servers do; in MCP each"
    " message is one line of JSON, so the connection ends"
)
