"""Session state: the context of each message, and what each message adds to it."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import msgspec

from sidecheck_server.core.mcp.check import CheckReport
from sidecheck_server.core.mcp.context import VERSIONS, Context, Sender
from sidecheck_server.core.mcp.messages.envelopes import Kind, Message
from sidecheck_server.core.mcp.methods import find_method
from sidecheck_server.core.mcp.sessions.exchange import Exchange, Lifecycle
from sidecheck_server.core.mcp.sessions.header_scan import (
    MAX_CAPABILITIES_BYTES,
    HeaderScan,
    scan_headers,
)
from sidecheck_server.core.mcp.sessions.listed_tools import ListedTools
from sidecheck_server.core.mcp.sessions.memory import (
    MemoryPool,
    Reporter,
    Request,
    SessionMemory,
    SessionMessage,
    SessionRule,
    key_of,
)
from sidecheck_server.core.mcp.sessions.progress import Progress
from sidecheck_server.core.mcp.sessions.references import Elicitations, Pages, Subscriptions
from sidecheck_server.core.mcp.sessions.retries import Retries
from sidecheck_server.core.mcp.sessions.tasks import Tasks
from sidecheck_server.core.mcp.subjects import CheckRequest, ProtocolMessage, ReportLimits

__all__ = ["Session"]

_STORED_REQUESTS = frozenset({"elicitation/create"})
"""Methods whose result is checked against the text of the request."""

_VALUE_BYTES = 16
"""Memory of a decoded value for each byte of its text: small properties take most."""

_STATELESS_SINCE = "2026-07-28"
"""First version whose requests carry the version and the client's capabilities."""


class Session:
    """The messages of one connection, in the order in which they were sent.

    For each message, call `check_request`, run the check, and call `record` with its
    outcome, or `record_gap` if the message could not be checked.

    *context* is what is known initially. Unless it is *pinned*, its version is replaced by
    the one that the peers agree on. Memory is bounded, and taken from *pool* if it is shared
    with other sessions until `close`; messages that were forgotten or missed
    never cause violations.
    """

    def __init__(
        self, context: Context, *, pinned: bool = False, pool: MemoryPool | None = None
    ) -> None:
        memory = self._memory = SessionMemory(pool)
        self._context = context
        self._pinned = pinned
        #: Whether a message was not recorded.
        self._gaps = False
        self._exchange = Exchange(memory)
        #: The capabilities weighed last, and their weight; most requests share them.
        self._weighed: tuple[dict[str, Any] | None, int] = (None, 0)
        self._rules: tuple[SessionRule, ...] = (
            self._exchange,
            Lifecycle(),
            Progress(memory),
            Pages(memory),
            Retries(memory),
            Subscriptions(memory),
            Elicitations(memory),
            ListedTools(memory),
            Tasks(memory, context),
        )

    def close(self) -> None:
        """Return the memory of the session to its pool."""
        self._memory.close()

    def check_request(
        self, message: ProtocolMessage, sender: Sender | None, limits: ReportLimits
    ) -> CheckRequest:
        """Return the request to check *message* of *sender* in the current context."""
        scan = scan_headers(message.json)
        context = replace(self._context, sender=sender)
        if not scan.is_response:
            return CheckRequest(message, self._request_context(scan, context), limits)
        for requester in Sender if sender is None else (sender.peer,):
            request = self._exchange.find_open(requester, key_of(scan.id))
            if request is not None:
                break
        else:
            return CheckRequest(message, context, limits)
        version = request.version
        if request.method == "initialize":
            version = self._usable_version(scan.version) or version
        context = replace(
            context,
            sender=requester.peer,
            version=version,
            client_capabilities=request.client_capabilities,
        )
        response = replace(message, request_method=request.method, request=request.text)
        return CheckRequest(response, context, limits)

    def record_gap(self) -> None:
        """Record that a message exists about which nothing is known.

        Its receiver may be able to read it, with other limits or another JSON decoder.
        """
        self._gaps = True

    def record(self, request: CheckRequest, outcome: CheckReport) -> None:
        """Record the messages of *outcome*, and add to it violations of session rules.

        They may include deferred checks, so those of *outcome* are resolved afterwards.
        """
        for _ in self.record_in_steps(request, outcome):
            pass

    def record_in_steps(self, request: CheckRequest, outcome: CheckReport) -> Iterator[None]:
        """Do what `record` does, and yield after each message of a batch."""
        subject = request.subject
        assert isinstance(subject, ProtocolMessage)
        version = request.context.version
        if not outcome.messages:
            self.record_gap()
        for message in outcome.messages:
            sender = _sender_of(message, request.context)
            if sender is None or message.kind is Kind.BROKEN:
                # A receiver may read a batch that this version does not have.
                if message.kind is Kind.REQUEST or isinstance(message.value, list):
                    self.record_gap()
                continue
            self._observe(message, sender, version, outcome)
            if message.kind is Kind.REQUEST:
                self._open(message, sender, request.context, subject.json)
            yield

    def _observe(
        self, message: Message, sender: Sender, version: str, outcome: CheckReport
    ) -> None:
        request = None
        if message.kind in {Kind.RESULT, Kind.ERROR}:
            request = self._exchange.close(sender.peer, key_of(message.id))
            if request is not None:
                message = replace(message, method=request.method)
        current = SessionMessage(message, sender, version, request)
        report = Reporter(outcome.findings, message.path, version, gaps=self._gaps)
        for rule in self._rules:
            rule.observe(current, report)
        self._update_context(current)

    def _request_context(self, scan: HeaderScan, context: Context) -> Context:
        """Return the context of a request or a notification."""
        version = self._usable_version(scan.version)
        if scan.method == "initialize":
            # Versions without a handshake do not have this request.
            legacy = "" if version >= _STATELESS_SINCE else version
            return replace(context, version=legacy or context.version)
        if not version:
            return context
        if scan.capabilities is not None or scan.capabilities_too_large:
            context = replace(context, client_capabilities=scan.capabilities)
        return replace(context, version=version)

    def _usable_version(self, version: str) -> str:
        """Return *version* if it is known and the version is not pinned, or ""."""
        return version if version in VERSIONS and not self._pinned else ""

    def _update_context(self, current: SessionMessage) -> None:
        """Store the version and the capabilities that the current message declares."""
        method = current.message.method
        context = self._context
        if current.message.kind is Kind.REQUEST and method == "initialize":
            declared = _capabilities_of(current.params)
            context = replace(context, client_capabilities=declared, version=current.version)
        elif current.message.kind is Kind.RESULT and method in {"initialize", "server/discover"}:
            declared = _capabilities_of(current.result)
            context = replace(context, server_capabilities=declared, version=current.version)
        elif current.version >= _STATELESS_SINCE and current.version != context.version:
            context = replace(context, version=current.version)
        self._context = context

    def _open(self, message: Message, sender: Sender, context: Context, text: bytes) -> None:
        """Store a request until its response is sent."""
        params = message.value.get("params") if isinstance(message.value, dict) else None
        params = params if isinstance(params, dict) else {}
        meta = _object(params.get("_meta")) or {}
        token = meta.get("progressToken")
        text = text if message.method in _STORED_REQUESTS and not message.path else b""
        request = Request(
            method=message.method[:128],
            version=context.version,
            client_capabilities=context.client_capabilities,
            text=text,
            token=None if token is None else key_of(token),
            as_task="task" in params,
            weight=len(text) + self._weight_of(context.client_capabilities),
        )
        self._exchange.open(sender, key_of(message.id), request)

    def _weight_of(self, capabilities: dict[str, Any] | None) -> int:
        """Return the memory that *capabilities* take, in bytes."""
        weighed, weight = self._weighed
        if capabilities is not weighed:
            weight = _VALUE_BYTES * len(msgspec.json.encode(capabilities))
            self._weighed = (capabilities, weight)
        return weight


def _sender_of(message: Message, context: Context) -> Sender | None:
    """Return the sender of *message*, if it is known or only one side may send it."""
    if context.sender is not None:
        return context.sender
    senders = [side for side in Sender if find_method(message.method, context.version, side)]
    if len(senders) != 1:
        return None
    # The method of a response is that of its request.
    is_response = message.kind in {Kind.RESULT, Kind.ERROR}
    return senders[0].peer if is_response else senders[0]


def _capabilities_of(properties: dict[str, Any]) -> dict[str, Any] | None:
    """Return the capabilities among *properties*, or None if they are too large to store."""
    declared = _object(properties.get("capabilities"))
    if declared is not None and len(msgspec.json.encode(declared)) > MAX_CAPABILITIES_BYTES:
        return None
    return declared


def _object(value: Any) -> dict[str, Any] | None:
    return value if isinstance(value, dict) else None
