"""Rules on relations between messages; `core.mcp.sessions` finds the faults.

Some faults of a request oblige its receiver to respond with an error. No rule checks the code
of that error, since the request may have other faults too.
"""

from collections.abc import Iterator
from typing import Any

from sidecheck_server.core.mcp.context import FIRST_STATELESS, LAST_HANDSHAKE, VERSIONS, Context
from sidecheck_server.core.mcp.rules.capabilities import is_declared
from sidecheck_server.core.mcp.rules.rule import Clause, Fault, Group, RuleSet
from sidecheck_server.core.types import Severity

__all__ = [
    "CANCELLED_BY_SERVER",
    "CANCELLED_INITIALIZE",
    "CANCELLED_UNKNOWN",
    "COMPLETION_ACCEPTED",
    "CURSOR_UNKNOWN",
    "CURSOR_UNSEEN",
    "ELICITATION_ID_UNKNOWN",
    "ELICITATION_MODE_ACCEPTED",
    "INITIALIZED_EARLY",
    "INITIALIZED_MISSING",
    "INITIALIZE_NOT_FIRST",
    "LOG_LEVEL_ACCEPTED",
    "PAGE_CACHE_SCOPE",
    "PING_UNKNOWN",
    "PROGRESS_NOT_RISING",
    "PROGRESS_TOKEN_IN_USE",
    "PROGRESS_TOKEN_UNKNOWN",
    "REQUEST_ID_IN_USE",
    "REQUEST_ID_REUSED",
    "REQUEST_TOO_EARLY",
    "RESPONSE_WITHOUT_REQUEST",
    "RETRY_ARGUMENTS_CHANGED",
    "RETRY_ID_REUSED",
    "RETRY_INPUT_MISSING",
    "RETRY_INPUT_OTHER",
    "RETRY_STATE_CHANGED",
    "RETRY_UNASKED",
    "SAMPLING_HISTORY_ACCEPTED",
]

_FIRST, _HANDSHAKE, _STATELESS = VERSIONS[0], LAST_HANDSHAKE, FIRST_STATELESS


def _pattern_clause(name: str, anchor: str) -> Clause:
    """Return a clause on a page that belongs to the utilities until 2025-11-25."""
    before = (_HANDSHAKE, f"basic/utilities/{name}", anchor)
    return Clause(f"basic/patterns/{name}", anchor, before=(before,))


def _messages_clause(anchor: str) -> Clause:
    return Clause("basic", anchor, before=((_FIRST, "basic/messages", anchor),))


_REQUESTS = _messages_clause("requests")
_LIFECYCLE = Clause("basic/lifecycle", "initialization")
_RETRIES = Clause("basic/patterns/mrtr", "client-requirements-basic-workflow")
_CANCELLATION = _pattern_clause("cancellation", "behavior-requirements")

_SESSION_RULES = RuleSet(Group.SESSIONS, needs_whole_session=True)

REQUEST_ID_REUSED = _SESSION_RULES.declare(
    "REQUEST_ID_REUSED",
    Severity.ERROR,
    _REQUESTS,
    "A sender MUST NOT use a request id twice in a session.",
    until=_HANDSHAKE,
    needs_whole_session=False,
)
REQUEST_ID_IN_USE = _SESSION_RULES.declare(
    "REQUEST_ID_IN_USE",
    Severity.ERROR,
    _REQUESTS,
    "A request MUST NOT have the id of another open request of its sender.",
    since=_STATELESS,
)
RESPONSE_WITHOUT_REQUEST = _SESSION_RULES.declare(
    "RESPONSE_WITHOUT_REQUEST",
    Severity.ERROR,
    _messages_clause("responses"),
    "A response MUST have the id of an open request of the other side.",
)
INITIALIZE_NOT_FIRST = _SESSION_RULES.declare(
    "INITIALIZE_NOT_FIRST",
    Severity.ERROR,
    _LIFECYCLE,
    "A session MUST begin with initialize, which is sent once.",
    until=_HANDSHAKE,
)
INITIALIZED_EARLY = _SESSION_RULES.declare(
    "INITIALIZED_EARLY",
    Severity.ERROR,
    _LIFECYCLE,
    "The client MUST send notifications/initialized after the response to initialize.",
    until=_HANDSHAKE,
)
INITIALIZED_MISSING = _SESSION_RULES.declare(
    "INITIALIZED_MISSING",
    Severity.ERROR,
    _LIFECYCLE,
    "The client MUST send notifications/initialized before normal operations.",
    until=_HANDSHAKE,
)
REQUEST_TOO_EARLY = _SESSION_RULES.declare(
    "REQUEST_TOO_EARLY",
    Severity.WARNING,
    _LIFECYCLE,
    "Until the session is initialized, its sides SHOULD send no requests other than pings.",
    until=_HANDSHAKE,
)
PING_UNKNOWN = _SESSION_RULES.declare(
    "PING_UNKNOWN",
    Severity.ERROR,
    Clause("basic/utilities/ping", "behavior-requirements"),
    "After the handshake, both sides MUST respond to ping.",
    until=_HANDSHAKE,
    needs_whole_session=False,
)
PROGRESS_TOKEN_IN_USE = _SESSION_RULES.declare(
    "PROGRESS_TOKEN_IN_USE",
    Severity.ERROR,
    _pattern_clause("progress", "progress-flow"),
    "A progress token MUST be unique among open requests.",
)
PROGRESS_TOKEN_UNKNOWN = _SESSION_RULES.declare(
    "PROGRESS_TOKEN_UNKNOWN",
    Severity.ERROR,
    _pattern_clause("progress", "behavior-requirements"),
    "Progress notifications MUST have the token of an open request.",
)
PROGRESS_NOT_RISING = _SESSION_RULES.declare(
    "PROGRESS_NOT_RISING",
    Severity.ERROR,
    _pattern_clause("progress", "progress-flow"),
    "The progress of a request MUST increase with each notification.",
    needs_whole_session=False,
)
CANCELLED_UNKNOWN = _SESSION_RULES.declare(
    "CANCELLED_UNKNOWN",
    Severity.ERROR,
    _CANCELLATION,
    "A side MUST cancel only requests that it sent.",
)
CANCELLED_INITIALIZE = _SESSION_RULES.declare(
    "CANCELLED_INITIALIZE",
    Severity.ERROR,
    _CANCELLATION,
    "The client MUST NOT cancel initialize.",
    until=_HANDSHAKE,
)
CANCELLED_BY_SERVER = _SESSION_RULES.declare(
    "CANCELLED_BY_SERVER",
    Severity.ERROR,
    _CANCELLATION,
    "The server MUST NOT cancel anything but a subscriptions/listen request.",
    since=_STATELESS,
)
CURSOR_UNKNOWN = _SESSION_RULES.declare(
    "CURSOR_UNKNOWN",
    Severity.ERROR,
    Clause("server/utilities/pagination", "implementation-guidelines"),
    "A cursor MUST be one that the server issued in this session, unchanged.",
    until=_HANDSHAKE,
)
CURSOR_UNSEEN = _SESSION_RULES.declare(
    "CURSOR_UNSEEN",
    Severity.WARNING,
    Clause("server/utilities/pagination", "implementation-guidelines"),
    "A cursor SHOULD be one of an earlier result: clients must not modify cursors. Without"
    " sessions it may come from another connection, so this is not an error.",
    since=_STATELESS,
)
PAGE_CACHE_SCOPE = _SESSION_RULES.declare(
    "PAGE_CACHE_SCOPE",
    Severity.ERROR,
    Clause("server/utilities/caching", "interaction-with-pagination"),
    "All pages of a list MUST have the same cacheScope.",
    since=_STATELESS,
    needs_whole_session=False,
)
RETRY_UNASKED = _SESSION_RULES.declare(
    "RETRY_UNASKED",
    Severity.WARNING,
    _RETRIES,
    "A request SHOULD NOT have inputResponses or a requestState unless an earlier result requested"
    " input for it: a server SHOULD ignore input that it did not request.",
    since=_STATELESS,
)
RETRY_STATE_CHANGED = _SESSION_RULES.declare(
    "RETRY_STATE_CHANGED",
    Severity.ERROR,
    _RETRIES,
    "A retry MUST repeat the requestState of the result, and have none if the result had none.",
    since=_STATELESS,
)
RETRY_INPUT_MISSING = _SESSION_RULES.declare(
    "RETRY_INPUT_MISSING",
    Severity.ERROR,
    _RETRIES,
    "A retry MUST have a response for each of the inputRequests.",
    since=_STATELESS,
)
RETRY_INPUT_OTHER = _SESSION_RULES.declare(
    "RETRY_INPUT_OTHER",
    Severity.ERROR,
    Clause("basic/patterns/mrtr", "inputresponses"),
    "Each of the inputResponses MUST be a result of the method requested under its key.",
    since=_STATELESS,
)
RETRY_ID_REUSED = _SESSION_RULES.declare(
    "RETRY_ID_REUSED",
    Severity.ERROR,
    _RETRIES,
    "A retry MUST have another id than the request whose result requested input.",
    since=_STATELESS,
)
RETRY_ARGUMENTS_CHANGED = _SESSION_RULES.declare(
    "RETRY_ARGUMENTS_CHANGED",
    # The client "retries the original request"; no sentence forbids a change explicitly.
    Severity.WARNING,
    _RETRIES,
    "A retry SHOULD have the arguments of the request whose result requested input.",
    since=_STATELESS,
)
ELICITATION_ID_UNKNOWN = _SESSION_RULES.declare(
    "ELICITATION_ID_UNKNOWN",
    Severity.ERROR,
    Clause("client/elicitation", "completion-notifications-for-url-mode-elicitation"),
    "A completion notification MUST have the elicitationId of an elicitation.",
    since=_HANDSHAKE,
    until=_HANDSHAKE,
)


#: The only version with modes of elicitation, tools in sampling, and requests of the server.
#: Since 2026-07-28 the client responds by a retry, which cannot be an error.
_MODES = "2025-11-25"

_REJECTION_RULES = RuleSet(Group.REJECTIONS)

LOG_LEVEL_ACCEPTED = _REJECTION_RULES.declare(
    "LOG_LEVEL_ACCEPTED",
    Severity.WARNING,
    Clause("server/utilities/logging", "error-handling"),
    "A request for an unknown log level SHOULD be rejected with -32602 (Invalid params).",
    needs_whole_session=True,
)
COMPLETION_ACCEPTED = _REJECTION_RULES.declare(
    "COMPLETION_REQUEST_ACCEPTED",
    Severity.WARNING,
    Clause("server/utilities/completion", "error-handling"),
    "A completion request without `ref` or `argument` SHOULD be rejected with -32602 (Invalid"
    " params).",
    # The page of 2024-11-05 does not say how to answer faulty requests.
    since="2025-03-26",
    needs_whole_session=True,
)
ELICITATION_MODE_ACCEPTED = _REJECTION_RULES.declare(
    "ELICITATION_MODE_ACCEPTED",
    Severity.ERROR,
    Clause("client/elicitation", "error-handling"),
    "An elicitation in a mode that the client did not declare MUST be rejected with -32602"
    " (Invalid params).",
    since=_MODES,
    until=_MODES,
)
SAMPLING_HISTORY_ACCEPTED = _REJECTION_RULES.declare(
    "SAMPLING_HISTORY_ACCEPTED",
    Severity.WARNING,
    Clause("client/sampling", "error-handling"),
    "A sampling request whose tool results are missing or mixed with other content SHOULD be"
    " rejected with -32602 (Invalid params).",
    since=_MODES,
    until=_MODES,
)


@_REJECTION_RULES.rule(
    "SAMPLING_TOOLS_ACCEPTED",
    Severity.ERROR,
    Clause("schema", "createmessagerequestparams"),
    "A client that did not declare sampling.tools MUST respond with an error to a "
    "request with tools or a tool choice.",
    on="CreateMessageResult",
    since=_MODES,
    until=_MODES,
)
def _sampling_tools(_result: Any, context: Context) -> Iterator[Fault]:
    request, declared = context.request, context.client_capabilities
    if not isinstance(request, dict) or declared is None:
        return
    name = next((name for name in ("tools", "toolChoice") if request.get(name) is not None), "")
    if name and not is_declared(declared, "sampling.tools"):
        message = f"expected an error: the request has {name}, and the client did not declare"
        yield Fault((), f"{message} sampling.tools")
