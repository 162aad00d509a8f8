"""Logging.

Until 2025-11-25 the client sets one level for the session; before it sets one, the server
chooses what to send. Since 2026-07-28 each request asks for its own logs, and no log message names
its request: whether one was asked for shows only where no open request asks for it.
"""

from collections.abc import Iterator
from typing import Any

from sidecheck_server.core.mcp.context import FIRST_STATELESS, LAST_HANDSHAKE, Context
from sidecheck_server.core.mcp.metadata_keys import SUBSCRIPTION_ID_KEY, read_metadata
from sidecheck_server.core.mcp.rules.rule import Clause, Fault, Group, RuleSet
from sidecheck_server.core.types import Severity

__all__ = ["LEVELS", "LOG_BELOW_LEVEL", "LOG_UNASKED"]

LEVELS = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")
"""Levels of log messages, the least severe first (RFC 5424, section 6.2.1)."""

_PAGE = "server/utilities/logging"
_HANDSHAKE, _STATELESS = LAST_HANDSHAKE, FIRST_STATELESS
_PER_REQUEST = Clause(_PAGE, "per-request-log-level")

_LOG_RULES = RuleSet(Group.LOGGING)

LOG_UNASKED = _LOG_RULES.declare(
    "LOG_UNASKED",
    Severity.ERROR,
    _PER_REQUEST,
    "A server MUST NOT send log messages for a request without"
    " `io.modelcontextprotocol/logLevel` in its `_meta`, nor after the response.",
    since=_STATELESS,
    needs_whole_session=True,
)
LOG_BELOW_LEVEL = _LOG_RULES.declare(
    "LOG_BELOW_LEVEL",
    # "At or above" the requested level the server MAY send (2026-07-28); before, it "should
    # send all logs at this level and higher" (SetLevelRequest). Neither page says MUST NOT.
    Severity.WARNING,
    Clause(_PAGE, "per-request-log-level", before=((_HANDSHAKE, _PAGE, "setting-log-level"),)),
    "A server SHOULD send log messages only at or above the level that the client set, and"
    " since 2026-07-28 that an open request asks for.",
    needs_whole_session=True,
)


@_LOG_RULES.rule(
    "LOG_ON_SUBSCRIPTION",
    Severity.ERROR,
    _PER_REQUEST,
    "A server MUST NOT send log messages as part of a subscription.",
    on="LoggingMessageNotificationParams",
    since=_STATELESS,
)
def _on_subscription(params: Any, _context: Context) -> Iterator[Fault]:
    if SUBSCRIPTION_ID_KEY in read_metadata(params):
        message = (
            f"a log message belongs to no subscription, so it must have no {SUBSCRIPTION_ID_KEY}"
        )
        yield Fault(("_meta", SUBSCRIPTION_ID_KEY), message)
