"""Rulings: the decision on a message, and the text to forward or to reply."""

from dataclasses import dataclass

from sidecheck_server.config.policies import Policy
from sidecheck_server.proxy.checks import Checks, NotCheckedError
from sidecheck_server.proxy.messages import (
    INTERNAL_ERROR,
    Message,
    error_response,
    join_object,
    read_object,
)

__all__ = ["Ruling", "passes_unvalidated", "reject", "unvalidated_reason", "with_id"]


@dataclass(frozen=True, slots=True)
class Ruling:
    """Decision on a message."""

    #: Text for the receiver: the message or its replacement; None to send nothing.
    forward: bytes | None = None
    #: Response to the sender; None to send nothing.
    reply: bytes | None = None


def passes_unvalidated(checks: Checks, error: NotCheckedError, policy: Policy) -> bool:
    """Return whether a message passes although *error* prevented its validation."""
    return policy is not Policy.ENFORCE or (error.is_unavailable and checks.passes_unavailable)


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
