"""Requests to reject.

Some faults of a request oblige its receiver to respond with an error. These rules hold
between a request and its result; `core.mcp.sessions.rejections` finds their violations. Which
error it is they do not check: a request may have other faults too.
"""

from sidecheck_server.core.mcp.rules.rule import Clause, Rule
from sidecheck_server.core.types import Severity

__all__ = [
    "COMPLETION",
    "ELICITATION_MODE",
    "LOG_LEVEL",
    "RULES",
    "SAMPLING_HISTORY",
]

_SUBJECT = ("JSONRPCMessage",)
#: The only version with modes of elicitation, tools in sampling, and requests of the server.
_MODES = "2025-11-25"

LOG_LEVEL = Rule(
    "LOG_LEVEL_ACCEPTED",
    Severity.WARNING,
    Clause("server/utilities/logging", "error-handling"),
    "A request for an unknown log level SHOULD be rejected with -32602 (Invalid params).",
    _SUBJECT,
    needs_whole_session=True,
)
COMPLETION = Rule(
    "COMPLETION_REQUEST_ACCEPTED",
    Severity.WARNING,
    Clause("server/utilities/completion", "error-handling"),
    "A request for a completion without what it needs SHOULD be rejected with -32602 (Invalid"
    " params).",
    _SUBJECT,
    # The page of 2024-11-05 does not say how to answer faulty requests.
    since="2025-03-26",
    needs_whole_session=True,
)
ELICITATION_MODE = Rule(
    "ELICITATION_MODE_ACCEPTED",
    Severity.ERROR,
    Clause("client/elicitation", "error-handling"),
    "An elicitation in a mode that the client did not declare MUST be rejected with -32602"
    " (Invalid params).",
    _SUBJECT,
    since=_MODES,
    until=_MODES,
)
SAMPLING_HISTORY = Rule(
    "SAMPLING_HISTORY_ACCEPTED",
    Severity.WARNING,
    Clause("client/sampling", "error-handling"),
    "A sampling request whose tool results are missing or mixed with others SHOULD be rejected"
    " with -32602 (Invalid params).",
    _SUBJECT,
    since=_MODES,
    until=_MODES,
)

RULES: tuple[Rule, ...] = (
    LOG_LEVEL,
    COMPLETION,
    ELICITATION_MODE,
    SAMPLING_HISTORY,
)
