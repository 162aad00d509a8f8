"""`sidecheck lint-messages`: check the messages of transcripts offline."""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import click

from sidecheck_server.cli.files import read_input, write_output
from sidecheck_server.cli.findings import Finding, Source, find_violations
from sidecheck_server.cli.in_process import LIMITS, run_in_process
from sidecheck_server.cli.options import (
    FILE,
    examples,
    excerpts_option,
    form_option,
    min_severity_option,
    version_option,
)
from sidecheck_server.cli.progress import with_progress
from sidecheck_server.cli.repeated_findings import group_repeated, with_count
from sidecheck_server.cli.reports import (
    Block,
    counted,
    in_json,
    tally,
    violation_object,
    write_blocks,
)
from sidecheck_server.cli.rows import is_terminal
from sidecheck_server.cli.transcripts import Line, read_transcript
from sidecheck_server.core.errors import RequestError
from sidecheck_server.core.mcp.context import DEFAULT_VERSION, Context
from sidecheck_server.core.mcp.subjects import CheckRequest, ProtocolMessage, ReportLimits
from sidecheck_server.core.types import Severity, Verdict, Violation
from sidecheck_server.services.checks import RequestContext, SessionChecker
from sidecheck_server.services.container import Services

__all__ = ["lint_messages"]

_MAX_VIOLATIONS = 100
"""Maximum number of violations per message."""


@click.command(
    "lint-messages",
    epilog=examples(
        "sidecheck lint-messages session.jsonl",
        "sidecheck lint-messages session.jsonl --protocol-version 2025-11-25",
        "sidecheck lint-messages monday.jsonl tuesday.jsonl --min-severity error",
        "sidecheck lint-messages last-hour.jsonl --partial",
        "my-proxy --dump | sidecheck lint-messages -",
    ),
)
@click.argument("files", type=FILE, nargs=-1, required=True, metavar="FILE...")
@version_option("[default: the version negotiated in the messages]")
@click.option(
    "--partial",
    is_flag=True,
    help="The session does not begin with the first line: apply no rules that need all of it.",
)
@min_severity_option
@form_option
@excerpts_option
@click.pass_context
def lint_messages(
    context: click.Context,
    files: tuple[str, ...],
    protocol_version: str | None,
    partial: bool,
    min_severity: str,
    form: str,
    excerpts: bool | None,
) -> None:
    """Check each message of each FILE, a transcript of one session; - reads standard input.

    Each line is JSON: a message (or a batch), or an object with "message" and
    optionally "direction", the sender ("client" or "client-to-server"; "server" or
    "server-to-client"), "request_method", for a response the method of its request, and
    "http", an object with the "status" of the HTTP response: a message of the client
    with 400 or more was rejected, and takes no part in the session. Other properties of
    the object and blank lines are ignored.

    The lines of a file are one session, in order: responses are matched with their requests as
    far as directions and methods allow. Locations point into the line.

    What is true of many messages, such as that logging is deprecated, is reported once
    for the session or the tool, with the number of messages. So is, as text, what several
    messages repeat about the same tool or method.

    With --format json the output is a list with an object per line that is not blank:
    "file", "line" (from 1), "ok" (no errors), and "violations", each as in a verdict, with its
    "line" and "column", and with the number of messages as "messages" if it is reported
    once for all of them.

    Exits with 0 if no message has an error, with 1 if one has, and with 2 if the
    command is wrong or a file cannot be read.
    """
    texts = [(file, read_input(file)) for file in files]
    session = RequestContext(
        Context(version=protocol_version or DEFAULT_VERSION),
        ReportLimits(_MAX_VIOLATIONS, min_severity=Severity(min_severity)),
        names_version=protocol_version is not None,
        from_beginning=not partial,
    )
    sessions = run_in_process(lambda services: _lint_each(services, texts, session))
    _write(form, sessions, excerpts=excerpts)
    context.exit(0 if all(outcome.ok for outcomes in sessions for outcome in outcomes) else 1)


@dataclass(frozen=True, slots=True)
class _Outcome:
    """Outcome of the message on one line."""

    #: Name of the file.
    file: str
    #: Number of the line, from 1.
    line: int
    ok: bool
    truncated: bool
    findings: tuple[Finding, ...]
    #: By code, the number of messages that have a violation that is reported here only.
    messages: Mapping[str, int]

    def as_object(self) -> dict[str, Any]:
        """Return the outcome as a JSON object."""
        return {
            "file": self.file,
            "line": self.line,
            "ok": self.ok,
            "violations": [self._violation_object(finding) for finding in self.findings],
        }

    def findings_with_counts(self) -> list[Finding]:
        """Return the findings, with the number of messages in the texts of those that have one."""
        return [
            with_count(finding, self.messages.get(finding.violation.code, 1))
            for finding in self.findings
        ]

    def _violation_object(self, finding: Finding) -> dict[str, Any]:
        value = violation_object(finding)
        if finding.violation.code in self.messages:
            value["messages"] = self.messages[finding.violation.code]
        return value


async def _lint_each(
    services: Services, texts: Sequence[tuple[str, bytes]], context: RequestContext
) -> list[list[_Outcome]]:
    """Return the outcomes of each of *texts*, the names and contents of files."""
    return [await _lint(services, name, text, context) for name, text in texts]


async def _lint(
    services: Services, name: str, text: bytes, context: RequestContext
) -> list[_Outcome]:
    """Return an outcome per line of *text*, the content of the file *name*, in order."""
    lines = list(read_transcript(text, LIMITS))
    session = SessionChecker(services.protocol_checker, LIMITS, context)
    verdicts = [
        await _check(session, line, context)
        for line in with_progress(lines, len(lines), "Checking messages")
    ]
    messages: defaultdict[int, dict[str, int]] = defaultdict(dict)
    for repetition in session.repetitions():
        messages[repetition.first][repetition.code] = repetition.count
    return [
        _outcome(name, line, verdict, messages.get(line.number, {}))
        for line, verdict in zip(lines, verdicts, strict=True)
    ]


async def _check(session: SessionChecker, line: Line, context: RequestContext) -> Verdict:
    request = CheckRequest(
        ProtocolMessage(line.message, line.request_method),
        replace(context.context, sender=line.sender),
        context.limits,
    )
    try:
        report = await session.check(request, number=line.number, http_status=line.http_status)
    except RequestError as error:
        return Verdict((Violation("", "", "", error.reason.value, error.message),))
    return report.verdict


def _outcome(name: str, line: Line, verdict: Verdict, messages: Mapping[str, int]) -> _Outcome:
    # The source is the line alone: a transcript as a whole is not JSON.
    source = Source(name, line.text)
    violations = [
        *line.faults,
        *(
            replace(violation, instance_location=line.pointer + violation.instance_location)
            for violation in verdict.violations
        ),
    ]
    return _Outcome(
        name,
        line.number,
        not any(violation.severity is Severity.ERROR for violation in violations),
        verdict.truncated,
        _in_file(find_violations(source, violations), line.number),
        messages,
    )


# A message is one line of the file: only the column tells where in it.
_IN_LINE = re.compile(r" at line 1, column (?=\d)")


def _in_file(findings: Sequence[Finding], number: int) -> tuple[Finding, ...]:
    """Return *findings* in a line with positions in the file, whose line *number* it is."""
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


def _write(form: str, sessions: Sequence[list[_Outcome]], *, excerpts: bool | None) -> None:
    outcomes = [outcome for session in sessions for outcome in session]
    if form == "json":
        write_output(in_json([outcome.as_object() for outcome in outcomes]))
        return
    findings = [finding for outcome in outcomes for finding in outcome.findings]
    grouped = [
        group
        for session in sessions
        for group in group_repeated([each.findings_with_counts() for each in session], LIMITS)
    ]
    reported = sum(map(len, grouped))
    repeated = f", {reported:,} without repetitions" if reported < len(findings) else ""
    write_blocks(
        [
            Block(
                findings=first,
                note="... there may be more" if outcome.truncated else "",
            )
            for outcome, first in zip(outcomes, grouped, strict=True)
        ],
        f"{counted(len(outcomes), 'message')}, {tally(findings)}{repeated}",
        excerpts=is_terminal() if excerpts is None else excerpts,
    )
