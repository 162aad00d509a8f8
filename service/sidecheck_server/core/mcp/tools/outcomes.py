"""Checking tool definitions, many at a time: an outcome for each, never one for all."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from sidecheck_server.core.errors import RequestError
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.mcp.check import Checked, check
from sidecheck_server.core.mcp.deferred import answer_all
from sidecheck_server.core.mcp.findings import Findings
from sidecheck_server.core.mcp.protocol_schemas import Surfaces
from sidecheck_server.core.mcp.rules.names import NO_DUPLICATES
from sidecheck_server.core.mcp.rules.rule import Fault
from sidecheck_server.core.mcp.subjects import CheckRequest
from sidecheck_server.core.mcp.tools.problems import refusal_as_problems, repeated_names
from sidecheck_server.core.types import Severity, Verdict

__all__ = ["CheckedTool", "Disposition", "check_here", "outcomes", "refused"]


class Disposition(StrEnum):
    """What a client that keeps to the rules does with a tool."""

    #: It takes the tool.
    KEEP = "keep"
    #: It takes the tool; the violations are worth a look.
    WARN = "warn"
    #: It leaves the tool out, and takes the others.
    DROP = "drop"


@dataclass(frozen=True, slots=True)
class CheckedTool:
    """What became of one definition."""

    #: The tool's name, or "" if the definition has none.
    name: str
    #: Where the definition stands in the text with all of them, as a JSON Pointer.
    pointer: str
    #: What was found; its pointers lead into the definition.
    verdict: Verdict
    disposition: Disposition

    @property
    def ok(self) -> bool:
        """Whether the tool would be registered: nothing that was found is an error."""
        return self.disposition is not Disposition.DROP


def refused(asked: CheckRequest, refusal: RequestError) -> Checked:
    """Return what was found of a subject that could not be checked: that it is refused."""
    findings = Findings(
        asked.context, most=asked.how.most, longest=asked.how.longest, least=asked.how.least
    )
    findings.add_all(refusal_as_problems(refusal, ""))
    return Checked(findings)


def check_here(asked: CheckRequest, limits: Limits, surfaces: Surfaces) -> Checked:
    """Return what is wrong with the subject of *asked*, all questions answered.

    Its schemas are compiled, so it takes as long as that. What is beyond a limit has a
    violation that says so.
    """
    try:
        checked = check(asked, limits, surfaces)
        answer_all(checked, limits, asked.judging)
    except RequestError as refusal:
        return refused(asked, refusal)
    return checked


def outcomes(
    checked: Sequence[Checked], pointers: Iterable[str], duplicates: str
) -> tuple[CheckedTool, ...]:
    """Return what became of the tools that were *checked* together, which stand at *pointers*.

    Names that stand more than once are told as *duplicates* says it.
    """
    repeated = repeated_names(one.name for one in checked)
    for one in checked:
        if one.name in repeated:
            one.findings.tell(NO_DUPLICATES, (), Fault(("name",), duplicates))
    return tuple(_outcome(one, pointer) for one, pointer in zip(checked, pointers, strict=True))


def _outcome(checked: Checked, pointer: str) -> CheckedTool:
    findings = checked.findings
    gravest = findings.gravest
    treatment = _TREATMENTS.get(gravest, Disposition.KEEP) if gravest else Disposition.KEEP
    return CheckedTool(checked.name, pointer, findings.verdict(), treatment)


_TREATMENTS = {Severity.ERROR: Disposition.DROP, Severity.WARNING: Disposition.WARN}
