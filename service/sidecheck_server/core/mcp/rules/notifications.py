"""Notifications of cancellation and progress."""

from collections.abc import Iterator
from typing import Any

from sidecheck_server.core.limits import spend
from sidecheck_server.core.mcp.context import Context
from sidecheck_server.core.mcp.rules.rule import Clause, Fault, Rule, rule
from sidecheck_server.core.types import Severity

__all__ = ["RULES"]

_TASKS = "2025-11-25"
_MESSAGES = "2025-03-26"


@rule(
    "CANCELLED_WITHOUT_ID",
    severity=Severity.ERROR,
    clause=Clause("schema", "cancellednotificationparams"),
    requirement="A cancellation MUST have the id of a request. (Tasks are cancelled by "
    "tasks/cancel. In other versions the published schema demands it.)",
    on="CancelledNotificationParams",
    since=_TASKS,
    until=_TASKS,
)
def _cancelled_without_id(params: Any, _context: Context) -> Iterator[Fault]:
    if isinstance(params, dict) and "requestId" not in params:
        yield Fault((), "missing requestId, the id of the request to cancel", "requestId")


@rule(
    "PROGRESS_MESSAGE_EMPTY",
    severity=Severity.WARNING,
    clause=Clause(
        "basic/patterns/progress",
        "progress-flow",
        before=((_TASKS, "basic/utilities/progress", "progress-flow"),),
    ),
    requirement="The message of a progress notification SHOULD inform people.",
    on="ProgressNotificationParams",
    since=_MESSAGES,
)
def _empty_message(params: Any, context: Context) -> Iterator[Fault]:
    message = params.get("message") if isinstance(params, dict) else None
    if isinstance(message, str):
        spend(context.budget, len(message) // 64)
        if not message.strip():
            yield Fault(("message",), "expected a text for people, found none")


RULES: tuple[Rule, ...] = (_cancelled_without_id, _empty_message)
