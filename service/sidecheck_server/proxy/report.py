"""What the proxy found: findings by line, and their summary."""

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Protocol

from sidecheck_server.core.types import Severity, Violation
from sidecheck_server.proxy.checks import NotCheckedError
from sidecheck_server.proxy.messages import Direction

__all__ = ["Action", "Finding", "Findings", "Report", "finding_of", "finding_of_error"]

_NAME_CHARACTERS = 200
"""Of the name of a method or tool, which is whatever a peer sends."""
_LOCATION_CHARACTERS = 500
"""Most characters of a pointer, whose keys may be those of a message."""

_RECEIVERS = {"client": "server", "server": "client"}


class Action(StrEnum):
    """What became of what a finding is about."""

    PASSED = "passed"
    #: The sender got an error, or the receiver got one in its place.
    REJECTED = "rejected"
    #: Neither side was told.
    DROPPED = "dropped"
    REPAIRED = "repaired"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that was wrong, and what became of it."""

    #: The side whose message it is about.
    sender: Direction
    #: Method of the message, or of the request that it answers; "" if unknown.
    method: str = ""
    #: Name of the tool; "" if it is about none.
    tool: str = ""
    #: Stable code of the rule, or the reason of an error.
    code: str
    severity: Severity = Severity.ERROR
    #: JSON Pointer into the message.
    location: str = ""
    action: Action = Action.PASSED
    #: Explanation that may contain values of the message.
    message: str = ""
    #: Explanation without values of the message.
    note: str = ""
    #: Whether there was no verdict, and the code is the reason.
    is_unvalidated: bool = False


def finding_of(
    violation: Violation, sender: Direction, method: str, tool: str, action: Action, inside: str
) -> Finding:
    """Return the finding of *violation*, whose location lies in the value at *inside*."""
    return Finding(
        sender=sender,
        method=method,
        tool=tool,
        code=violation.code,
        severity=violation.severity,
        location=inside + violation.instance_location,
        action=action,
        message=violation.message,
    )


def finding_of_error(
    error: NotCheckedError, sender: Direction, method: str, tool: str = "", *, passes: bool
) -> Finding:
    """Return the finding of a message that was not validated because of *error*."""
    return Finding(
        sender=sender,
        method=method,
        tool=tool,
        code=error.reason,
        action=Action.PASSED if passes else Action.REJECTED,
        message=error.message,
        note="could not be validated",
        is_unvalidated=True,
    )


class Findings(Protocol):
    """Takes what is found."""

    def count_message(self, sender: Direction) -> None:
        """Note that a message came from *sender*."""
        ...

    def add(self, finding: Finding) -> None:
        """Take *finding*."""
        ...


class Report:
    """Writes findings as they come, by *write_line* as text and by *write_json* as JSON.

    Values of messages are in them only with *show_values*.
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
        self._severities = _at_least(minimum)
        self._messages: Counter[Direction] = Counter()
        self._codes: Counter[str] = Counter()
        self._actions: Counter[Action] = Counter()

    def count_message(self, sender: Direction) -> None:
        """Count a message from *sender*."""
        self._messages[sender] += 1

    def add(self, finding: Finding) -> None:
        """Write *finding*, unless it is less severe than what is reported."""
        if finding.severity not in self._severities:
            return
        self._codes[finding.code] += 1
        self._actions[finding.action] += 1
        explanation = finding.message if self._show_values else ""
        explanation = explanation or finding.note
        time = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        self._write_line(_line(time, finding, explanation))
        if self._write_json is not None:
            self._write_json(_json(time, finding, explanation))

    def summary(self) -> str:
        """Return what passed and what was found, in one line."""
        parts = [
            f"{self._messages['client']:,} messages from the client",
            f"{self._messages['server']:,} from the server",
        ]
        total = self._codes.total()
        if total:
            codes = ", ".join(f"{code} {count:,}" for code, count in self._codes.most_common())
            actions = ", ".join(f"{count:,} {action}" for action, count in self._actions.items())
            parts.append(f"{total:,} findings ({actions}): {codes}")
        else:
            parts.append("no findings")
        return "; ".join(parts)


def _line(time: str, finding: Finding, explanation: str) -> str:
    direction = f"{finding.sender}->{_RECEIVERS[finding.sender]}"
    location = _short(finding.location, _LOCATION_CHARACTERS)
    words = [_short(finding.method), _short(finding.tool), finding.code, location]
    shown = [_printable(word) for word in words if word]
    text = " ".join([time, direction, *shown, f"{finding.severity}, {finding.action}"])
    return f"{text}: {_printable(explanation)}" if explanation else text


def _json(time: str, finding: Finding, explanation: str) -> bytes:
    fields = {
        "time": time,
        "direction": f"{finding.sender}->{_RECEIVERS[finding.sender]}",
        "method": _short(finding.method),
        "tool": _short(finding.tool),
        "code": finding.code,
        "severity": finding.severity,
        "location": _short(finding.location, _LOCATION_CHARACTERS),
        "action": finding.action,
        "message": explanation,
    }
    return json.dumps({name: value for name, value in fields.items() if value}).encode()


def _short(name: str, longest: int = _NAME_CHARACTERS) -> str:
    return name if len(name) <= longest else f"{name[:longest]}…"


def _printable(text: str) -> str:
    """Return *text* in one line, without what controls a terminal."""
    return text if text.isprintable() else json.dumps(text)[1:-1]


def _at_least(minimum: Severity) -> frozenset[Severity]:
    order = [Severity.INFO, Severity.WARNING, Severity.ERROR]
    return frozenset(order[order.index(minimum) :])
