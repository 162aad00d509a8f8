"""One session: what is known of it before each message, and what each adds."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import msgspec

from sidecheck_server.core.mcp.check import Checked
from sidecheck_server.core.mcp.context import Context, Sender
from sidecheck_server.core.mcp.messages import Kind, Message
from sidecheck_server.core.mcp.methods import find_method
from sidecheck_server.core.mcp.sessions.elicitations import Elicitations
from sidecheck_server.core.mcp.sessions.exchange import Exchange
from sidecheck_server.core.mcp.sessions.header_scan import LARGEST_CAPABILITIES, HeaderScan, glance
from sidecheck_server.core.mcp.sessions.lifecycle import Lifecycle
from sidecheck_server.core.mcp.sessions.listed_tools import ListedTools
from sidecheck_server.core.mcp.sessions.memory import (
    Request,
    Seen,
    SessionRule,
    Tell,
    key_of,
    other,
)
from sidecheck_server.core.mcp.sessions.pages import Pages
from sidecheck_server.core.mcp.sessions.progress import Progress
from sidecheck_server.core.mcp.sessions.retries import Retries
from sidecheck_server.core.mcp.sessions.subscriptions import Subscriptions
from sidecheck_server.core.mcp.subjects import CheckRequest, ProtocolMessage, ReportLimits
from sidecheck_server.core.mcp.versions import VERSIONS

__all__ = ["Session"]

_NEEDED = frozenset({"elicitation/create"})
"""The methods whose result is judged by what the request asked for."""

_VALUE = 16
"""What a value weighs for each byte of its text, in bytes: small members weigh most."""

_STATELESS = "2026-07-28"
"""Since this version each request says the version and the client's capabilities itself."""


class Session:
    """The messages of two peers, in the order in which they were sent.

    For each message first `asked`, then `take`, with what checking it found, or `miss` if
    it could not be checked.

    *context* is what is known before; unless *pinned*, the version is the one that the
    peers agree on. Memory is bounded; what was forgotten or missed is never held against a
    message.
    """

    def __init__(self, context: Context, *, pinned: bool = False) -> None:
        self._context = context
        self._pinned = pinned
        #: Whether a message was missed.
        self._gaps = False
        self._exchange = Exchange()
        #: The capabilities that were weighed last, and their weight: most requests share them.
        self._weighed: tuple[dict[str, Any] | None, int] = (None, 0)
        self._watches: tuple[SessionRule, ...] = (
            self._exchange,
            Lifecycle(),
            Progress(),
            Pages(),
            Retries(),
            Subscriptions(),
            Elicitations(),
            ListedTools(),
        )

    def asked(
        self, message: ProtocolMessage, sender: Sender | None, how: ReportLimits
    ) -> CheckRequest:
        """Return how to check *message* of *sender*, by what is known now."""
        look = glance(message.json)
        context = replace(self._context, sender=sender)
        if not look.answers:
            return CheckRequest(message, self._of_request(look, context), how)
        for asker in Sender if sender is None else (other(sender),):
            request = self._exchange.open(asker, key_of(look.id))
            if request is not None:
                break
        else:
            return CheckRequest(message, context, how)
        version = request.version
        if request.method == "initialize":
            version = self._agreed(look.version) or version
        context = replace(
            context,
            sender=other(asker),
            version=version,
            client_capabilities=request.client_capabilities,
        )
        answered = replace(message, answers=request.method, request=request.text)
        return CheckRequest(answered, context, how)

    def miss(self) -> None:
        """Note that there was a message of which nothing is known.

        Its receiver may have read it, if it keeps other limits or another kind of JSON.
        """
        self._gaps = True

    def take(self, asked: CheckRequest, checked: Checked) -> None:
        """Add to *checked*, what was found by *asked*, what breaks the rules of sessions.

        Questions may be among that, so they are answered after this.
        """
        for _ in self.taking(asked, checked):
            pass

    def taking(self, asked: CheckRequest, checked: Checked) -> Iterator[None]:
        """Do what `take` does, and yield after each message: a batch may have thousands."""
        subject = asked.subject
        assert isinstance(subject, ProtocolMessage)
        version = asked.context.version
        if not checked.messages:
            self.miss()
        for message in checked.messages:
            sender = _sender(message, asked.context)
            if sender is None or message.kind is Kind.BROKEN:
                # Of an array that is no batch in this version, a receiver may still take each.
                if message.kind is Kind.REQUEST or isinstance(message.value, list):
                    self.miss()
                continue
            self._see(message, sender, version, checked)
            if message.kind is Kind.REQUEST:
                self._remember(message, sender, asked.context, subject.json)
            yield

    def _see(self, message: Message, sender: Sender, version: str, checked: Checked) -> None:
        answered = None
        if message.kind in {Kind.RESULT, Kind.ERROR}:
            answered = self._exchange.closed(other(sender), key_of(message.id))
            if answered is not None:
                message = replace(message, method=answered.method)
        seen = Seen(message, sender, version, answered)
        tell = Tell(checked.findings, message.path, version, gaps=self._gaps)
        for watch in self._watches:
            watch.see(seen, tell)
        self._learn(seen)

    def _of_request(self, look: HeaderScan, context: Context) -> Context:
        """Return the context of a request or a notification."""
        version = self._agreed(look.version)
        if look.method == "initialize":
            # It cannot be one of a version without a handshake.
            legacy = "" if version >= _STATELESS else version
            return replace(context, version=legacy or context.version)
        if not version:
            return context
        if look.capabilities is not None or look.hides_capabilities:
            context = replace(context, client_capabilities=look.capabilities)
        return replace(context, version=version)

    def _agreed(self, version: str) -> str:
        """Return *version* if it is known and may decide, or ""."""
        return version if version in VERSIONS and not self._pinned else ""

    def _learn(self, seen: Seen) -> None:
        """Learn what the peers declare."""
        method = seen.message.method
        context = self._context
        if seen.message.kind is Kind.REQUEST and method == "initialize":
            declared = _declared(seen.params)
            context = replace(context, client_capabilities=declared, version=seen.version)
        elif seen.message.kind is Kind.RESULT and method in {"initialize", "server/discover"}:
            declared = _declared(seen.result)
            context = replace(context, server_capabilities=declared, version=seen.version)
        elif seen.version >= _STATELESS and seen.version != context.version:
            context = replace(context, version=seen.version)
        self._context = context

    def _remember(self, message: Message, sender: Sender, context: Context, text: bytes) -> None:
        params = message.value.get("params") if isinstance(message.value, dict) else None
        params = params if isinstance(params, dict) else {}
        meta = _object(params.get("_meta")) or {}
        token = meta.get("progressToken")
        text = text if message.method in _NEEDED and not message.path else b""
        request = Request(
            method=message.method[:128],
            version=context.version,
            client_capabilities=context.client_capabilities,
            text=text,
            token=None if token is None else key_of(token),
            as_task="task" in params,
            weight=len(text) + self._weight_of(context.client_capabilities),
        )
        self._exchange.opened(sender, key_of(message.id), request)

    def _weight_of(self, capabilities: dict[str, Any] | None) -> int:
        """Return what *capabilities* weigh, in bytes."""
        known, weight = self._weighed
        if capabilities is not known:
            weight = _VALUE * len(msgspec.json.encode(capabilities))
            self._weighed = (capabilities, weight)
        return weight


def _sender(message: Message, context: Context) -> Sender | None:
    """Return who sent *message*, if that is known or only one may have."""
    if context.sender is not None:
        return context.sender
    senders = [each for each in Sender if find_method(message.method, context.version, each)]
    if len(senders) != 1:
        return None
    # The method of a response is that of the request that it answers.
    answers = message.kind in {Kind.RESULT, Kind.ERROR}
    return other(senders[0]) if answers else senders[0]


def _declared(members: dict[str, Any]) -> dict[str, Any] | None:
    """Return the capabilities among *members*, or None if they are too large to be kept."""
    declared = _object(members.get("capabilities"))
    if declared is not None and len(msgspec.json.encode(declared)) > LARGEST_CAPABILITIES:
        return None
    return declared


def _object(value: Any) -> dict[str, Any] | None:
    return value if isinstance(value, dict) else None
