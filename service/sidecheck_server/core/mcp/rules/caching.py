"""Caching hints."""

from collections.abc import Iterator
from typing import Any

from sidecheck_server.core.mcp.context import Context
from sidecheck_server.core.mcp.rules.rule import Clause, Fault, Rule, rule
from sidecheck_server.core.types import Severity

__all__ = ["RULES"]


@rule(
    "CACHE_HINT_MISPLACED",
    severity=Severity.WARNING,
    clause=Clause("server/utilities/caching", "cacheable-results"),
    requirement="A result that requests input is not cacheable and SHOULD NOT have caching hints.",
    on="InputRequiredResult",
    since="2026-07-28",
)
def _misplaced_hint(value: Any, _context: Context) -> Iterator[Fault]:
    if isinstance(value, dict):
        for name in ("ttlMs", "cacheScope"):
            if name in value:
                yield Fault((name,), f"{name} has no effect on a result that requests input")


RULES: tuple[Rule, ...] = (_misplaced_hint,)
