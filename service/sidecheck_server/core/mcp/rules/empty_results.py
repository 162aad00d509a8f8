"""Empty results."""

from sidecheck_server.core.mcp.rules.rule import Clause, Group, RuleSet, type_clause
from sidecheck_server.core.types import Severity

__all__ = ["EMPTY_RESULT_WITH_DATA", "PING_RESULT_NOT_EMPTY"]

_EMPTY_RESULT_RULES = RuleSet(Group.EMPTY_RESULTS, until="2025-11-25")

PING_RESULT_NOT_EMPTY = _EMPTY_RESULT_RULES.declare(
    "PING_RESULT_NOT_EMPTY",
    Severity.ERROR,
    Clause("basic/utilities/ping", "behavior-requirements"),
    "The response to a ping MUST be empty, except for `_meta`.",
)
EMPTY_RESULT_WITH_DATA = _EMPTY_RESULT_RULES.declare(
    "EMPTY_RESULT_WITH_DATA",
    # The type is that of any result, and open; its description alone says that it is empty.
    # The TypeScript SDK rejects other properties.
    Severity.WARNING,
    type_clause("EmptyResult"),
    "The result of logging/setLevel, resources/subscribe and resources/unsubscribe SHOULD carry"
    " no data, except for `_meta`.",
)
