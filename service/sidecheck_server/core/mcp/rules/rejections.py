"""Requests that must be rejected.

Some faults of a request oblige its receiver to respond with an error. No rule checks which
error it is: a request may have other faults too. `core.mcp.sessions.rejections` finds the
violations of the rules without a check.
"""

from collections.abc import Iterator
from typing import Any

from sidecheck_server.core.mcp.context import Context
from sidecheck_server.core.mcp.rules.capabilities import is_declared
from sidecheck_server.core.mcp.rules.rule import Clause, Fault, Rule, rule
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
#: Since 2026-07-28 the client responds by a retry, which cannot be an error.
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


@rule(
    "SAMPLING_TOOLS_ACCEPTED",
    severity=Severity.ERROR,
    clause=Clause("schema", "createmessagerequestparams"),
    requirement="A client that did not declare sampling.tools MUST respond with an error to a "
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


RULES: tuple[Rule, ...] = (
    LOG_LEVEL,
    COMPLETION,
    ELICITATION_MODE,
    SAMPLING_HISTORY,
    _sampling_tools,
)
