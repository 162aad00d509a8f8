"""Rulings on responses that do not have the id of an open request."""

from collections.abc import Mapping
from dataclasses import replace

from sidecheck_server.config.policies import Policies, Policy
from sidecheck_server.core.types import Severity
from sidecheck_server.proxy.messages import (
    Direction,
    Message,
    RequestId,
    error_response,
    request_id,
)
from sidecheck_server.proxy.report import Action, Finding, Findings, finding_of
from sidecheck_server.proxy.rulings.message_checks import CheckOutcome, MessageRulings
from sidecheck_server.proxy.rulings.pending import PendingRequests, Request
from sidecheck_server.proxy.rulings.ruling import Ruling

__all__ = ["UnmatchedResponses"]

_CODE = "RESPONSE_WITHOUT_REQUEST"

_MAX_CHARACTERS = 100
"""Maximum length of an id in a text."""

_KINDS = {str: "a string", float: "a number"}


class UnmatchedResponses:
    """Decides on responses without a pending request, by *policies*.

    *pending* are the pending requests of each side, *messages* the rulings on messages.
    """

    def __init__(
        self,
        policies: Policies,
        report: Findings,
        messages: MessageRulings,
        pending: Mapping[Direction, PendingRequests],
    ) -> None:
        self._policies = policies
        self._report = report
        self._messages = messages
        self._pending = pending
        #: Id of the request that the current text of the server answers, if the transport tells;
        #: null if it answers none.
        self.awaited: RequestId | None = None

    def rule(
        self,
        message: Message,
        sender: Direction,
        outcome: CheckOutcome,
        *,
        may_be_earlier: bool,
    ) -> Ruling:
        """Return the ruling on a response without a pending request.

        With *may_be_earlier*, its request may be from before the session was joined.
        """
        passes = self._messages.report_and_decide(outcome, sender)
        if not passes or not self._policies.enforces_any:
            return Ruling(message.text if passes else None)
        # Errors for unreadable messages have no id. But a result without its request cannot be
        # validated.
        if may_be_earlier or message.id == request_id(b"null"):
            return Ruling(message.text)
        is_allowed = _CODE in outcome.exempt
        action = Action.ALLOWED if is_allowed else Action.REJECTED
        self._report.add(Finding(sender=sender, code=_CODE, location="/id", action=action))
        return Ruling(message.text if is_allowed else None)

    def reject_similar(
        self, message: Message, request: Request, sender: Direction, outcome: CheckOutcome
    ) -> bytes | None:
        """Report *message*, a response to *request* but for the type of its id.

        Return the error for the receiver, None if the message passes.
        """
        policy = self._policies.messages
        if policy is Policy.OFF:
            return None
        exempt = self._policies.allow.find(request.method, request.tool)
        rejects = policy is Policy.ENFORCE and _CODE not in exempt
        text = _describe_difference(message, request, sender)
        finding = Finding(
            sender=sender,
            method=request.method,
            tool=request.tool,
            code=_CODE,
            location="/id",
            message=text,
            note=_describe_kinds(message, request, sender),
        )
        rejection = Action.REJECTED if rejects else None
        action = Action.ALLOWED if policy is Policy.ENFORCE else Action.PASSED
        self._report.add(replace(finding, action=rejection or action))
        if not rejects:
            return None
        for violation in outcome.exclude("/id").violations:
            found = finding_of(violation, sender, request.method, request.tool, Action.REJECTED, "")
            self._report.add(found)
        return error_response(request.id_text, f"{text} ({_CODE} at /id)")

    def rule_error_without_id(self, message: Message, outcome: CheckOutcome) -> Ruling | None:
        """Return the ruling on an error of the server that may be for the only open request.

        None if other requests are open too, or the policy lets the error pass as it is.
        """
        request = self._find_only()
        if request is None or self._policies.messages is not Policy.ENFORCE:
            return None
        method, tool = request.method, request.tool
        outcome = outcome.with_exemptions(self._policies.allow.find(method, tool))
        if self._messages.rejects(outcome):
            return None
        self._messages.report_and_decide(outcome, "server", method, tool)
        self._report.add(
            Finding(
                sender="server",
                method=method,
                tool=tool,
                code="ERROR_WITHOUT_ID",
                severity=Severity.WARNING,
                location="/id",
                action=Action.REPAIRED,
                note="an error without an id is passed on as the response to the only open request",
            )
        )
        self._pending["client"].remove(request)
        return Ruling(message.with_property("id", request.id_text))

    def fail_only_request(self, message: Message | None) -> bytes | None:
        """Return an error for the only open request, None if there are none or several.

        *message* of the server was rejected; None for text that is not a message.
        """
        pending = self._pending["client"]
        request = self._find_only()
        # A second response to an earlier request says nothing about this one.
        if request is None or (message is not None and pending.was_answered(message.id)):
            return None
        # Nor do lines that a server writes at its start, unless the transport assigns them.
        if request.method == "initialize" and self.awaited is None:
            return None
        pending.remove(request)
        if message is not None and message.has_valid_id:
            # Further responses under this id say nothing about later requests.
            pending.note_answered(message.id)
        return error_response(request.id_text, _describe_unmatched(message, request))

    def _find_only(self) -> Request | None:
        """Return the request that a response of the server without its id is for, or None."""
        pending = self._pending["client"]
        return pending.find_only() if self.awaited is None else pending.find(self.awaited)


def _describe_difference(response: Message, request: Request, sender: Direction) -> str:
    """Return how the id of *response*, by *sender*, differs from that of *request*."""
    actual, expected = response.properties.get("id", b"null"), request.id_text
    return (
        f"the {sender} answered with id {_describe(actual)};"
        f" the request has the id {_describe(expected)}"
    )


def _describe_kinds(response: Message, request: Request, sender: Direction) -> str:
    """Return the types of both ids, without their values."""
    actual, expected = (_KINDS.get(id_[0], "neither") for id_ in (response.id, request.id))
    return f"the {sender} answered with an id that is {actual}; that of the request is {expected}"


def _describe_unmatched(message: Message | None, request: Request) -> str:
    """Return why *message* of the server is no response to *request*, the only open one."""
    if message is None:
        return "the server answered with text that is not a JSON-RPC message"
    if not message.is_json_rpc:
        return 'the server answered without "jsonrpc": "2.0"'
    if "id" not in message.properties:
        return f"the server answered without an id; the request has the id {_shorten(request)}"
    return _describe_difference(message, request, "server")


def _describe(id_text: bytes) -> str:
    kind = _KINDS.get(request_id(id_text)[0])
    text = _shorten_text(id_text)
    return text if kind is None else f"{text}, {kind}"


def _shorten(request: Request) -> str:
    return _shorten_text(request.id_text)


def _shorten_text(id_text: bytes) -> str:
    text = id_text.decode("utf-8", "replace")
    return text if len(text) <= _MAX_CHARACTERS else f"{text[:_MAX_CHARACTERS]}…"
