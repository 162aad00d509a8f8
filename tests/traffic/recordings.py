"""Recorded sessions of real implementations, and what the checks find in them.

A finding is a kind of violation: severity, code, and the first two steps of its location,
such as ``error TYPE /params/arguments``.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from sidecheck_server.cli.message_logs.messages import LoggedMessage
from sidecheck_server.cli.message_logs.transcript import read_transcript
from sidecheck_server.core.errors import RequestError
from sidecheck_server.core.evaluate import EvaluationOptions
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.mcp.check import check
from sidecheck_server.core.mcp.context import DEFAULT_VERSION, Context
from sidecheck_server.core.mcp.protocol_schemas import SchemaLookup, compile_protocol_schemas
from sidecheck_server.core.mcp.sessions.session import Session
from sidecheck_server.core.mcp.subjects import ProtocolMessage, ReportLimits
from sidecheck_server.core.types import Violation
from support.session_checks import SchemaCompiler, caching_compiler, record, resolve_all_deferred
from support.shared_material import shared

__all__ = [
    "Located",
    "count_findings",
    "locate_in",
    "locate_violations",
    "read_lines",
    "recordings",
]

_LIMITS = Limits()
_REPORT = ReportLimits(max_violations=1000)
_OPTIONS = EvaluationOptions(max_violations=1000)


@dataclass(frozen=True)
class Located:
    """A violation in a line of a recording."""

    line: int
    message: bytes
    violation: Violation

    @property
    def finding(self) -> str:
        """The kind of violation, such as ``error TYPE /params/arguments``."""
        violation = self.violation
        place = "/".join(violation.instance_location.split("/")[:3])
        return f"{violation.severity} {violation.code} {place}".rstrip()


def recordings() -> dict[str, Path]:
    """Return the recordings by folder and name, or skip the test where there are none."""
    root = shared("traffic")
    return {path.relative_to(root).as_posix(): path for path in sorted(root.glob("*/*.jsonl"))}


def count_findings(path: Path) -> dict[str, int]:
    """Return the number of violations of each kind in the recording at *path*."""
    return dict(sorted(Counter(located.finding for located in locate_violations(path)).items()))


def locate_violations(path: Path) -> Iterator[Located]:
    """Yield the violations in the recording at *path*, as `sidecheck lint-messages` finds them.

    The recording is one session, and its version that of its messages.
    """
    return locate_in(read_lines(path))


def read_lines(path: Path) -> list[LoggedMessage]:
    """Return the messages of the recording at *path*."""
    lines = list(read_transcript(path.read_bytes(), _LIMITS))
    assert not any(line.faults for line in lines), path
    return lines


def locate_in(
    lines: Iterable[LoggedMessage], *, version: str = "", from_beginning: bool = True
) -> Iterator[Located]:
    """Yield the violations in *lines*, which are one session.

    Its version is that of its messages, unless *version* is given.
    """
    context = Context(version=version or DEFAULT_VERSION)
    session = Session(context, pinned=bool(version), from_beginning=from_beginning)
    for line in lines:
        for violation in _check(session, line):
            yield Located(line.number, line.message, violation)


def _check(session: Session, line: LoggedMessage) -> tuple[Violation, ...]:
    """Return the violations of the message of *line*, the next of *session*."""
    message = ProtocolMessage(line.message, line.request_method)
    request = session.check_request(message, line.sender, _REPORT)
    try:
        checked = check(request, _LIMITS, _protocol_schemas())
    except RequestError as error:
        session.record_gap()
        return (Violation("", "", "", error.reason.value, error.message),)
    record(session, request, checked, http_status=line.http_status)
    resolve_all_deferred(checked, _LIMITS, _OPTIONS, _compiler())
    verdict = checked.findings.verdict()
    assert not verdict.truncated
    return verdict.violations


@cache
def _protocol_schemas() -> SchemaLookup:
    return compile_protocol_schemas(_LIMITS)


@cache
def _compiler() -> SchemaCompiler:
    """Return a compiler that the recordings share: many of them list the same tools."""
    return caching_compiler(_LIMITS)
