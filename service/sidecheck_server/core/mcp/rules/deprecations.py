"""What is deprecated, apart from sampling: roots and the logging of servers."""

from collections.abc import Iterator
from typing import Any

from sidecheck_server.core.mcp.context import Context
from sidecheck_server.core.mcp.rules.rule import Clause, Fault, Rule, rule
from sidecheck_server.core.types import Severity

__all__ = ["RULES"]

_CLAUSE = Clause("deprecated", "deprecated")
_SINCE = "2026-07-28"


@rule(
    "ROOTS_DEPRECATED",
    severity=Severity.WARNING,
    clause=_CLAUSE,
    sentence="Roots are deprecated: servers should be told of places by parameters of tools, "
    "URIs of resources or their own settings.",
    on="ListRootsRequest",
    since=_SINCE,
)
def _roots(_value: Any, _context: Context) -> Iterator[Fault]:
    yield Fault((), "roots are deprecated since 2026-07-28 (SEP-2577)")


@rule(
    "LOGGING_DEPRECATED",
    severity=Severity.WARNING,
    clause=_CLAUSE,
    sentence="The logging of servers is deprecated: they should write to stderr, or use "
    "OpenTelemetry.",
    on="LoggingMessageNotificationParams",
    since=_SINCE,
)
def _logging(_value: Any, _context: Context) -> Iterator[Fault]:
    yield Fault((), "logging by notifications is deprecated since 2026-07-28 (SEP-2577)")


RULES: tuple[Rule, ...] = (_roots, _logging)
