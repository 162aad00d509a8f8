"""Outcomes of checking several tool definitions: one for each, independent of the others."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from sidecheck_server.core.mcp.check import CheckReport
from sidecheck_server.core.mcp.findings import Findings
from sidecheck_server.core.mcp.rules.names import NO_DUPLICATES
from sidecheck_server.core.mcp.rules.rule import Fault
from sidecheck_server.core.mcp.tool_definitions import duplicate_names
from sidecheck_server.core.types import Severity, Verdict

__all__ = ["CheckedTool", "Disposition", "tool_outcomes"]


class Disposition(StrEnum):
    """What a client that follows the specification does with a tool."""

    #: Use the tool.
    KEEP = "keep"
    #: Use the tool; it has warnings.
    WARN = "warn"
    #: Ignore the tool, and use the others: it has errors, or a schema that nothing validates
    #: against, which clients should reject (2026-07-28, basic#ref-resolution).
    DROP = "drop"


_DISPOSITIONS = {Severity.ERROR: Disposition.DROP, Severity.WARNING: Disposition.WARN}


@dataclass(frozen=True, slots=True)
class CheckedTool:
    """Outcome of one tool definition."""

    #: Name of the tool, or "" if it has none.
    name: str
    #: JSON Pointer to the definition in the text that lists the tools.
    pointer: str
    #: Instance locations start at the definition.
    verdict: Verdict
    disposition: Disposition

    @property
    def ok(self) -> bool:
        """Whether registration accepts the tool: no errors, and schemas that compile."""
        return self.disposition is not Disposition.DROP


def tool_outcomes(
    outcomes: Sequence[CheckReport], pointers: Iterable[str], duplicate_message: str
) -> Iterator[CheckedTool]:
    """Yield the outcome of each tool of a list, whose definitions stand at *pointers*.

    Tools whose name is not unique get a violation with *duplicate_message*.
    """
    duplicates = duplicate_names(outcome.name for outcome in outcomes)
    for outcome in outcomes:
        if outcome.name in duplicates:
            outcome.findings.report(NO_DUPLICATES, (), Fault(("name",), duplicate_message))
    for outcome, pointer in zip(outcomes, pointers, strict=True):
        yield _checked_tool(outcome, pointer)


def _checked_tool(outcome: CheckReport, pointer: str) -> CheckedTool:
    findings = outcome.findings
    return CheckedTool(outcome.name, pointer, findings.verdict(), _disposition(findings))


def _disposition(findings: Findings) -> Disposition:
    if findings.has_unusable_schema:
        return Disposition.DROP
    severity = findings.highest_severity
    return _DISPOSITIONS.get(severity, Disposition.KEEP) if severity else Disposition.KEEP
