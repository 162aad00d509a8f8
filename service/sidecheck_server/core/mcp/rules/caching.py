"""Hints for caching, where results should have none; their types are a matter of shape."""

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
    sentence="A result that asks for input is not to be cached, and carries no caching hints.",
    on="InputRequiredResult",
    since="2026-07-28",
)
def _misplaced(value: Any, _context: Context) -> Iterator[Fault]:
    if isinstance(value, dict):
        for name in ("ttlMs", "cacheScope"):
            if name in value:
                yield Fault((name,), f"{name} on a result that asks for input says nothing")


RULES: tuple[Rule, ...] = (_misplaced,)
