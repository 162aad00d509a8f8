"""The messages of one HTTP request and its response: what becomes of each.

Without input or output: whoever relays the exchange hands over its parts.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from sidecheck_server.policies import Policy
from sidecheck_server.proxy.http_checks import (
    error_status,
    find_mismatches,
    mismatch_finding,
    mismatch_response,
    repeats_parts,
)
from sidecheck_server.proxy.http_connections import HttpConnections, ToolSources
from sidecheck_server.proxy.messages import Message, read_message
from sidecheck_server.proxy.report import Action, Direction, Findings
from sidecheck_server.proxy.sse import EventReader, EventTooLongError

__all__ = ["Body", "Events", "HttpMessages", "Record", "Reply"]

#: What the body of a response is: one message or batch, events with messages, or neither.
Body: TypeAlias = Literal["message", "events", "other"]

#: Takes each message or batch, its sender, and what was read.
Record: TypeAlias = Callable[[bytes, Direction, Message | list[Message] | None], None]


@dataclass(frozen=True, slots=True)
class Reply:
    """A response in place of the server's, which does not get the request."""

    status: int
    #: JSON text; empty if the request gets no message.
    body: bytes = b""


@dataclass(frozen=True, slots=True)
class Events:
    """What becomes of a part of a stream of events."""

    #: What the client gets.
    text: bytes
    #: Errors of requests of the server.
    replies: tuple[bytes, ...] = ()
    #: The bytes from the start of an event on that is longer than the limit; None if none is.
    unread: bytes | None = None


class HttpMessages:
    """The messages of the exchange of a request with *headers*.

    *messages* is the policy about messages, which headers belong to. An event may have
    *max_bytes*. It must be released in the end.
    """

    def __init__(
        self,
        connections: HttpConnections,
        tools: ToolSources,
        messages: Policy,
        findings: Findings,
        headers: Mapping[str, str],
        max_bytes: int,
        record: Record | None = None,
    ) -> None:
        self._connections = connections
        self._tools = tools
        self._messages = messages
        self._findings = findings
        self._headers = headers
        self._record = record
        self._connection = connections.of(headers)
        self._message: Message | list[Message] | None = None
        self._events = EventReader(max_bytes)

    async def admit(self, body: bytes) -> bytes | Reply:
        """Return what the server gets in place of *body*, that of a POST."""
        message = self._message = self._read(body, "client")
        # The one before this has not been used.
        self._connection = self._connections.of(self._headers, message)
        ruling = await self._connection.handle(body, "client")
        # The tool of a call is known by now.
        if refused := self._check_headers(message):
            self._connection.take_open(message)
            return refused
        if ruling.forward is not None:
            return ruling.forward
        if ruling.reply is None:
            return Reply(202)
        return Reply(error_status(self._headers, ruling.reply), ruling.reply)

    async def begin_response(self, method: str, status: int, headers: Mapping[str, str]) -> Body:
        """Note the *status* and *headers* of the response; return what its body is."""
        if status >= 400 and method == "POST":
            # The message was not taken, and may come again, with credentials for example.
            self._connection.take_open(self._message)
            await self._connection.session.forget()
        is_success = 200 <= status < 300
        if method == "DELETE" and is_success:
            await self._connections.end(self._headers)
        await self._connections.keep(headers, self._connection)
        # Clients look for the names at the beginning, or anywhere.
        kind = headers.get("content-type", "").strip().lower()
        if "text/event-stream" in kind and not kind.startswith("application/json"):
            return "events"
        return "message" if "application/json" in kind and status < 400 else "other"

    async def rule_response(self, text: bytes) -> bytes:
        """Return the body that the client gets in place of *text*, that of the response."""
        # Some servers give the empty response to a notification a type.
        if not text:
            return text
        self._read(text, "server")
        passed = (await self._connection.handle(text, "server")).forward
        # The body is all that the request gets; without its response, it is another's.
        error = self.take_unanswered()
        if self._messages is not Policy.ENFORCE:
            return passed or error or b""
        return error or passed or b""

    async def rule_events(self, chunk: bytes) -> Events:
        """Return what becomes of the events that *chunk* completes.

        None may follow after an event that is longer than the limit.
        """
        parts: list[bytes] = []
        replies: list[bytes] = []
        unread = None
        try:
            for event in self._events.feed(chunk):
                if not event.data:
                    parts.append(event.text)
                    continue
                self._read(event.data, "server")
                ruling = await self._connection.handle(event.data, "server")
                if ruling.forward is not None:
                    passed = ruling.forward is event.data
                    parts.append(event.text if passed else event.with_data(ruling.forward))
                if ruling.reply is not None:
                    replies.append(ruling.reply)
        except EventTooLongError as error:
            unread = error.unread
        return Events(b"".join(parts), tuple(replies), unread)

    def end_events(self) -> bytes:
        """Return the end of the stream: an error, or what follows after the last event.

        That is no event, and what came after it would be taken for a part of it.
        """
        return self.unanswered_event() or self._events.rest()

    def unanswered_event(self) -> bytes:
        """Return an event with the error for the request, if it has no response yet.

        In a session, that may come in another stream.
        """
        error = None if self._connection.is_kept else self.take_unanswered()
        return b"" if error is None else b"data: " + error + b"\n\n"

    def take_unanswered(self) -> bytes | None:
        """Return the error for the request if it has no response yet; it has one then."""
        return self._connection.take_open(self._message)

    async def release(self) -> None:
        """End the session unless other requests belong to it."""
        await self._connection.release()

    def _read(self, text: bytes, sender: Direction) -> Message | list[Message] | None:
        message = read_message(text)
        if self._record is not None:
            self._record(text, sender, message)
        return message

    def _check_headers(self, message: Message | list[Message] | None) -> Reply | None:
        """Return the response to a message that its headers do not match."""
        if self._messages is Policy.OFF or not isinstance(message, Message):
            return None
        if not repeats_parts(self._headers, message):
            return None
        enforces = self._messages is Policy.ENFORCE
        action = Action.REJECTED if enforces else Action.PASSED
        schema = self._tools.of(self._headers).input_schema(message)
        mismatches = find_mismatches(self._headers, message, schema)
        for mismatch in mismatches:
            self._findings.add(mismatch_finding(message, mismatch, action))
        if not (mismatches and enforces):
            return None
        return Reply(400, mismatch_response(message, mismatches[0]))
