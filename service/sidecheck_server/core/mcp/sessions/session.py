"""Session: tracks the context of each message and applies the session rules."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

from sidecheck_server.core.mcp.check import CheckReport
from sidecheck_server.core.mcp.context import Context, Sender
from sidecheck_server.core.mcp.messages.envelopes import Kind, Message
from sidecheck_server.core.mcp.metadata_keys import read_metadata
from sidecheck_server.core.mcp.methods import find_method
from sidecheck_server.core.mcp.sessions.exchange import Exchange, Lifecycle, Rejections
from sidecheck_server.core.mcp.sessions.input_requests import Elicitations, Retries, encode_request
from sidecheck_server.core.mcp.sessions.listings import (
    ListedPrompts,
    ListedTools,
    PageNames,
    Pages,
    ToolsOrder,
)
from sidecheck_server.core.mcp.sessions.memory import (
    Key,
    MemoryPool,
    Reporter,
    Request,
    SessionMemory,
    SessionMessage,
    SessionRule,
    key_of,
)
from sidecheck_server.core.mcp.sessions.message_scan import MessageScan, scan_message
from sidecheck_server.core.mcp.sessions.negotiation import Declarations, Negotiation
from sidecheck_server.core.mcp.sessions.notifications import Logs, Progress
from sidecheck_server.core.mcp.sessions.repetitions import Repetition, Repetitions
from sidecheck_server.core.mcp.sessions.subscriptions import ResourceSubscriptions, Subscriptions
from sidecheck_server.core.mcp.sessions.tasks import Tasks
from sidecheck_server.core.mcp.subjects import CheckRequest, ProtocolMessage, ReportLimits
from sidecheck_server.core.payload import encode_json, has_long_integers

__all__ = ["Session"]

_VALUE_BYTES = 16
"""Bytes of memory of a decoded value per byte of its JSON text, for small properties."""

_MAX_NAME = 128
"""Length to which the names of tools and methods are shortened."""

_REJECTED = 400
"""Lowest HTTP status that rejects a message."""

_EXPIRED = 404
"""HTTP status of a session that the server has ended.

The client then begins a new session with initialize (basic/transports, "Session Management").
"""


class Session:
    """Messages of one connection, in the order in which the peers sent them.

    For each message, call `check_request`, run the check, and call `record` with its
    outcome, or `record_gap` if the message could not be checked.

    *context* is the initial context. The version that the peers agree on replaces its version,
    unless it is *pinned*. If the session is not observed *from_beginning*, rules that need all
    messages report nothing. With *validates_payloads*, the session validates calls and results
    against the schemas that the server listed. Memory is bounded; with *pool* it counts there
    until `close`. Evicted or missed messages never cause violations.
    """

    def __init__(
        self,
        context: Context,
        *,
        pinned: bool = False,
        from_beginning: bool = True,
        pool: MemoryPool | None = None,
        validates_payloads: bool = True,
    ) -> None:
        self._validates_payloads = validates_payloads
        self._negotiation = Negotiation(context, pinned=pinned, from_beginning=from_beginning)
        #: Whether a message was not recorded.
        self._gaps = not from_beginning
        #: Last weighed capabilities and their weight; most requests share the same object.
        self._last_weight: tuple[dict[str, Any] | None, int] = (None, 0)
        self._initial = (context, pool)
        self._memory = SessionMemory(pool)
        self._repetitions = Repetitions(self._memory)
        self._begin()

    def _begin_again(self) -> None:
        """Drop the state of all messages; keep the counts of repeated violations."""
        self._memory.close()
        self._memory = SessionMemory(self._initial[1])
        self._repetitions = self._repetitions.copy_to(self._memory)
        self._begin()

    def _begin(self) -> None:
        """Begin a session with the next message."""
        memory = self._memory
        #: Whether the server rejected a message because it has ended the session.
        self._expired = False
        self._exchange = Exchange(memory)
        self._rules: tuple[SessionRule, ...] = (
            self._exchange,
            Lifecycle(),
            Progress(memory),
            Pages(memory),
            Retries(memory),
            Subscriptions(memory),
            ResourceSubscriptions(memory),
            Logs(memory),
            Elicitations(memory),
            ListedTools(memory, validates_payloads=self._validates_payloads),
            Tasks(memory, self._initial[0]),
            Rejections(memory),
            ToolsOrder(memory),
            PageNames(memory),
            ListedPrompts(memory),
            Declarations(memory),
        )

    def close(self) -> None:
        """Return the memory of the session to its pool."""
        self._memory.close()

    def repetitions(self) -> list[Repetition]:
        """Return the violations of several messages, in the order of the first reports."""
        return list(self._repetitions)

    def check_request(
        self, message: ProtocolMessage, sender: Sender | None, limits: ReportLimits
    ) -> CheckRequest:
        """Return the request to check *message* of *sender* in the current context."""
        scan = scan_message(message.json)
        if not scan.is_response:
            context = self._negotiation.request_context(scan, sender)
            if scan.items:
                methods = tuple(self._find_response_method(item, sender) for item in scan.items)
                message = replace(message, item_methods=methods)
            return CheckRequest(message, context, limits)
        for requester in Sender if sender is None else (sender.peer,):
            request = self._exchange.find_open(requester, key_of(scan.id))
            if request is not None:
                break
        else:
            return CheckRequest(message, self._negotiation.context(sender), limits)
        context = self._negotiation.response_context(scan, request, requester.peer)
        response = replace(message, request_method=request.method, request=request.text)
        return CheckRequest(response, context, limits)

    def _find_response_method(self, scan: MessageScan, sender: Sender | None) -> str:
        """Return the method of the request that a message of a batch responds to, or ""."""
        if scan.is_response and scan.id is not None:
            for requester in Sender if sender is None else (sender.peer,):
                request = self._exchange.find_open(requester, key_of(scan.id))
                if request is not None:
                    return request.method
        return ""

    @property
    def has_gaps(self) -> bool:
        """Whether a message was not recorded."""
        return self._gaps

    def record_gap(self) -> None:
        """Record that a message could not be read.

        Its receiver may read it, with other limits or another JSON decoder.
        """
        self._gaps = True

    def close_gap(self) -> None:
        """Undo the only `record_gap`, because its message could be checked later."""
        self._gaps = False

    def record(
        self, request: CheckRequest, outcome: CheckReport, *, number: int = 0, http_status: int = 0
    ) -> Iterator[None]:
        """Record the messages of *outcome*, and add violations of session rules to it.

        Yields after each message of a batch. *number* identifies the message in `repetitions`.
        *http_status* is the status of the HTTP response to the message, or 0. A client's
        message that HTTP rejected takes no part in the session, except that its id may have a
        response. Session rules may defer checks, so resolve the deferred checks of *outcome*
        afterwards.
        """
        subject = request.subject
        assert isinstance(subject, ProtocolMessage)
        long_integers = has_long_integers(subject.json)
        is_rejected = http_status >= _REJECTED and request.context.sender is not Sender.SERVER
        if not outcome.messages and not is_rejected:
            self.record_gap()
        for message in outcome.messages:
            sender = _find_sender(message, request.context)
            if sender is None or message.kind is Kind.BROKEN:
                # The receiver may read a batch although this version has none.
                is_readable = message.kind is Kind.REQUEST or isinstance(message.value, list)
                if is_readable and not is_rejected:
                    self.record_gap()
                elif sender is not None and not is_rejected and "method" in _get_fields(message):
                    self._exchange.count_unreadable(sender)
                continue
            if is_rejected:
                self._expired |= http_status == _EXPIRED
                if message.kind is Kind.REQUEST:
                    rejected_request = self._build_request(message, request.context)
                    self._exchange.reject(sender, key_of(message.id), rejected_request)
                continue
            if self._expired and message.kind is Kind.REQUEST and message.method == "initialize":
                self._begin_again()
            rejected_key = self._reject_last(message, http_status)
            closed_request = self._close(message, sender)
            if closed_request is not None and closed_request.method != message.method:
                message = replace(message, method=closed_request.method)  # noqa: PLW2901
            current = SessionMessage(
                message,
                sender,
                request.context.version,
                closed_request,
                has_long_integers=long_integers,
                rejected=rejected_key,
            )
            self._observe(current, request.context, outcome, number)
            self._open(message, sender, request.context)
            yield

    def _open(self, message: Message, sender: Sender, context: Context) -> None:
        """Store *message* if it is a request, with or without a readable id."""
        is_request = message.kind is Kind.REQUEST
        if is_request:
            request = self._build_request(message, context)
            self._exchange.open(sender, key_of(message.id), request)
        if message.id is None and (is_request or _lacks_id(message, context.version)):
            self._exchange.count_unreadable(sender)

    def _reject_last(self, message: Message, http_status: int) -> Key | None:
        """Reject the request to which HTTP responded with the error *message*.

        Returns its key, or None. The error has no id; it belongs to the client's last request.
        """
        if http_status < _REJECTED or message.kind is not Kind.ERROR or message.id is not None:
            return None
        self._expired |= http_status == _EXPIRED
        return self._exchange.reject_last()

    def _close(self, message: Message, sender: Sender) -> Request | None:
        """Close the request that *message* responds to, and return it; None if unknown."""
        if message.kind not in {Kind.RESULT, Kind.ERROR}:
            return None
        return self._exchange.close(sender.peer, key_of(message.id))

    def _observe(
        self, current: SessionMessage, context: Context, outcome: CheckReport, number: int
    ) -> None:
        message = current.message
        report = Reporter(outcome.findings, message.path, current.version, gaps=self._gaps)
        for rule in self._rules:
            if rule.methods is None or message.method in rule.methods:
                rule.observe(current, report)
        self._negotiation.observe(current, context)
        outcome.findings.filter(partial(self._negotiation.is_certain, context))
        self._repetitions.remove_repeated(outcome.findings, current, number)

    def _build_request(self, message: Message, context: Context) -> Request:
        """Return the properties of the request *message* for the check of its response."""
        params = message.value.get("params") if isinstance(message.value, dict) else None
        params = params if isinstance(params, dict) else {}
        token = read_metadata(params).get("progressToken")
        tool = params.get("name") if message.method == "tools/call" else None
        tool = tool[:_MAX_NAME] if isinstance(tool, str) else ""
        text = encode_request(message.method, params)
        return Request(
            method=message.method[:_MAX_NAME],
            version=context.version,
            client_capabilities=context.client_capabilities,
            text=text,
            token=None if token is None else key_of(token),
            as_task="task" in params,
            tool=tool,
            weight=len(text) + 4 * len(tool) + self._weigh(context.client_capabilities),
        )

    def _weigh(self, capabilities: dict[str, Any] | None) -> int:
        """Return the memory that *capabilities* take, in bytes."""
        last_capabilities, weight = self._last_weight
        if capabilities is not last_capabilities:
            weight = _VALUE_BYTES * len(encode_json(capabilities))
            self._last_weight = (capabilities, weight)
        return weight


def _get_fields(message: Message) -> dict[str, Any]:
    return message.value if isinstance(message.value, dict) else {}


def _lacks_id(message: Message, version: str) -> bool:
    """Return whether *message* is a request without an id, which may get a response."""
    method = find_method(message.method, version) if message.kind is Kind.NOTIFICATION else None
    return method is not None and method.is_request


def _find_sender(message: Message, context: Context) -> Sender | None:
    """Return the sender of *message*, or None if both sides may have sent it."""
    if context.sender is not None:
        return context.sender
    senders = [side for side in Sender if find_method(message.method, context.version, side)]
    if len(senders) != 1:
        return None
    # The method of a response is that of its request.
    is_response = message.kind in {Kind.RESULT, Kind.ERROR}
    return senders[0].peer if is_response else senders[0]
