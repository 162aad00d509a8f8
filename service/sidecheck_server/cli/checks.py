"""Checks of files of tool definitions: an outcome for each tool, with its findings."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sidecheck_server.cli.findings import Finding, Source, Spot, find
from sidecheck_server.cli.listings import list_or_find
from sidecheck_server.cli.progress import with_progress
from sidecheck_server.cli.reports import problem_object
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.mcp.checking import CheckedTool, check_tool, tell_duplicates
from sidecheck_server.core.mcp.listing import ListedTool
from sidecheck_server.core.words import Document

__all__ = ["Outcome", "check_sources"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one tool, or of a file that lists no tools."""

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
            "problems": [problem_object(finding) for finding in self.findings],
        }


def check_sources(
    sources: Sequence[Source], documents: tuple[Document, ...], limits: Limits
) -> list[Outcome]:
    """Return an outcome for each tool of *sources*, in order."""
    listed = [(source, list_or_find(source, limits)) for source in sources]
    texts = [tool.json for _, tools in listed if isinstance(tools, tuple) for tool in tools]
    checked = iter(
        check_tool(text, documents, limits)
        for text in with_progress(texts, len(texts), "Checking tools")
    )
    outcomes: list[Outcome] = []
    for source, tools in listed:
        if isinstance(tools, tuple):
            mine = tell_duplicates([next(checked) for _ in tools])
            outcomes += _outcomes(source, tools, mine)
        else:
            outcomes.append(Outcome(source, "", ok=False, findings=tuple(tools), is_tool=False))
    return outcomes


def _outcomes(
    source: Source, tools: Sequence[ListedTool], checked: Sequence[CheckedTool]
) -> list[Outcome]:
    # All places of a source are found in one reading of it.
    spots = [
        Spot(problem.violation, tool.pointer + problem.pointer, one.name)
        for tool, one in zip(tools, checked, strict=True)
        for problem in one.problems
    ]
    found = iter(find(source, spots))
    return [
        Outcome(source, one.name, one.ok, tuple(next(found) for _ in one.problems))
        for one in checked
    ]
