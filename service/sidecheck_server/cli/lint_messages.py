"""`sidecheck lint-messages`: check the messages of transcripts offline."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import click
import msgspec

from sidecheck_server.cli.files import read_input, write_output
from sidecheck_server.cli.findings import Finding, Source, find_violations
from sidecheck_server.cli.in_process import LIMITS, run_in_process
from sidecheck_server.cli.options import (
    FILE,
    excerpts_option,
    form_option,
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
from sidecheck_server.cli.rows import is_terminal
from sidecheck_server.core.errors import RequestError
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.mcp.context import DEFAULT_VERSION, Context, Sender
from sidecheck_server.core.mcp.subjects import CheckRequest, ProtocolMessage, ReportLimits
from sidecheck_server.core.payload import MalformedError, decode
from sidecheck_server.core.payload.faults import line_and_column
from sidecheck_server.core.types import Severity, Verdict, Violation, pointer_steps
from sidecheck_server.services.checks import RequestContext, SessionChecker
from sidecheck_server.services.container import Services

__all__ = [
    "DIRECTIONS",
    "Line",
    "group_repeated",
    "lint_messages",
    "read_transcript",
    "with_count",
]

DIRECTIONS = {
    "client": Sender.CLIENT,
    "client-to-server": Sender.CLIENT,
    "server": Sender.SERVER,
    "server-to-client": Sender.SERVER,
}
"""Senders by the value of "direction" in a line."""

TRANSCRIPT_LINE = "TRANSCRIPT_LINE"
"""Code of violations in the object around a message."""


_STATUSES = range(100, 600)


@dataclass(frozen=True, slots=True)
class Line:
    """Non-blank line of a transcript."""

    #: Number of the line, from 1.
    number: int
    text: bytes
    #: JSON text of its message.
    message: bytes
    #: Location of the message in the line, as a JSON Pointer.
    pointer: str = ""
    sender: Sender | None = None
    #: For a response, the method of its request, or "".
    request_method: str = ""
    #: Status of the HTTP response to the message, or 0.
    http_status: int = 0
    #: Violations in the object around the message.
    faults: tuple[Violation, ...] = ()


def read_transcript(text: bytes, limits: Limits) -> Iterator[Line]:
    """Yield the non-blank lines of *text*."""
    for number, line in enumerate(text.split(b"\n"), 1):
        if line.strip():
            yield _read_line(number, line.removesuffix(b"\r"), limits)


def _read_line(number: int, text: bytes, limits: Limits) -> Line:
    wrapper = _read_wrapper(text, limits)
    if wrapper is None:
        return Line(number, text, text)
    faults = []
    direction, method = wrapper.get("direction"), wrapper.get("request_method")
    sender = DIRECTIONS.get(direction) if isinstance(direction, str) else None
    if sender is None and direction is not None:
        names = ", ".join(f'"{name}"' for name in DIRECTIONS)
        faults.append(_fault("/direction", f"unknown direction; expected one of {names}"))
    if method is not None and not isinstance(method, str):
        faults.append(_fault("/request_method", "expected the name of a method, as a string"))
    http = wrapper.get("http")
    status = http.get("status") if isinstance(http, dict) else None
    valid_status = status if type(status) is int and status in _STATUSES else 0
    if status is not None and not valid_status:
        lowest, highest = _STATUSES[0], _STATUSES[-1]
        message = f"expected a status of HTTP, an integer from {lowest} to {highest}"
        faults.append(_fault("/http/status", message))
    return Line(
        number,
        text,
        bytes(msgspec.json.decode(text, type=dict[str, msgspec.Raw])["message"]),
        "/message",
        sender,
        method if isinstance(method, str) else "",
        valid_status,
        tuple(faults),
    )


def _read_wrapper(text: bytes, limits: Limits) -> dict[str, Any] | None:
    """Return the object around a message, None if there is none or it is unreadable."""
    if len(text) > limits.payload_bytes:
        return None
    try:
        # The object adds one level of nesting to its message.
        value = decode(text, max_depth=limits.payload_depth + 1)
    except (MalformedError, RequestError):
        return None
    if isinstance(value, dict) and "message" in value and "jsonrpc" not in value:
        return value
    return None


def _fault(pointer: str, message: str) -> Violation:
    return Violation(pointer, "", "", TRANSCRIPT_LINE, message)


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


@click.command(
    "lint-messages",
    epilog=format_examples(
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

    A violation that applies to many messages, such as the use of a deprecated feature, is
    reported once for the session or the tool, with the number of messages. The text format also
    reports once a violation that several messages repeat for the same tool or method.

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
    sessions = run_in_process(lambda services: _lint_files(services, texts, session))
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


async def _lint_files(
    services: Services, texts: Sequence[tuple[str, bytes]], context: RequestContext
) -> list[list[_Outcome]]:
    """Return the outcomes of each file of *texts*, pairs of name and content."""
    return [await _lint(services, name, text, context) for name, text in texts]


async def _lint(
    services: Services, name: str, text: bytes, context: RequestContext
) -> list[_Outcome]:
    """Return an outcome for each line of *text*, the content of the file *name*."""
    lines = list(read_transcript(text, LIMITS))
    session = SessionChecker(services.protocol_checker, LIMITS, context)
    verdicts = [
        await _check(session, line, context)
        for line in with_progress(lines, len(lines), "Checking messages")
    ]
    messages: defaultdict[int, dict[str, int]] = defaultdict(dict)
    # Decision 0055: a violation that is true of every message is reported once, with its count.
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
    # The source is the single line, because a whole transcript is not JSON.
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


def _in_line(finding: Finding) -> Violation:
    """Return the violation of *finding* with only the column as its position."""
    violation = finding.violation
    if violation.offset is None:
        return violation
    position = f" at {line_and_column(finding.source.text, violation.offset)}"
    message = f"{violation.message.removesuffix(position)} at column {finding.place.column}"
    return replace(violation, message=message)


def _in_file(findings: Sequence[Finding], number: int) -> tuple[Finding, ...]:
    """Return *findings* of the line *number* with positions in the whole file."""
    return tuple(
        replace(
            finding,
            violation=_in_line(finding),
            place=replace(finding.place, line=number, end_line=number),
        )
        for finding in findings
    )


def _write(form: str, sessions: Sequence[list[_Outcome]], *, excerpts: bool | None) -> None:
    outcomes = [outcome for session in sessions for outcome in session]
    if form == "json":
        write_output(format_json([outcome.as_object() for outcome in outcomes]))
        return
    findings = [finding for outcome in outcomes for finding in outcome.findings]
    groups = [
        group
        for session in sessions
        for group in group_repeated([outcome.findings_with_counts() for outcome in session], LIMITS)
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
