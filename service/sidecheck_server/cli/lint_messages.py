"""`sidecheck lint-messages`: check the messages of transcripts and logs offline."""

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import click

from sidecheck_server.cli.files import read_input, write_output
from sidecheck_server.cli.findings import Finding, Place, Source, find_violations
from sidecheck_server.cli.in_process import LIMITS, run_in_process
from sidecheck_server.cli.message_logs.forms import FORMS, find_form
from sidecheck_server.cli.message_logs.messages import LoggedMessage, MessageLog, NotThisFormError
from sidecheck_server.cli.options import (
    FILE,
    excerpts_option,
    format_examples,
    min_severity_option,
    version_option,
)
from sidecheck_server.cli.progress import with_progress
from sidecheck_server.cli.reports import (
    Block,
    format_count,
    format_json,
    format_severities,
    violation_object,
    write_blocks,
)
from sidecheck_server.cli.rows import escape, is_terminal
from sidecheck_server.cli.sarif import sarif_log
from sidecheck_server.core.errors import RequestError
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.mcp.context import DEFAULT_VERSION, Context
from sidecheck_server.core.mcp.subjects import CheckRequest, ProtocolMessage, ReportLimits
from sidecheck_server.core.payload import MalformedError, decode
from sidecheck_server.core.payload.faults import line_and_column
from sidecheck_server.core.types import Severity, Verdict, Violation, pointer_steps
from sidecheck_server.services.checks import RequestContext, SessionChecker
from sidecheck_server.services.container import Services

__all__ = ["group_repeated", "lint_messages", "with_count"]

_Key: TypeAlias = tuple[object, ...]

#: Properties that identify the subject of an object.
_IDENTIFYING_PROPERTIES = ("method", "name", "uri")


def group_repeated(messages: Sequence[Sequence[Finding]], limits: Limits) -> list[list[Finding]]:
    """Return the findings of *messages* without repetitions of earlier messages.

    The text of a repeated finding ends in the number of messages that have it. Two findings
    are equal if they have the same code, severity and text, and the same path of properties
    and names of the objects on it; array indexes are ignored.
    """
    keys_by_message = [_keys_of(findings, limits) for findings in messages]
    counts = Counter(key for keys in keys_by_message for key in keys)
    reported_keys: set[_Key] = set()
    groups: list[list[Finding]] = []
    for findings, keys in zip(messages, keys_by_message, strict=True):
        first_findings = [
            with_count(finding, counts[key])
            for finding, key in zip(findings, keys, strict=True)
            if key not in reported_keys
        ]
        reported_keys.update(keys)
        groups.append(first_findings)
    return groups


def with_count(finding: Finding, count: int) -> Finding:
    """Return *finding* with *count*, the number of messages that have it, in its text."""
    if count == 1:
        return finding
    violation = finding.violation
    message = f"{violation.message} (in {count:,} messages, first here)"
    return replace(finding, violation=replace(violation, message=message))


def _keys_of(findings: Sequence[Finding], limits: Limits) -> list[_Key]:
    """Return a distinct key for each of *findings*, which are those of one message."""
    if not findings:
        return []
    try:
        value: Any = decode(findings[0].source.text, max_depth=limits.payload_depth + 1)
    except MalformedError:
        value = None
    occurrences: defaultdict[_Key, int] = defaultdict(int)
    keys = []
    for finding in findings:
        violation = finding.violation
        key = (
            violation.code,
            violation.severity,
            violation.message,
            *_names_around(value, violation.instance_location),
        )
        occurrences[key] += 1
        keys.append((*key, occurrences[key]))
    return keys


def _names_around(value: Any, pointer: str) -> tuple[object, ...]:
    """Return the steps of *pointer* without indexes, and names of objects on its path."""
    names: list[object] = []
    for step in (*pointer_steps(pointer), ""):
        if isinstance(value, Mapping):
            names += [
                value.get(name)
                for name in _IDENTIFYING_PROPERTIES
                if isinstance(value.get(name), str)
            ]
            names.append(step)
            value = value.get(step)
        elif isinstance(value, list) and step.isdecimal() and int(step) < len(value):
            value = value[int(step)]
        else:
            names.append(step)
            value = None
    return tuple(names)


_MAX_VIOLATIONS = 100
"""Maximum number of violations per message."""

MESSAGE_INCOMPLETE = "MESSAGE_INCOMPLETE"
"""Code of the violation of a message that its log has only in part."""

_OPENING = re.compile(rb'"method"\s*+:\s*+"(?:initialize|server/discover)"')
"""Method of the first message of a session."""


@click.command(
    "lint-messages",
    epilog=format_examples(
        "sidecheck lint-messages session.jsonl",
        "sidecheck lint-messages session.jsonl --protocol-version 2025-11-25",
        "sidecheck lint-messages monday.jsonl tuesday.jsonl --min-severity error",
        "sidecheck lint-messages last-hour.jsonl --partial",
        "sidecheck lint-messages mcp-server-weather.log",
        "sidecheck lint-messages --format sarif trace.har > sidecheck.sarif",
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
@click.option(
    "--form",
    "log_form",
    type=click.Choice(sorted(FORMS)),
    help="Form of the files.  [default: recognized by their content]",
)
@min_severity_option
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json", "sarif"]),
    default="text",
    show_default=True,
)
@excerpts_option
@click.pass_context
def lint_messages(
    context: click.Context,
    files: tuple[str, ...],
    protocol_version: str | None,
    partial: bool,
    log_form: str | None,
    min_severity: str,
    form: str,
    excerpts: bool | None,
) -> None:
    """Check each message of each FILE, a transcript or a log; - reads standard input.

    Each line of a transcript is JSON: a message (or a batch), or an object with "message" and
    optionally "direction", the sender ("client" or "client-to-server"; "server" or
    "server-to-client"), "request_method", for a response the method of its request, and
    "http", an object with the "status" of the HTTP response: a message of the client
    with 400 or more was rejected, and takes no part in the session. Other properties of
    the object and blank lines are ignored.

    The messages in logs of Claude Desktop, in the output of VS Code, in exports of the MCP
    Inspector and in HAR files are checked too. The number of lines without a message is written
    to standard error. A message that the log has only in part is reported, and not checked.

    The lines of a transcript are one session, in order: responses are matched with their requests
    as far as directions and methods allow. In a log, each initialize begins another session.
    Locations point into the line, or into the message of a log.

    A violation that applies to many messages, such as the use of a deprecated feature, is
    reported once for the session or the tool, with the number of messages. The text format also
    reports once a violation that several messages repeat for the same tool or method.

    With --format json the output is a list with an object per line that is not blank, or per
    message of a log: "file", "line" (from 1), "ok" (no errors), and "violations", each as in a
    verdict, with its "line" and "column", and with the number of messages as "messages" if it is
    reported once for all of them.

    Exits with 0 if no message has an error, with 1 if one has, and with 2 if the
    command is wrong or a file cannot be read.
    """
    logs = [(file, _read_log(file, log_form)) for file in files]
    session = RequestContext(
        Context(version=protocol_version or DEFAULT_VERSION),
        ReportLimits(_MAX_VIOLATIONS, min_severity=Severity(min_severity)),
        names_version=protocol_version is not None,
        from_beginning=not partial,
    )
    outcomes = run_in_process(lambda services: _lint_logs(services, logs, session))
    version = protocol_version or DEFAULT_VERSION
    _write(form, version, [name for name, _ in logs], outcomes, excerpts=excerpts)
    context.exit(0 if all(outcome.ok for log in outcomes for outcome in log) else 1)


def _read_log(file: str, form: str | None) -> MessageLog:
    """Return the messages of *file*; write the number of its other parts to standard error.

    Raises:
        click.UsageError: the file cannot be read, or does not have *form*.
    """
    text = read_input(file)
    name = form or find_form(text)
    try:
        log = FORMS[name].read(text, LIMITS)
    except NotThisFormError as error:
        raise click.UsageError(
            f"cannot read {escape(file)} in the form {name}: {escape(str(error))}"
        ) from None
    if log.skipped:
        skipped = format_count(log.skipped, log.noun)
        note = "is not a message" if log.skipped == 1 else "are not messages"
        click.echo(f"{escape(file)} ({name}): skipped {skipped} that {note}", err=True)
    return log


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
    #: Number of messages with a violation that is reported only here, by code.
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
        """Return the findings, with the number of messages in their texts if it is known."""
        return [
            with_count(finding, self.messages.get(finding.violation.code, 1))
            for finding in self.findings
        ]

    def _violation_object(self, finding: Finding) -> dict[str, Any]:
        value = violation_object(finding)
        if finding.violation.code in self.messages:
            value["messages"] = self.messages[finding.violation.code]
        return value


async def _lint_logs(
    services: Services, logs: Sequence[tuple[str, MessageLog]], context: RequestContext
) -> list[list[_Outcome]]:
    """Return the outcomes of each of *logs*, pairs of name and content."""
    return [await _lint(services, name, log.messages, context) for name, log in logs]


async def _lint(
    services: Services, name: str, messages: Sequence[LoggedMessage], context: RequestContext
) -> list[_Outcome]:
    """Return an outcome for each of *messages*, those of the file *name*."""
    sessions: dict[str, SessionChecker] = {}
    verdicts = []
    numbered = enumerate(messages, 1)
    for number, message in with_progress(numbered, len(messages), "Checking messages"):
        session = sessions.get(message.session)
        if session is None:
            session_context = _context_from(message, context)
            session = SessionChecker(services.protocol_checker, LIMITS, session_context)
            sessions[message.session] = session
        verdicts.append(await _check(session, message, number, context))
    counts: defaultdict[int, dict[str, int]] = defaultdict(dict)
    # Decision 0055: a violation that is true of every message is reported once, with its count.
    for session in sessions.values():
        for repetition in session.repetitions():
            counts[repetition.first][repetition.code] = repetition.count
    return [
        _outcome(name, message, verdict, counts.get(number, {}))
        for number, (message, verdict) in enumerate(zip(messages, verdicts, strict=True), 1)
    ]


def _context_from(first: LoggedMessage, context: RequestContext) -> RequestContext:
    """Return *context* for a session whose first message in its log is *first*."""
    # A log may have been rotated, or begin with the connection of another program.
    begins_late = bool(first.session) and not _OPENING.search(first.message)
    return replace(context, from_beginning=context.from_beginning and not begins_late)


async def _check(
    session: SessionChecker, message: LoggedMessage, number: int, context: RequestContext
) -> Verdict:
    if message.missing:
        session.skip()
        text = f"{message.missing}; this message is not checked"
        return Verdict((Violation("", "", "", MESSAGE_INCOMPLETE, text, Severity.WARNING),))
    request = CheckRequest(
        ProtocolMessage(message.message, message.request_method),
        replace(context.context, sender=message.sender),
        context.limits,
    )
    try:
        report = await session.check(request, number=number, http_status=message.http_status)
    except RequestError as error:
        return Verdict((Violation("", "", "", error.reason.value, error.message),))
    return report.verdict


def _outcome(
    name: str, message: LoggedMessage, verdict: Verdict, counts: Mapping[str, int]
) -> _Outcome:
    # The source is the text of the message, because a whole log is not JSON.
    source = Source(name, message.text)
    violations = [
        *message.faults,
        *(
            replace(violation, instance_location=message.pointer + violation.instance_location)
            for violation in verdict.violations
        ),
    ]
    if message.missing:
        # Its text is not JSON, so there are no values to locate.
        place = Place(0, min(1, len(message.text)), 1, 1, 1, 2)
        findings = [Finding(source, "", "", violation, place) for violation in violations]
    else:
        findings = find_violations(source, violations)
    return _Outcome(
        name,
        message.number,
        not any(violation.severity is Severity.ERROR for violation in violations),
        verdict.truncated,
        tuple(_in_file(finding, message) for finding in findings),
        counts,
    )


def _in_line(finding: Finding) -> Violation:
    """Return the violation of *finding* with only the column as its position."""
    violation = finding.violation
    if violation.offset is None:
        return violation
    position = f" at {line_and_column(finding.source.text, violation.offset)}"
    message = f"{violation.message.removesuffix(position)} at column {finding.place.column}"
    return replace(violation, message=message)


def _in_file(finding: Finding, message: LoggedMessage) -> Finding:
    """Return *finding* in the text of *message* with its position in the whole file."""
    place = finding.place
    if message.is_string:
        end = message.column + 1
        place = replace(
            place,
            line=message.number,
            column=message.column,
            end_line=message.number,
            end_column=end,
        )
        return replace(finding, place=place)
    shift = message.column - 1
    place = replace(
        place,
        line=message.number + place.line - 1,
        column=place.column + (shift if place.line == 1 else 0),
        end_line=message.number + place.end_line - 1,
        end_column=place.end_column + (shift if place.end_line == 1 else 0),
    )
    located = replace(finding, place=place)
    return replace(located, violation=_in_line(located))


def _write(
    form: str,
    version: str,
    names: Sequence[str],
    logs: Sequence[list[_Outcome]],
    *,
    excerpts: bool | None,
) -> None:
    outcomes = [outcome for log in logs for outcome in log]
    if form == "json":
        write_output(format_json([outcome.as_object() for outcome in outcomes]))
        return
    if form == "sarif":
        reported = [finding for outcome in outcomes for finding in outcome.findings_with_counts()]
        write_output(format_json(sarif_log(list(dict.fromkeys(names)), reported, (), version)))
        return
    findings = [finding for outcome in outcomes for finding in outcome.findings]
    groups = [
        group
        for log in logs
        for group in group_repeated([outcome.findings_with_counts() for outcome in log], LIMITS)
    ]
    distinct = sum(map(len, groups))
    note = f", {distinct:,} without repetitions" if distinct < len(findings) else ""
    write_blocks(
        [
            Block(
                findings=group,
                note="... there may be more" if outcome.truncated else "",
            )
            for outcome, group in zip(outcomes, groups, strict=True)
        ],
        f"{format_count(len(outcomes), 'message')}, {format_severities(findings)}{note}",
        excerpts=is_terminal() if excerpts is None else excerpts,
    )
