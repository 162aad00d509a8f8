"""Linting: what is wrong with each message of a transcript."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from sidecheck_server.cli.findings import Finding, Source, find_violations
from sidecheck_server.cli.progress import with_progress
from sidecheck_server.cli.reports import problem_object
from sidecheck_server.cli.transcripts import Line, read_transcript
from sidecheck_server.core.errors import RequestError
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.mcp.check import check
from sidecheck_server.core.mcp.context import Context
from sidecheck_server.core.mcp.deferred import Compiling, answer_all, compiling_sources
from sidecheck_server.core.mcp.protocol_schemas import Surfaces, compile_protocol_schemas
from sidecheck_server.core.mcp.sessions import Session
from sidecheck_server.core.mcp.subjects import ProtocolMessage, ReportLimits
from sidecheck_server.core.mcp.versions import DEFAULT_VERSION
from sidecheck_server.core.types import Severity, Verdict, Violation

__all__ = ["LineOutcome", "lint"]

_MOST = 100
"""How many violations of a message are told."""


@dataclass(frozen=True, slots=True)
class LineOutcome:
    """What became of the message on one line."""

    #: From 1.
    line: int
    ok: bool
    truncated: bool
    findings: tuple[Finding, ...]

    def as_object(self) -> dict[str, Any]:
        """Return the members of the outcome in JSON."""
        return {
            "line": self.line,
            "ok": self.ok,
            "violations": [
                {**problem_object(finding), "clause": finding.violation.clause}
                for finding in self.findings
            ],
        }


def lint(name: str, text: bytes, version: str | None, limits: Limits) -> list[LineOutcome]:
    """Return an outcome for each line of *text*, the content of the file *name*, in order.

    *version* is the protocol version whose rules hold, or None for the one that the
    messages agree on.
    """
    lines = list(read_transcript(text, limits))
    linter = _Linter(version, limits)
    return [
        _outcome(name, line, linter.verdict(line))
        for line in with_progress(lines, len(lines), "Checking messages")
    ]


class _Linter:
    def __init__(self, version: str | None, limits: Limits) -> None:
        context = Context(version=version or DEFAULT_VERSION)
        self._session = Session(context, pinned=version is not None)
        self._limits = limits
        self._surfaces: Surfaces = compile_protocol_schemas(limits)
        # The calls of a session are judged by the same few tools.
        self._compiling: Compiling = compiling_sources(limits)

    def verdict(self, line: Line) -> Verdict:
        """Return the verdict on the message of *line*."""
        message = ProtocolMessage(line.message, line.answers)
        asked = self._session.asked(message, line.sender, ReportLimits(most=_MOST))
        try:
            try:
                checked = check(asked, self._limits, self._surfaces)
            except RequestError:
                self._session.miss()
                raise
            # The session has questions too: whether a call fits the tool that was listed.
            self._session.take(asked, checked)
            answer_all(checked, self._limits, asked.judging, self._compiling)
        except RequestError as refusal:
            found = Violation("", "", "", refusal.reason.value, refusal.message)
            return Verdict((found,))
        return checked.findings.verdict()


def _outcome(name: str, line: Line, verdict: Verdict) -> LineOutcome:
    # The source is the line alone: the whole is no JSON text.
    source = Source(name, line.text)
    found = [
        *line.faults,
        *(
            replace(each, instance_location=line.pointer + each.instance_location)
            for each in verdict.violations
        ),
    ]
    return LineOutcome(
        line.number,
        not any(each.severity is Severity.ERROR for each in found),
        verdict.truncated,
        _placed(find_violations(source, found), line.number),
    )


# Of a message that is one line, a person looks for the column.
_IN_LINE = re.compile(r" at line 1, column (?=\d)")


def _placed(findings: Sequence[Finding], number: int) -> tuple[Finding, ...]:
    """Return *findings* in a line as they are in the file whose line it is."""
    return tuple(
        replace(
            finding,
            violation=replace(
                finding.violation,
                message=_IN_LINE.sub(" at column ", finding.violation.message),
            ),
            place=replace(finding.place, line=number, end_line=number),
        )
        for finding in findings
    )
