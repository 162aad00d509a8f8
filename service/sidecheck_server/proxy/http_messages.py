"""The messages of one HTTP request and its response: what becomes of each.

Without input or output: whoever relays the exchange hands over its parts.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from sidecheck_server.config.policies import Policies, Policy
from sidecheck_server.proxy.http_checks import (
    error_status,
    find_mismatches,
    mismatch_finding,
    mismatch_response,
)
from sidecheck_server.proxy.http_connections import Connection, HttpConnections
from sidecheck_server.proxy.http_headers import is_utf8
from sidecheck_server.proxy.messages import Direction, Message, Received, receive
from sidecheck_server.proxy.report import Action, Finding, Findings
from sidecheck_server.proxy.sse import Event

__all__ = ["Body", "EventRuling", "HttpMessages", "Record", "Reply"]

#: What the body of a response is: one message or batch, events with messages, or neither.
Body: TypeAlias = Literal["message", "events", "other"]

_CHARSET = "a body that is not in UTF-8"

#: Takes each message or batch, its sender, and what was read.
Record: TypeAlias = Callable[[bytes, Direction, object], None]


@dataclass(frozen=True, slots=True)
class Reply:
    """A response in place of the server's, which does not get the request."""

    status: int
    #: JSON text; empty if the request gets no message.
    body: bytes = b""


@dataclass(frozen=True, slots=True)
class EventRuling:
    """What becomes of an event."""

    #: What the client gets; None for nothing.
    text: bytes | None
    #: The error for the server, if it is the sender of a rejected request.
    reply: bytes | None = None


class HttpMessages:
    """The messages of the exchange of a request with *headers*. It must be released."""

    def __init__(
        self,
        connections: HttpConnections,
        policies: Policies,
        findings: Findings,
        headers: Mapping[str, str],
        record: Record | None = None,
        *,
        enforces: bool,
    ) -> None:
        #: Whether what cannot be validated may not pass.
        self.enforces = enforces
        self._connections = connections
        self._policies = policies
        self._findings = findings
        self._headers = headers
        self._record = record
        self._connection: Connection | None = None
        self._message: Message | list[Message] | None = None
        #: The errors of messages of a batch that do not pass; the client gets them, too.
        self.reply: bytes | None = None

    async def admit(self, body: bytes) -> bytes | Reply:
        """Return what the server gets in place of *body*, that of a POST.

        Raises:
            LockFileError: the tools could not be pinned.
        """
        if not is_utf8(self._headers) and not self.admits_unread("client", _CHARSET):
            return Reply(415)
        received = self._read(body, "client")
        message = self._message = received.content
        connection = self._connection = self._connections.acquire(self._headers, message)
        ruling = await connection.handle(received, "client")
        # The tool of a call is known by now.
        if refused := self._check_headers(message, connection):
            connection.answer(message)
            return refused
        if ruling.forward is not None:
            self.reply = ruling.reply
            return ruling.forward
        if ruling.reply is None:
            return Reply(202)
        return Reply(error_status(self._headers, ruling.reply), ruling.reply)

    async def begin_response(self, method: str, status: int, headers: Mapping[str, str]) -> Body:
        """Note the *status* and *headers* of the response to *method*; return what its body is."""
        if method == "DELETE" and 200 <= status < 300:
            await self._connections.end(self._headers)
        if method == "POST":
            await self._begin_response_to_message(status, headers)
        body = _body_of(method, status, headers.get("content-type", "").strip().lower())
        if body != "other" and not (is_utf8(headers) or self.admits_unread("server", _CHARSET)):
            return "other"
        return body

    async def _begin_response_to_message(self, status: int, headers: Mapping[str, str]) -> None:
        connection = self.connection
        if status >= 400:
            # The message was not taken, and may come again, with credentials for example.
            connection.answer(self._message)
            await connection.session.reset()
            if status == 404:
                # The server has ended the session.
                await self._connections.end(self._headers)
        await self._connections.keep(headers, connection)

    async def rule_body(self, text: bytes) -> bytes:
        """Return the body that the client gets in place of *text*, that of the response.

        Raises:
            LockFileError: the tools could not be pinned.
        """
        # Some servers give the empty response to a notification a type.
        if not text:
            return self.answer() or b""
        received = self._read(text, "server")
        passed = (await self.connection.handle(received, "server")).forward
        if isinstance(self._message, list):
            return self.answer(passed) or b""
        # The body is all that the request gets; without its response, it is another's.
        error = self.answer()
        if self.enforces:
            return error or passed or b""
        return passed or error or b""

    async def rule_event(self, event: Event) -> EventRuling:
        """Return what becomes of *event*.

        Raises:
            LockFileError: the tools could not be pinned.
        """
        if not event.data:
            return EventRuling(event.safe_text(event.data) if self.enforces else event.text)
        received = receive(event.data)
        message = received.content
        # Readers differ in what they take for the type of a message, and some do not look at it.
        is_other = event.type != b"message" and not (self.enforces and event.may_be_json)
        if message is None and is_other:
            return EventRuling(event.safe_text(event.data) if self.enforces else event.text)
        self._note(received, "server")
        if self._is_of_another(message):
            self._findings.add(
                Finding(
                    sender="server",
                    code="RESPONSE_WITHOUT_REQUEST",
                    location="/id",
                    action=Action.REJECTED,
                )
            )
            return EventRuling(None)
        ruling = await self.connection.handle(received, "server")
        if ruling.forward is None:
            return EventRuling(None, ruling.reply)
        if self.enforces:
            return EventRuling(event.safe_text(ruling.forward), ruling.reply)
        is_same = ruling.forward is event.data
        text = event.text if is_same else event.with_data(ruling.forward)
        return EventRuling(text, ruling.reply)

    def begin_events(self) -> bytes:
        """Return the event that begins a stream; empty if nothing is due."""
        return b"" if self.reply is None else _event(self.reply)

    def end_events(self, *, is_resumable: bool) -> bytes:
        """Return the event that ends a stream; empty if nothing is due.

        The rest of a session's stream may come in another, after the last event with an id.
        """
        if is_resumable and self.connection.is_kept:
            return b""
        error = self.connection.answer(self._message)
        return b"" if error is None else _event(error)

    def admits_unread(self, sender: Direction, note: str) -> bool:
        """Report what cannot be validated, and return whether it passes."""
        rejects = self.enforces
        action = Action.REJECTED if rejects else Action.PASSED
        self._findings.add(Finding(sender=sender, code="NOT_VALIDATED", action=action, note=note))
        return not rejects

    def answer(self, *replies: bytes | None) -> bytes | None:
        """Return all that is due to the client, with *replies* of the server; None for nothing."""
        return self.connection.answer(self._message, *replies, self.reply)

    @property
    def connection(self) -> Connection:
        """The session that the exchange belongs to."""
        if self._connection is None:
            self._connection = self._connections.acquire(self._headers)
        return self._connection

    async def release(self) -> None:
        """End the session unless other requests belong to it."""
        if self._connection is not None:
            await self._connection.release()

    def _is_of_another(self, message: Message | list[Message] | None) -> bool:
        """Return whether *message*, in the stream of a request, may not pass as its response.

        Readers may take ``"5"`` for the id 5, and it would pass unvalidated.
        """
        request = self._message
        if not (isinstance(message, Message) and isinstance(request, Message)):
            return False
        is_foreign = message.is_response and message.id != request.id
        return is_foreign and self.enforces

    def _read(self, text: bytes, sender: Direction) -> Received:
        received = receive(text)
        self._note(received, sender)
        return received

    def _note(self, received: Received, sender: Direction) -> None:
        if self._record is not None:
            self._record(received.text, sender, received.content)

    def _check_headers(
        self, message: Message | list[Message] | None, connection: Connection
    ) -> Reply | None:
        """Return the response to a message that its headers do not match."""
        policy = self._policies.messages
        if policy is Policy.OFF or not isinstance(message, Message):
            return None
        action = Action.REJECTED if policy is Policy.ENFORCE else Action.PASSED
        mismatches = find_mismatches(self._headers, message, connection.tools)
        for mismatch in mismatches:
            self._findings.add(mismatch_finding(message, mismatch, action))
        if not mismatches or policy is not Policy.ENFORCE:
            return None
        return Reply(400, mismatch_response(message, mismatches[0]))


def _body_of(method: str, status: int, kind: str) -> Body:
    """Return what the body of the response to *method* is, by its content type *kind*."""
    # Clients look for the names at the beginning, or anywhere.
    is_json = "application/json" in kind
    if "text/event-stream" in kind and not kind.startswith("application/json"):
        return "events" if method in {"GET", "POST"} else "other"
    return "message" if is_json and method == "POST" and status < 400 else "other"


def _event(data: bytes) -> bytes:
    return b"data: " + data + b"\n\n"
