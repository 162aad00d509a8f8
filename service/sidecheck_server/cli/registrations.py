"""Registrations with a running server: what was in the files, and what became of it."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import sidecheck
from sidecheck import BlockingClient, ChangePolicy, ToolDefinition

from sidecheck_server.cli.files import write_output
from sidecheck_server.cli.findings import Finding, Source, Spot, find
from sidecheck_server.cli.listings import list_or_exit
from sidecheck_server.cli.reports import (
    Block,
    counted,
    in_json,
    problem_object,
    tally,
    write_blocks,
)
from sidecheck_server.cli.rows import Part, is_terminal, printable
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.mcp.tools.listing import ListedTool
from sidecheck_server.core.types import Document, Severity, Violation

__all__ = ["Registered", "RegisteredTool", "definitions", "register_tools", "write_registration"]

_STYLES = {"refused": "bold red", "unchanged": ""}


@dataclass(frozen=True, slots=True)
class RegisteredTool:
    """What became of one definition."""

    source: Source
    name: str
    action: str
    findings: tuple[Finding, ...]
    definition_digest: str
    previous_definition_digest: str

    def as_object(self) -> dict[str, Any]:
        """Return the members of the outcome in JSON."""
        return {
            "file": self.source.name,
            "name": self.name,
            "action": self.action,
            "problems": [problem_object(finding) for finding in self.findings],
            "definition_digest": self.definition_digest,
            "previous_definition_digest": self.previous_definition_digest,
        }


@dataclass(frozen=True, slots=True)
class Registered:
    """What became of a registration as a whole."""

    outcomes: tuple[RegisteredTool, ...]
    removed: tuple[str, ...]
    registry_revision: int
    validate_only: bool


def definitions(files: Sequence[tuple[str, bytes]]) -> list[tuple[Source, ListedTool]]:
    """Return the tools of *files*, which are names and contents, each with its source.

    Raises:
        click.ClickException: a file lists no tools; the command exits with 2.
    """
    sources = [Source(name, text) for name, text in files]
    listed = [(source, list_or_exit(source.name, source.text, Limits())) for source in sources]
    return [(source, tool) for source, tools in listed for tool in tools]


def register_tools(
    client: BlockingClient,
    server: str,
    given: Sequence[tuple[Source, ListedTool]],
    documents: Sequence[Document],
    *,
    replace: bool,
    validate_only: bool,
    change_policy: ChangePolicy,
    timeout: float,
) -> Registered:
    """Register the tools *given* as those of *server*.

    Raises:
        Refused: The registration as a whole was refused, or nobody answered.
        ValueError: A tool, or a replacement as a whole, does not fit into a message.
    """
    brought = tuple(sidecheck.Document(one.uri, one.json) for one in documents)
    done = client.register(
        server,
        [ToolDefinition(tool.json, brought) for _, tool in given],
        replace=replace,
        change_policy=change_policy,
        validate_only=validate_only,
        timeout=timeout,
    )
    outcomes: list[RegisteredTool] = []
    told = zip(given, done.outcomes, strict=True)
    # All places of a source are found in one reading of it.
    for _, group in groupby(told, key=lambda pair: id(pair[0][0])):
        outcomes += _outcomes(list(group))
    return Registered(tuple(outcomes), done.removed, done.registry_revision, validate_only)


def write_registration(form: str, done: Registered, *, excerpts: bool | None) -> None:
    """Write to standard output, in the format *form*, what became of a registration.

    *excerpts* says whether places are shown; on a terminal they are if it is None.
    """
    if form == "json":
        written = {
            "outcomes": [one.as_object() for one in done.outcomes],
            "removed": list(done.removed),
            "registry_revision": done.registry_revision,
        }
        write_output(in_json(written))
        return
    blocks = [
        Block(_heading(one.action, one.name or "(no name)"), one.findings) for one in done.outcomes
    ]
    blocks += [Block(_heading("removed", name)) for name in done.removed]
    actions = Counter(one.action for one in done.outcomes)
    findings = [finding for one in done.outcomes for finding in one.findings]
    said = [
        counted(len(done.outcomes), "tool"),
        *(f"{number:,} {action}" for action, number in sorted(actions.items())),
        *([f"{len(done.removed):,} removed"] if done.removed else []),
        *([tally(findings)] if findings else []),
        *(["nothing was registered (--validate-only)"] if done.validate_only else []),
    ]
    shown = is_terminal() if excerpts is None else excerpts
    write_blocks(blocks, ", ".join(said), excerpts=shown)


def _heading(action: str, name: str) -> tuple[Part, ...]:
    return ((f"{action:<9}  ", _STYLES.get(action, "bold green")), (printable(name), "bold"))


def _outcomes(
    told: Sequence[tuple[tuple[Source, ListedTool], sidecheck.Outcome]],
) -> list[RegisteredTool]:
    """Return what became of the tools of one source."""
    source = told[0][0][0]
    spots = [
        Spot(_violation(problem), tool.pointer + problem.instance_location, one.name)
        for (_, tool), one in told
        for problem in one.violations
    ]
    found = iter(find(source, spots))
    return [
        RegisteredTool(
            source,
            one.name,
            one.action.value,
            tuple(next(found) for _ in one.violations),
            one.definition_digest,
            one.previous_definition_digest,
        )
        for _, one in told
    ]


def _violation(told: sidecheck.Violation) -> Violation:
    return Violation(
        told.instance_location,
        told.keyword_location,
        told.keyword,
        told.code,
        told.message,
        Severity(told.severity.value),
        told.suggestion,
        told.clause,
    )
