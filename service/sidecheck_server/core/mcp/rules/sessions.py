"""What must hold between the messages of a session.

The memory that these rules need is in `core.mcp.sessions`, which finds what breaks them.
"""

from typing import Any

from sidecheck_server.core.mcp.rules.rule import Clause, Rule
from sidecheck_server.core.types import Severity

__all__ = [
    "CANCELLED_BY_SERVER",
    "CANCELLED_INITIALIZE",
    "CANCELLED_UNKNOWN",
    "CURSOR_UNKNOWN",
    "ELICITATION_ID_UNKNOWN",
    "INITIALIZED_EARLY",
    "INITIALIZED_MISSING",
    "INITIALIZE_NOT_FIRST",
    "NEED_EVERY_MESSAGE",
    "PAGE_CACHE_SCOPE",
    "PROGRESS_NOT_RISING",
    "PROGRESS_TOKEN_IN_USE",
    "PROGRESS_TOKEN_UNKNOWN",
    "REQUEST_ID_IN_USE",
    "REQUEST_ID_REUSED",
    "REQUEST_TOO_EARLY",
    "RESPONSE_WITHOUT_REQUEST",
    "RETRY_INPUT_MISSING",
    "RETRY_INPUT_OTHER",
    "RETRY_STATE_CHANGED",
    "RETRY_UNASKED",
    "RULES",
    "SUBSCRIPTION_NOT_ACKNOWLEDGED",
    "SUBSCRIPTION_NOT_ASKED",
    "SUBSCRIPTION_UNKNOWN",
]

_FIRST, _HANDSHAKE, _STATELESS = "2024-11-05", "2025-11-25", "2026-07-28"
_SUBJECT = ("JSONRPCMessage",)


def _must(code: str, clause: Clause, sentence: str, **span: Any) -> Rule:
    return Rule(code, Severity.ERROR, clause, sentence, _SUBJECT, **span)


def _pattern(name: str, anchor: str) -> Clause:
    """Return a clause of a page that stood below the utilities as long as there were sessions."""
    before = (_HANDSHAKE, f"basic/utilities/{name}", anchor)
    return Clause(f"basic/patterns/{name}", anchor, before=(before,))


def _messages(anchor: str) -> Clause:
    return Clause("basic", anchor, before=((_FIRST, "basic/messages", anchor),))


_REQUESTS = _messages("requests")
_LIFECYCLE = Clause("basic/lifecycle", "initialization")
_RETRIES = Clause("basic/patterns/mrtr", "client-requirements-basic-workflow")
_CANCELLATION = _pattern("cancellation", "behavior-requirements")
_SUBSCRIPTIONS = "basic/patterns/subscriptions"

REQUEST_ID_REUSED = _must(
    "REQUEST_ID_REUSED",
    _REQUESTS,
    "A sender uses each request id once in a session.",
    until=_HANDSHAKE,
)
REQUEST_ID_IN_USE = _must(
    "REQUEST_ID_IN_USE",
    _REQUESTS,
    "A request does not have the id of another request of its sender that has no response yet.",
    since=_STATELESS,
)
RESPONSE_WITHOUT_REQUEST = _must(
    "RESPONSE_WITHOUT_REQUEST",
    _messages("responses"),
    "A response has the id of a request of the other side that was not answered before.",
)
INITIALIZE_NOT_FIRST = _must(
    "INITIALIZE_NOT_FIRST",
    _LIFECYCLE,
    "A session begins with initialize, which is sent once.",
    until=_HANDSHAKE,
)
INITIALIZED_EARLY = _must(
    "INITIALIZED_EARLY",
    _LIFECYCLE,
    "The client sends notifications/initialized after the answer to initialize.",
    until=_HANDSHAKE,
)
INITIALIZED_MISSING = _must(
    "INITIALIZED_MISSING",
    _LIFECYCLE,
    "The client sends notifications/initialized before it begins normal operations.",
    until=_HANDSHAKE,
)
REQUEST_TOO_EARLY = Rule(
    "REQUEST_TOO_EARLY",
    Severity.WARNING,
    _LIFECYCLE,
    "Until the session is initialized, its sides send no requests but pings.",
    _SUBJECT,
    until=_HANDSHAKE,
)
PROGRESS_TOKEN_IN_USE = _must(
    "PROGRESS_TOKEN_IN_USE",
    _pattern("progress", "progress-flow"),
    "A progress token is unique among the requests that have no response yet.",
)
PROGRESS_TOKEN_UNKNOWN = _must(
    "PROGRESS_TOKEN_UNKNOWN",
    _pattern("progress", "behavior-requirements"),
    "Progress is told only under the token of a request that has no response yet.",
)
PROGRESS_NOT_RISING = _must(
    "PROGRESS_NOT_RISING",
    _pattern("progress", "progress-flow"),
    "The progress of a request rises with each notification.",
)
CANCELLED_UNKNOWN = _must(
    "CANCELLED_UNKNOWN",
    _CANCELLATION,
    "Only requests that the same side sent are cancelled.",
)
CANCELLED_INITIALIZE = _must(
    "CANCELLED_INITIALIZE",
    _CANCELLATION,
    "The client does not cancel initialize.",
    until=_HANDSHAKE,
)
CANCELLED_BY_SERVER = _must(
    "CANCELLED_BY_SERVER",
    _CANCELLATION,
    "The server cancels nothing but a subscriptions/listen request of the client.",
    since=_STATELESS,
)
CURSOR_UNKNOWN = _must(
    "CURSOR_UNKNOWN",
    Clause("server/utilities/pagination", "implementation-guidelines"),
    "A cursor is one that the server gave in this session, unchanged.",
)
PAGE_CACHE_SCOPE = _must(
    "PAGE_CACHE_SCOPE",
    Clause("server/utilities/caching", "interaction-with-pagination"),
    "All pages of a list have the same cacheScope.",
    since=_STATELESS,
)
RETRY_UNASKED = _must(
    "RETRY_UNASKED",
    _RETRIES,
    "A request brings inputResponses or a requestState only if a result for the same asked for it.",
    since=_STATELESS,
)
RETRY_STATE_CHANGED = _must(
    "RETRY_STATE_CHANGED",
    _RETRIES,
    "A retry repeats the requestState of the result, and has none if the result had none.",
    since=_STATELESS,
)
RETRY_INPUT_MISSING = _must(
    "RETRY_INPUT_MISSING",
    _RETRIES,
    "A retry brings a response for each of the inputRequests.",
    since=_STATELESS,
)
RETRY_INPUT_OTHER = _must(
    "RETRY_INPUT_OTHER",
    Clause("basic/patterns/mrtr", "inputresponses"),
    "Each of the inputResponses is a result of the method that was asked for under its key.",
    since=_STATELESS,
)
SUBSCRIPTION_UNKNOWN = _must(
    "SUBSCRIPTION_UNKNOWN",
    Clause(_SUBSCRIPTIONS, "receiving-notifications"),
    "A notification of a subscription carries the id of an open subscriptions/listen request.",
    since=_STATELESS,
)
SUBSCRIPTION_NOT_ASKED = _must(
    "SUBSCRIPTION_NOT_ASKED",
    Clause(_SUBSCRIPTIONS, "opening-a-stream"),
    "A subscription brings only notifications that the client asked for.",
    since=_STATELESS,
)
SUBSCRIPTION_NOT_ACKNOWLEDGED = _must(
    "SUBSCRIPTION_NOT_ACKNOWLEDGED",
    Clause(_SUBSCRIPTIONS, "acknowledgment"),
    "The first notification of a subscription is its acknowledgment.",
    since=_STATELESS,
)
ELICITATION_ID_UNKNOWN = _must(
    "ELICITATION_ID_UNKNOWN",
    Clause("client/elicitation", "completion-notifications-for-url-mode-elicitation"),
    "An elicitation is told to be complete under the elicitationId that it began with.",
    since=_HANDSHAKE,
    until=_HANDSHAKE,
)

RULES: tuple[Rule, ...] = (
    REQUEST_ID_REUSED,
    REQUEST_ID_IN_USE,
    RESPONSE_WITHOUT_REQUEST,
    INITIALIZE_NOT_FIRST,
    INITIALIZED_EARLY,
    INITIALIZED_MISSING,
    REQUEST_TOO_EARLY,
    PROGRESS_TOKEN_IN_USE,
    PROGRESS_TOKEN_UNKNOWN,
    PROGRESS_NOT_RISING,
    CANCELLED_UNKNOWN,
    CANCELLED_INITIALIZE,
    CANCELLED_BY_SERVER,
    CURSOR_UNKNOWN,
    PAGE_CACHE_SCOPE,
    RETRY_UNASKED,
    RETRY_STATE_CHANGED,
    RETRY_INPUT_MISSING,
    RETRY_INPUT_OTHER,
    SUBSCRIPTION_UNKNOWN,
    SUBSCRIPTION_NOT_ASKED,
    SUBSCRIPTION_NOT_ACKNOWLEDGED,
    ELICITATION_ID_UNKNOWN,
)

NEED_EVERY_MESSAGE = frozenset(RULES) - {REQUEST_ID_REUSED, PROGRESS_NOT_RISING, PAGE_CACHE_SCOPE}
"""Rules that a session keeps which looks as if it broke them where a message is left out.

The others are broken by two messages, whatever stood between them.
"""
