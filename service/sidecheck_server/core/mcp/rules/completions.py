"""Completions of arguments."""

from collections.abc import Iterator
from typing import Any

from sidecheck_server.core.mcp.context import Context
from sidecheck_server.core.mcp.rules.rule import Clause, Fault, Rule, rule
from sidecheck_server.core.types import Severity

__all__ = ["RULES"]

_MOST = 100


@rule(
    "COMPLETION_TOO_LONG",
    severity=Severity.ERROR,
    clause=Clause("server/utilities/completion", "completion-results"),
    sentence="A result has at most 100 values; since 2026-07-28 the published schema says so.",
    on="CompleteResult",
    until="2025-11-25",
)
def _most(result: Any, _context: Context) -> Iterator[Fault]:
    completion = result.get("completion") if isinstance(result, dict) else None
    values = completion.get("values") if isinstance(completion, dict) else None
    if isinstance(values, list) and len(values) > _MOST:
        said = f"expected at most {_MOST} values, found {len(values)}"
        yield Fault(("completion", "values"), said)


RULES: tuple[Rule, ...] = (_most,)
