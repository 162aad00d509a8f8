"""Findings of the proxy, and their report: a line for each, and a summary."""

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Protocol

from sidecheck_server.core.types import Severity, Violation
from sidecheck_server.proxy.checks import NotCheckedError
from sidecheck_server.proxy.finding_words import describe_code
from sidecheck_server.proxy.messages import Direction

__all__ = ["Action", "Finding", "Findings", "Report", "finding_of", "finding_of_error"]

_MAX_NAME_CHARACTERS = 200
"""Maximum length of a reported method or tool name, which peers choose freely."""

_MAX_LOCATION_CHARACTERS = 500
"""Maximum length of a reported pointer, whose keys may come from a message."""

_RECEIVERS = {"client": "server", "server": "client"}


class Action(StrEnum):
    """Action of the proxy on the message or tool of a finding."""

    PASSED = "passed"
    #: Passed although a policy enforces the rule, because of an exemption.
    ALLOWED = "allowed"
    #: The sender gets an error, or the receiver gets one in place of the message.
    REJECTED = "rejected"
    #: Removed without an error to either side.
    DROPPED = "dropped"
    REPAIRED = "repaired"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A fault of a message or tool, and the action on it."""

    #: Sender of the message.
    sender: Direction
    #: Method of the message, or of the request that it answers; "" if unknown.
    method: str = ""
    #: Name of the tool; "" if the finding concerns no tool.
    tool: str = ""
    #: Stable code of the rule, or the reason of an error.
    code: str
    severity: Severity = Severity.ERROR
    #: JSON Pointer into the message.
    location: str = ""
    action: Action = Action.PASSED
    #: Explanation that may contain values of the message.
    message: str = ""
    #: Explanation without values of the message; "" to explain the code.
    note: str = ""
    #: Whether validation was not possible; *code* is then the reason.
    is_unvalidated: bool = False


def finding_of(
    violation: Violation, sender: Direction, method: str, tool: str, action: Action, base: str
) -> Finding:
    """Return the finding of *violation*, whose location is relative to *base*.

    The checks of the proxy omit values from the messages of violations, unless it shows values.
    """
    return Finding(
        sender=sender,
        method=method,
        tool=tool,
        code=violation.code,
        severity=violation.severity,
        location=base + violation.instance_location,
        action=action,
        note=violation.message,
    )


def finding_of_error(
    error: NotCheckedError, sender: Direction, method: str, tool: str = "", *, action: Action
) -> Finding:
    """Return the finding of a message that was not validated because of *error*."""
    return Finding(
        sender=sender,
        method=method,
        tool=tool,
        code=error.reason,
        action=action,
        message=error.message,
        note=f"could not be validated: {describe_code(error.reason)}",
        is_unvalidated=True,
    )


class Findings(Protocol):
    """Receiver of findings and of the count of messages."""

    def count_message(self, sender: Direction) -> None:
        """Count a message from *sender*."""
        ...

    def add(self, finding: Finding) -> None:
        """Add *finding*."""
        ...


class Report:
    """Writes each finding at once, with *write_line* as text and *write_json* as JSON.

    Findings contain values of messages only with *show_values*.
    """

    def __init__(
        self,
        write_line: Callable[[str], None],
        write_json: Callable[[bytes], None] | None = None,
        *,
        show_values: bool = False,
        minimum: Severity = Severity.WARNING,
    ) -> None:
        self._write_line = write_line
        self._write_json = write_json
        self._show_values = show_values
        self._severities = _severities_from(minimum)
        self._messages: Counter[Direction] = Counter()
        self._codes: Counter[str] = Counter()
        self._actions: Counter[Action] = Counter()

    def count_message(self, sender: Direction) -> None:
        """Count a message from *sender*."""
        self._messages[sender] += 1

    def add(self, finding: Finding) -> None:
        """Write *finding*, unless it is below the minimum severity."""
        if finding.severity not in self._severities:
            return
        self._codes[finding.code] += 1
        self._actions[finding.action] += 1
        explanation = finding.message if self._show_values else ""
        explanation = explanation or finding.note or describe_code(finding.code)
        time = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        self._write_line(_render_line(time, finding, explanation))
        if self._write_json is not None:
            self._write_json(_render_json(time, finding, explanation))

    def summary(self) -> str:
        """Return the counts of messages and findings, in one line."""
        from_client, from_server = self._messages["client"], self._messages["server"]
        noun = "message" if from_client == 1 else "messages"
        messages = f"{from_client:,} {noun} from the client, {from_server:,} from the server"
        total = self._codes.total()
        if not total:
            return f"{messages}; no findings"
        actions = ", ".join(f"{count:,} {action}" for action, count in self._actions.items())
        codes = "; ".join(
            f"{_truncate(describe_code(code))} ({code}): {count:,}"
            for code, count in self._codes.most_common()
        )
        noun = "finding" if total == 1 else "findings"
        return f"{messages}; {total:,} {noun} ({actions}): {codes}"


def _render_line(time: str, finding: Finding, explanation: str) -> str:
    """Return the line of *finding*: its context, *explanation*, and the facts for programs."""
    direction = f"{finding.sender}->{_RECEIVERS[finding.sender]}"
    names = [_escape(name) for name in (_truncate(finding.method), _truncate(finding.tool)) if name]
    location = _escape(_truncate(finding.location, _MAX_LOCATION_CHARACTERS))
    place = f"{finding.code} at {location}" if location else finding.code
    facts = f"({place}, {finding.severity}, {finding.action})"
    return f"{' '.join([time, direction, *names])}: {_escape(explanation)} {facts}"


def _render_json(time: str, finding: Finding, explanation: str) -> bytes:
    fields = {
        "time": time,
        "direction": f"{finding.sender}->{_RECEIVERS[finding.sender]}",
        "method": _truncate(finding.method),
        "tool": _truncate(finding.tool),
        "code": finding.code,
        "severity": finding.severity,
        "location": _truncate(finding.location, _MAX_LOCATION_CHARACTERS),
        "action": finding.action,
        "message": explanation,
    }
    return json.dumps({name: value for name, value in fields.items() if value}).encode()


def _truncate(name: str, max_length: int = _MAX_NAME_CHARACTERS) -> str:
    return name if len(name) <= max_length else f"{name[:max_length]}…"


def _escape(text: str) -> str:
    """Return *text* in one line, with control characters escaped."""
    return text if text.isprintable() else json.dumps(text)[1:-1]


def _severities_from(minimum: Severity) -> frozenset[Severity]:
    order = [Severity.INFO, Severity.WARNING, Severity.ERROR]
    return frozenset(order[order.index(minimum) :])
