"""Requests that must be rejected.

Some faults of a request oblige its receiver to respond with an error. No rule checks which
error it is: a request may have other faults too. `core.mcp.sessions.rejections` finds the
violations of the rules without a check.
"""

from collections.abc import Iterator
from typing import Any

from sidecheck_server.core.mcp.context import Context
from sidecheck_server.core.mcp.rules.capabilities import is_declared
from sidecheck_server.core.mcp.rules.rule import Clause, Fault, Group, RuleSet
from sidecheck_server.core.types import Severity

__all__ = [
    "COMPLETION",
    "ELICITATION_MODE",
    "LOG_LEVEL",
    "SAMPLING_HISTORY",
]

#: The only version with modes of elicitation, tools in sampling, and requests of the server.
#: Since 2026-07-28 the client responds by a retry, which cannot be an error.
_MODES = "2025-11-25"

_REJECTION_RULES = RuleSet(Group.REJECTIONS)

LOG_LEVEL = _REJECTION_RULES.declare(
    "LOG_LEVEL_ACCEPTED",
    Severity.WARNING,
    Clause("server/utilities/logging", "error-handling"),
    "A request for an unknown log level SHOULD be rejected with -32602 (Invalid params).",
    needs_whole_session=True,
)
COMPLETION = _REJECTION_RULES.declare(
    "COMPLETION_REQUEST_ACCEPTED",
    Severity.WARNING,
    Clause("server/utilities/completion", "error-handling"),
    "A request for a completion without what it needs SHOULD be rejected with -32602 (Invalid"
    " params).",
    # The page of 2024-11-05 does not say how to answer faulty requests.
    since="2025-03-26",
    needs_whole_session=True,
)
ELICITATION_MODE = _REJECTION_RULES.declare(
    "ELICITATION_MODE_ACCEPTED",
    Severity.ERROR,
    Clause("client/elicitation", "error-handling"),
    "An elicitation in a mode that the client did not declare MUST be rejected with -32602"
    " (Invalid params).",
    since=_MODES,
    until=_MODES,
)
SAMPLING_HISTORY = _REJECTION_RULES.declare(
    "SAMPLING_HISTORY_ACCEPTED",
    Severity.WARNING,
    Clause("client/sampling", "error-handling"),
    "A sampling request whose tool results are missing or mixed with others SHOULD be rejected"
    " with -32602 (Invalid params).",
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
