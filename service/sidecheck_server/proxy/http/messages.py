"""Rulings on the messages of one HTTP request and its response.

This module does no I/O. The HTTP proxy and Envoy's external processor pass in the parts of an
exchange.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from sidecheck_server.config.policies import Policies, Policy
from sidecheck_server.proxy.http.checks import (
    error_status,
    find_mismatches,
    mismatch_finding,
    mismatch_response,
)
from sidecheck_server.proxy.http.connections import UNANSWERED, Connection, HttpConnections
from sidecheck_server.proxy.http.headers import is_utf8
from sidecheck_server.proxy.http.sse import Event
from sidecheck_server.proxy.messages import (
    INVALID_REQUEST,
    Direction,
    Message,
    Received,
    RequestId,
    error_response,
    parse_received,
    request_id,
    string_value,
)
from sidecheck_server.proxy.report import Action, Finding, Findings
from sidecheck_server.proxy.rulings.pending import are_similar

__all__ = ["BodyKind", "EventRuling", "HttpMessages", "Record", "Reply"]

#: Kind of the body of a response: one message or batch, events with messages, or neither.
BodyKind: TypeAlias = Literal["message", "events", "other"]

_CALL = "tools/call"
_MISMATCH = "HEADER_MISMATCH"
_CHARSET = "the content type has a parameter other than charset=utf-8; omit the parameter"
_OTHER_BODY = "the body of the response is neither JSON nor events"
_LATER_ENDPOINT = "an endpoint that is not the first event of its stream"
_NO_RESPONSE = (
    "HTTP %d without a response to the request; the server must respond with application/json or "
    'text/event-stream (2025-11-25, basic/transports, "Sending Messages to the Server")'
)

_FREED_STATUSES = frozenset({301, 302, 307, 308})
"""Statuses of redirections whose request the server did not take (RFC 9110, section 15.4)."""

#: Receives the text of each message or batch, its sender, and the parsed content.
Record: TypeAlias = Callable[[bytes, Direction, object], None]


@dataclass(frozen=True, slots=True)
class Reply:
    """Response of the proxy to a request that it does not forward."""

    status: int
    #: JSON text; empty for a response without a message.
    body: bytes = b""


@dataclass(frozen=True, slots=True)
class EventRuling:
    """Decision on an event."""

    #: Text for the client; None to send nothing.
    text: bytes | None
    #: Error for the server, if the event has a request that is rejected.
    reply: bytes | None = None


class HttpMessages:
    """Messages of one exchange, whose request has *headers*; must be released."""

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
        #: Whether content that cannot be validated is rejected.
        self.enforces = enforces
        self._connections = connections
        self._policies = policies
        self._findings = findings
        self._headers = headers
        self._record = record
        self._connection: Connection | None = None
        self._message: Message | list[Message] | None = None
        #: Errors for the rejected messages of a batch, to send with the server's response.
        self.reply: bytes | None = None
        #: Ids of the requests that have their responses.
        self._answered: set[RequestId] = set()
        #: Reason why the body of the response cannot be validated.
        self.fault = _OTHER_BODY

    async def admit(self, body: bytes) -> bytes | Reply:
        """Return the text to forward for *body*, that of a POST, or the reply to it.

        Raises:
            LockFileError: the tools could not be pinned.
        """
        if not is_utf8(self._headers) and not self.report_and_decide("client", _CHARSET):
            return Reply(415, _error(_CHARSET))
        received = self._read(body, "client")
        message = self._message = received.content
        connection = self._connection = self._connections.acquire(self._headers, message)
        ruling = await connection.handle(received, "client")
        # After the ruling, because that looks up the tool whose schema names the headers.
        if rejection := self._check_headers(message, connection):
            connection.answer(message)
            return rejection
        reply = ruling.reply if ruling.exchange_reply is None else ruling.exchange_reply
        if ruling.forward is not None:
            self.reply = reply
            return ruling.forward
        if reply is None:
            return Reply(202)
        return Reply(error_status(self._headers, reply), reply)

    async def begin_response(
        self, method: str, status: int, headers: Mapping[str, str]
    ) -> BodyKind:
        """Process the head of the response to *method*; return the kind of its body."""
        if method == "DELETE" and 200 <= status < 300:
            await self._connections.end(self._headers)
        if method == "POST":
            await self._begin_response_to_message(status, headers)
        body = _body_of(method, status, headers.get("content-type", "").strip().lower())
        if body != "other" and not is_utf8(headers):
            if self.enforces:
                # The caller reports the fault, and rejects the body.
                self.fault = _CHARSET
                return "other"
            self.report_and_decide("server", _CHARSET)
        return body

    async def _begin_response_to_message(self, status: int, headers: Mapping[str, str]) -> None:
        connection = self.connection
        if status >= 400:
            # The server rejected the message. The client may retry it, for example with
            # credentials.
            connection.answer(self._message)
            await connection.session.reset()
            if status == 404:
                # The server has ended the session.
                await self._connections.end(self._headers)
        elif status in _FREED_STATUSES:
            # The client sends the request, with the same id, to the location.
            connection.answer(self._message)
            await connection.session.reset()
        await self._connections.keep(headers, connection)

    async def rule_body(self, text: bytes) -> bytes:
        """Return the text for the client in place of *text*, the body of the response.

        Raises:
            LockFileError: the tools could not be pinned.
        """
        # Some servers send a content type with the empty response to a notification.
        if not text:
            return self.end_without_response(200) or b""
        received = self._read(text, "server")
        output = (await self.connection.handle(received, "server", self._awaited)).forward
        if isinstance(self._message, list):
            return self.answer(output) or b""
        # An error means that the body lacks the response to the request.
        error = self.answer()
        if self.enforces:
            return error or output or b""
        return output or error or b""

    def rejects_endpoint(self, event: Event) -> bool:
        """Report and reject *event* if it may be an endpoint, but not at the start of a stream.

        The client would send its messages there, past the checks.
        """
        return (
            self.enforces
            and event.may_be_endpoint
            and not self.report_and_decide("server", _LATER_ENDPOINT)
        )

    async def rule_event(self, event: Event) -> EventRuling:
        """Return the ruling on *event*.

        Raises:
            LockFileError: the tools could not be pinned.
        """
        original_text = event.mark + event.text
        if not event.data:
            return EventRuling(event.safe_text(event.data) if self.enforces else original_text)
        received = parse_received(event.data)
        message = received.content
        # Some readers ignore the event type, or accept other types for messages.
        is_other = event.type != b"message" and not (self.enforces and event.may_be_json)
        if message is None and is_other:
            return EventRuling(event.safe_text(event.data) if self.enforces else original_text)
        self._record_message(received, "server")
        if self._rejects_foreign(message):
            self._findings.add(
                Finding(
                    sender="server",
                    code="RESPONSE_WITHOUT_REQUEST",
                    location="/id",
                    action=Action.REJECTED,
                )
            )
            return EventRuling(None)
        ruling = await self.connection.handle(received, "server", self._awaited)
        if ruling.forward is None:
            return EventRuling(None, ruling.reply)
        self._answered.update(item.id for item in received.messages if item.has_answer)
        if self.enforces:
            return EventRuling(event.safe_text(ruling.forward), ruling.reply)
        is_same = ruling.forward is event.data
        text = original_text if is_same else event.with_data(ruling.forward)
        return EventRuling(text, ruling.reply)

    def end_without_response(self, status: int) -> bytes | None:
        """Return the errors for the client if the response has no message; None to pass it.

        In audit the requests stay pending: some servers respond in the stream of a GET.
        """
        if self.enforces:
            return self.reject("REQUEST_NOT_ANSWERED", _NO_RESPONSE % status)
        if self.expects_response:
            self.report("REQUEST_NOT_ANSWERED", _NO_RESPONSE % status)
            self.connection.await_response(self._message)
        return None

    def begin_events(self) -> bytes:
        """Return the event to begin a stream with; empty if there is no reply."""
        return b"" if self.reply is None else _event(self.reply)

    def end_events(self, *, is_resumable: bool, reason: str = UNANSWERED) -> bytes:
        """Return the event to end a stream with: an error with *reason*, or empty if none is due.

        A client may resume the stream of a session after the last event with an id.
        """
        if is_resumable and self.connection.is_kept:
            return b""
        error = self.connection.answer(self._message, reason=reason)
        return b"" if error is None else _event(error)

    def report_and_decide(self, sender: Direction, note: str) -> bool:
        """Report content that cannot be validated; return whether it passes."""
        self.report("NOT_VALIDATED", note, sender)
        return not self.enforces

    def report(self, code: str, note: str, sender: Direction = "server") -> None:
        """Report content that is rejected if the exchange is enforced, and passes otherwise."""
        action = Action.REJECTED if self.enforces else Action.PASSED
        self._findings.add(
            Finding(sender=sender, method=self.method, code=code, action=action, note=note)
        )

    def answer(self, *replies: bytes | None, reason: str = UNANSWERED) -> bytes | None:
        """Return *replies* of the server and errors with *reason*, None without any."""
        return self.connection.answer(self._message, *replies, self.reply, reason=reason)

    def reject(self, code: str, reason: str) -> bytes | None:
        """Return the errors for the client if the response is rejected for *reason*.

        Report *code* if a request lacks its response.
        """
        errors = self.connection.fail(self._message, reason)
        if errors:
            self.report(code, reason)
        return self.connection.answer(self._message, *errors, self.reply)

    @property
    def method(self) -> str:
        """Method of the request; "" if there is none, or several."""
        methods = {message.method for message in self._requests}
        return methods.pop() if len(methods) == 1 else ""

    @property
    def expects_response(self) -> bool:
        """Whether the client sent a request, and not notifications or responses alone."""
        return bool(self._requests)

    @property
    def is_pending(self) -> bool:
        """Whether a request has no response in the events yet."""
        return any(
            not any(id_ == message.id or are_similar(id_, message.id) for id_ in self._answered)
            for message in self._requests
        )

    @property
    def request_ids(self) -> list[bytes]:
        """JSON texts of the ids of the requests, except `initialize`, which stays."""
        requests = [message for message in self._requests if message.method != "initialize"]
        return [message.properties["id"] for message in requests]

    @property
    def is_subscription(self) -> bool:
        """Whether the client listens for notifications, which has no end (2026-07-28)."""
        return any(message.method == "subscriptions/listen" for message in self._requests)

    @property
    def _requests(self) -> list[Message]:
        content = self._message
        messages = [content] if isinstance(content, Message) else content or []
        return [message for message in messages if message.is_request]

    @property
    def connection(self) -> Connection:
        """Session that the exchange belongs to."""
        if self._connection is None:
            self._connection = self._connections.acquire(self._headers)
        return self._connection

    async def release(self) -> None:
        """End the session unless other requests belong to it."""
        if self._connection is not None:
            await self._connection.release()

    def _rejects_foreign(self, message: Message | list[Message] | None) -> bool:
        """Return whether *message* is rejected as the response to another request.

        Some readers accept ``"5"`` for the id 5. They would take such a response, which is not
        validated as that of the request.
        """
        request = self._message
        if not (isinstance(message, Message) and isinstance(request, Message)):
            return False
        is_foreign = message.is_response and message.id != request.id
        # The session answers the request with the reason in these cases.
        is_meant = message.is_error_without_id or are_similar(message.id, request.id)
        return is_foreign and not is_meant and self.enforces

    @property
    def _awaited(self) -> RequestId:
        """Id of the request that the response answers; null if there is none, or several."""
        message = self._message
        return message.id if isinstance(message, Message) else request_id(b"null")

    def _read(self, text: bytes, sender: Direction) -> Received:
        received = parse_received(text)
        self._record_message(received, sender)
        return received

    def _record_message(self, received: Received, sender: Direction) -> None:
        if self._record is not None:
            self._record(received.text, sender, received.content)

    def _check_headers(
        self, message: Message | list[Message] | None, connection: Connection
    ) -> Reply | None:
        """Report mismatches of headers and *message*; return the rejection, None to pass."""
        policy = self._policies.messages
        if policy is Policy.OFF or not isinstance(message, Message):
            return None
        action = Action.PASSED
        if policy is Policy.ENFORCE:
            tool = string_value(message.params.get("name")) if message.method == _CALL else ""
            exempt = self._policies.allow.find(message.method, tool)
            action = Action.ALLOWED if _MISMATCH in exempt else Action.REJECTED
        mismatches = find_mismatches(self._headers, message, connection.tools)
        for mismatch in mismatches:
            self._findings.add(mismatch_finding(message, mismatch, action))
        if not mismatches or action is not Action.REJECTED:
            return None
        return Reply(400, mismatch_response(message, mismatches[0]))


def _body_of(method: str, status: int, content_type: str) -> BodyKind:
    """Return the kind of the body of a response to *method*."""
    # Some clients search for the media type as a prefix, others anywhere in the header.
    is_json = "application/json" in content_type
    if "text/event-stream" in content_type and not content_type.startswith("application/json"):
        return "events" if method in {"GET", "POST"} else "other"
    return "message" if is_json and method == "POST" and status < 400 else "other"


def _error(reason: str) -> bytes:
    return error_response(None, reason, INVALID_REQUEST)


def _event(data: bytes) -> bytes:
    return b"data: " + data + b"\n\n"
