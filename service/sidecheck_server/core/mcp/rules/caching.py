"""Caching hints."""

from collections.abc import Iterator
from typing import Any

from sidecheck_server.core.mcp.context import Context
from sidecheck_server.core.mcp.rules.rule import Clause, Fault, Group, RuleSet
from sidecheck_server.core.types import Severity

_CACHING_RULES = RuleSet(Group.CACHING, on="InputRequiredResult")


@_CACHING_RULES.rule(
    "CACHE_HINT_MISPLACED",
    Severity.WARNING,
    Clause("server/utilities/caching", "cacheable-results"),
    "A result that requests input is not cacheable and SHOULD NOT have caching hints.",
    since="2026-07-28",
)
def _misplaced_hint(value: Any, _context: Context) -> Iterator[Fault]:
    if isinstance(value, dict):
        for name in ("ttlMs", "cacheScope"):
            if name in value:
                yield Fault((name,), f"{name} has no effect on a result that requests input")
