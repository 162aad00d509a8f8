"""Checks of files of tool definitions: an outcome for each tool, with its findings."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sidecheck_server.cli.findings import Finding, Source, Spot, find, find_violations
from sidecheck_server.cli.listings import list_or_find
from sidecheck_server.cli.progress import with_progress
from sidecheck_server.cli.reports import problem_object
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.mcp.check import Checked
from sidecheck_server.core.mcp.context import Context
from sidecheck_server.core.mcp.protocol_schemas import compile_protocol_schemas
from sidecheck_server.core.mcp.rules.catalogue import CATALOGUE
from sidecheck_server.core.mcp.subjects import CheckRequest, ReportLimits, ToolJson
from sidecheck_server.core.mcp.tools.listing import ListedTool, Listing
from sidecheck_server.core.mcp.tools.outcomes import CheckedTool, check_here
from sidecheck_server.core.mcp.tools.outcomes import outcomes as checked_tools
from sidecheck_server.core.types import Document, Severity

__all__ = ["Outcome", "check_sources"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one tool, or of a file outside of its tools."""

    source: Source
    #: The tool's name, or "" if it has none.
    name: str
    ok: bool
    findings: tuple[Finding, ...]
    #: Whether it is that of a tool.
    is_tool: bool = True

    def as_object(self) -> dict[str, Any]:
        """Return the members of the outcome in JSON."""
        return {
            "file": self.source.name,
            "name": self.name,
            "ok": self.ok,
            "problems": [_problem(finding) for finding in self.findings],
        }


def check_sources(
    sources: Sequence[Source],
    documents: tuple[Document, ...],
    limits: Limits,
    version: str,
    least: Severity,
) -> list[Outcome]:
    """Return an outcome for each tool of *sources*, in order, by the rules of *version*.

    What stands around the tools of a source has one too, after theirs, if something is
    wrong with it. Findings less grave than *least* are left out.
    """
    context = Context(version=version, documents=documents)
    how = ReportLimits(limits.violations, limits.verdict_characters, least)
    surfaces = compile_protocol_schemas(limits)
    listed = [(source, list_or_find(source, limits)) for source in sources]
    texts = [tool.json for _, listing in listed for tool in _tools(listing)]
    checked = iter(
        check_here(CheckRequest(ToolJson(text), context, how), limits, surfaces)
        for text in with_progress(texts, len(texts), "Checking tools")
    )
    outcomes: list[Outcome] = []
    for source, listing in listed:
        if isinstance(listing, Listing):
            mine = [next(checked) for _ in listing.tools]
            told = checked_tools(mine, (tool.pointer for tool in listing.tools), _DUPLICATE)
            outcomes += _outcomes(source, told)
            if listing.answer is not None:
                around = check_here(CheckRequest(listing.answer, context, how), limits, surfaces)
                outcomes += _around(source, around)
        else:
            outcomes.append(Outcome(source, "", ok=False, findings=tuple(listing), is_tool=False))
    return outcomes


_DUPLICATE = "several tools have this name; of those registered together, the last counts"


def _tools(listing: Listing | list[Finding]) -> tuple[ListedTool, ...]:
    return listing.tools if isinstance(listing, Listing) else ()


def _outcomes(source: Source, checked: Sequence[CheckedTool]) -> list[Outcome]:
    # All places of a source are found in one reading of it.
    spots = [
        Spot(found, one.pointer + found.instance_location, one.name)
        for one in checked
        for found in one.verdict.violations
    ]
    found = iter(find(source, spots))
    return [
        Outcome(source, one.name, one.ok, tuple(next(found) for _ in one.verdict.violations))
        for one in checked
    ]


def _around(source: Source, checked: Checked) -> list[Outcome]:
    """Return the outcome of what stands around the tools of *source*, unless it is sound."""
    findings = find_violations(source, checked.findings.verdict().violations)
    ok = not checked.findings.has_errors
    return [Outcome(source, "", ok, tuple(findings), is_tool=False)] if findings else []


def _problem(finding: Finding) -> dict[str, Any]:
    """Return the members of *finding* in JSON, with the sentence of its rule."""
    rule = CATALOGUE.get(finding.violation.code)
    return {**problem_object(finding), "rule": rule.sentence if rule else ""}
