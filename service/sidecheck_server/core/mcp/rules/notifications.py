"""Notifications of cancellation and progress."""

from collections.abc import Iterator
from typing import Any

from sidecheck_server.core.limits import spend
from sidecheck_server.core.mcp.context import Context
from sidecheck_server.core.mcp.rules.rule import Clause, Fault, Group, RuleSet
from sidecheck_server.core.types import Severity

_TASKS = "2025-11-25"
_MESSAGES = "2025-03-26"


_NOTIFICATION_RULES = RuleSet(Group.NOTIFICATIONS)


@_NOTIFICATION_RULES.rule(
    "CANCELLED_WITHOUT_ID",
    Severity.ERROR,
    Clause("schema", "cancellednotificationparams"),
    "A cancellation MUST have the id of a request. (Tasks are cancelled by "
    "tasks/cancel. In other versions the published schema demands it.)",
    on="CancelledNotificationParams",
    since=_TASKS,
    until=_TASKS,
)
def _cancelled_without_id(params: Any, _context: Context) -> Iterator[Fault]:
    if isinstance(params, dict) and "requestId" not in params:
        yield Fault((), "missing requestId, the id of the request to cancel", "requestId")


@_NOTIFICATION_RULES.rule(
    "PROGRESS_MESSAGE_EMPTY",
    Severity.WARNING,
    Clause(
        "basic/patterns/progress",
        "progress-flow",
        before=((_TASKS, "basic/utilities/progress", "progress-flow"),),
    ),
    "The message of a progress notification SHOULD inform people.",
    on="ProgressNotificationParams",
    since=_MESSAGES,
)
def _empty_message(params: Any, context: Context) -> Iterator[Fault]:
    message = params.get("message") if isinstance(params, dict) else None
    if isinstance(message, str):
        spend(context.budget, len(message) // 64)
        if not message.strip():
            yield Fault(("message",), "expected a text for people, found none")
