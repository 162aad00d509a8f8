"""Subscriptions."""

from sidecheck_server.core.mcp.context import FIRST_STATELESS, LAST_HANDSHAKE
from sidecheck_server.core.mcp.rules.rule import Clause, Group, RuleSet, type_clause
from sidecheck_server.core.types import Severity

__all__ = [
    "RESOURCE_NOT_SUBSCRIBED",
    "SUBSCRIPTION_ACKNOWLEDGED_UNASKED",
    "SUBSCRIPTION_NOT_ACKNOWLEDGED",
    "SUBSCRIPTION_NOT_ASKED",
    "SUBSCRIPTION_UNKNOWN",
]

_HANDSHAKE, _STATELESS = LAST_HANDSHAKE, FIRST_STATELESS
_PAGE = "basic/patterns/subscriptions"

_SUBSCRIPTION_RULES = RuleSet(Group.SUBSCRIPTIONS, needs_whole_session=True)

SUBSCRIPTION_UNKNOWN = _SUBSCRIPTION_RULES.declare(
    "SUBSCRIPTION_UNKNOWN",
    Severity.ERROR,
    Clause(_PAGE, "receiving-notifications"),
    "A message of a subscription MUST have the id of an open subscriptions/listen request.",
    since=_STATELESS,
)
SUBSCRIPTION_NOT_ASKED = _SUBSCRIPTION_RULES.declare(
    "SUBSCRIPTION_NOT_ASKED",
    Severity.ERROR,
    Clause(_PAGE, "opening-a-stream"),
    "A server MUST NOT send notifications that a subscription does not include.",
    since=_STATELESS,
)
SUBSCRIPTION_NOT_ACKNOWLEDGED = _SUBSCRIPTION_RULES.declare(
    "SUBSCRIPTION_NOT_ACKNOWLEDGED",
    Severity.ERROR,
    Clause(_PAGE, "acknowledgment"),
    "The first message of a subscription MUST be its acknowledgment.",
    since=_STATELESS,
)
SUBSCRIPTION_ACKNOWLEDGED_UNASKED = _SUBSCRIPTION_RULES.declare(
    "SUBSCRIPTION_ACKNOWLEDGED_UNASKED",
    # "Reflects the subset": the text has no MUST for the acknowledgment itself.
    Severity.WARNING,
    Clause(_PAGE, "acknowledgment"),
    "An acknowledgment SHOULD have only notifications that the subscription includes.",
    since=_STATELESS,
)
RESOURCE_NOT_SUBSCRIBED = _SUBSCRIPTION_RULES.declare(
    "RESOURCE_NOT_SUBSCRIBED",
    # The type "should only be sent if the client previously sent" a subscription.
    Severity.WARNING,
    type_clause("ResourceUpdatedNotification"),
    "A server SHOULD send updates only of resources that the client subscribed to, or of their"
    " sub-resources.",
    until=_HANDSHAKE,
)
