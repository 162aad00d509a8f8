"""Rulings: the decision on a message, and the text to forward or to reply."""

from collections.abc import Iterable
from dataclasses import dataclass

from sidecheck_server.config.exemptions import ExemptCodes
from sidecheck_server.config.policies import Policy
from sidecheck_server.core.types import Severity, Violation
from sidecheck_server.proxy.checks import Checks, NotCheckedError
from sidecheck_server.proxy.messages import (
    INTERNAL_ERROR,
    Message,
    error_response,
    join_object,
    read_object,
)
from sidecheck_server.proxy.report import Action

__all__ = [
    "Ruling",
    "action_on",
    "decide_unvalidated",
    "find_fault",
    "reject",
    "unvalidated_reason",
    "with_id",
]


@dataclass(frozen=True, slots=True)
class Ruling:
    """Decision on a message."""

    #: Text for the receiver: the message or its replacement; None to send nothing.
    forward: bytes | None = None
    #: Response to the sender; None to send nothing.
    reply: bytes | None = None
    #: Further messages for the receiver, each on its own.
    others: tuple[bytes, ...] = ()
    #: Response in place of *reply* where it is not itself a message of a stream, as over HTTP;
    #: None if it is the same. On a stream, two programs that log what they receive would answer
    #: each other without end.
    exchange_reply: bytes | None = None


def find_fault(
    violations: Iterable[Violation], exempt: ExemptCodes, *, is_truncated: bool = False
) -> Violation | None:
    """Return the first of *violations* that makes a subject invalid and is not *exempt*.

    With *is_truncated*, the limit cut off *violations*, which has the errors first, so that
    further errors are unknown.
    """
    has_errors = False
    for violation in violations:
        if violation.severity is Severity.ERROR:
            if violation.code not in exempt:
                return violation
            has_errors = True
    if has_errors and is_truncated and not exempt.covers_all:
        return Violation("", "", "", "LIMIT_EXCEEDED", "")
    return None


def action_on(violation: Violation, policy: Policy, rejection: Action | None) -> Action:
    """Return the action of a finding: *rejection*, if not None, or how the subject passes."""
    if rejection is not None:
        return rejection
    is_exempt = policy is Policy.ENFORCE and violation.severity is Severity.ERROR
    return Action.ALLOWED if is_exempt else Action.PASSED


def decide_unvalidated(
    checks: Checks, error: NotCheckedError, policy: Policy, exempt: ExemptCodes
) -> Action:
    """Return the action on a message whose validation *error* prevented."""
    if policy is not Policy.ENFORCE or (error.is_unavailable and checks.passes_unavailable):
        return Action.PASSED
    return Action.ALLOWED if error.reason in exempt else Action.REJECTED


def unvalidated_reason(error: NotCheckedError) -> str:
    """Return the text for the peer whose message was not validated because of *error*."""
    reason = f"not validated by Sidecheck: {error.reason}"
    return f"{reason}; try again later" if error.is_unavailable else reason


def reject(message: Message, error: bytes | str, code: int = INTERNAL_ERROR) -> Ruling:
    """Return the ruling on a rejected *message*.

    The sender of a request, or the receiver of a response, gets *error* as a response: the JSON
    text of an error object, or the message of an error with *code*. A notification is dropped.
    """
    if not (message.is_request or message.is_response):
        return Ruling()
    response = error_response(message.properties["id"], error, code)
    return Ruling(reply=response) if message.is_request else Ruling(forward=response)


def with_id(response: bytes, request: Message) -> bytes:
    """Return *response* with the id of *request*, unless it has an id."""
    properties = read_object(response) or {}
    if "id" in properties or not request.has_valid_id:
        return response
    return join_object({**properties, "id": request.properties["id"]})
