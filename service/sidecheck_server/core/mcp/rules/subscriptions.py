"""Subscriptions."""

from sidecheck_server.core.mcp.context import FIRST_STATELESS, LAST_HANDSHAKE
from sidecheck_server.core.mcp.rules.rule import Clause, Rule, type_clause
from sidecheck_server.core.types import Severity

__all__ = [
    "RESOURCE_NOT_SUBSCRIBED",
    "RULES",
    "SUBSCRIPTION_ACKNOWLEDGED_UNASKED",
    "SUBSCRIPTION_NOT_ACKNOWLEDGED",
    "SUBSCRIPTION_NOT_ASKED",
    "SUBSCRIPTION_UNKNOWN",
]

_HANDSHAKE, _STATELESS = LAST_HANDSHAKE, FIRST_STATELESS
_PAGE = "basic/patterns/subscriptions"
_SUBJECT = ("JSONRPCMessage",)

SUBSCRIPTION_UNKNOWN = Rule(
    "SUBSCRIPTION_UNKNOWN",
    Severity.ERROR,
    Clause(_PAGE, "receiving-notifications"),
    "A message of a subscription MUST have the id of an open subscriptions/listen request.",
    _SUBJECT,
    since=_STATELESS,
    needs_whole_session=True,
)
SUBSCRIPTION_NOT_ASKED = Rule(
    "SUBSCRIPTION_NOT_ASKED",
    Severity.ERROR,
    Clause(_PAGE, "opening-a-stream"),
    "A server MUST NOT send notifications that a subscription does not include.",
    _SUBJECT,
    since=_STATELESS,
    needs_whole_session=True,
)
SUBSCRIPTION_NOT_ACKNOWLEDGED = Rule(
    "SUBSCRIPTION_NOT_ACKNOWLEDGED",
    Severity.ERROR,
    Clause(_PAGE, "acknowledgment"),
    "The first message of a subscription MUST be its acknowledgment.",
    _SUBJECT,
    since=_STATELESS,
    needs_whole_session=True,
)
SUBSCRIPTION_ACKNOWLEDGED_UNASKED = Rule(
    "SUBSCRIPTION_ACKNOWLEDGED_UNASKED",
    # "Reflects the subset": the text has no MUST for the acknowledgment itself.
    Severity.WARNING,
    Clause(_PAGE, "acknowledgment"),
    "An acknowledgment SHOULD have only notifications that the subscription includes.",
    _SUBJECT,
    since=_STATELESS,
    needs_whole_session=True,
)
RESOURCE_NOT_SUBSCRIBED = Rule(
    "RESOURCE_NOT_SUBSCRIBED",
    # The type "should only be sent if the client previously sent" a subscription.
    Severity.WARNING,
    type_clause("ResourceUpdatedNotification"),
    "A server SHOULD send updates only of resources that the client subscribed to, or of their"
    " sub-resources.",
    _SUBJECT,
    until=_HANDSHAKE,
    needs_whole_session=True,
)

RULES: tuple[Rule, ...] = (
    SUBSCRIPTION_UNKNOWN,
    SUBSCRIPTION_NOT_ASKED,
    SUBSCRIPTION_NOT_ACKNOWLEDGED,
    SUBSCRIPTION_ACKNOWLEDGED_UNASKED,
    RESOURCE_NOT_SUBSCRIBED,
)
