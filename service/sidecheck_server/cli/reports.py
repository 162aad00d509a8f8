"""Verdicts and refusals as text for people and as JSON for programs."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import click

from sidecheck_server.core.refusals import Refusal
from sidecheck_server.core.words import Severity, Verdict, Violation

__all__ = ["Report", "as_json", "as_text"]

_COLOURS = {Severity.ERROR: "red", Severity.WARNING: "yellow", Severity.INFO: "blue"}


@dataclass(frozen=True, slots=True)
class Report:
    """What became of one payload."""

    name: str
    outcome: Verdict | Refusal

    @property
    def valid(self) -> bool:
        """Whether it was judged, and is valid."""
        return isinstance(self.outcome, Verdict) and self.outcome.valid


def as_json(reports: Sequence[Report]) -> str:
    """Return a JSON list in ASCII with an object for each report, in their order."""
    return json.dumps([_object(report) for report in reports], indent=2)


def as_text(reports: Sequence[Report]) -> str:
    """Return a block of lines for each report, aligned, and coloured on a terminal.

    Characters that cannot be printed are escaped: names out of a payload must not
    start a line of their own, or talk to the terminal.
    """
    return "\n".join(line for report in reports for line in _lines(report))


def _object(report: Report) -> dict[str, Any]:
    outcome = report.outcome
    if isinstance(outcome, Refusal):
        refusal = {"reason": outcome.reason.value, "message": outcome.message}
        return {"payload": report.name, "refusal": refusal}
    return {
        "payload": report.name,
        "valid": outcome.valid,
        "truncated": outcome.truncated,
        "violations": [_violation(found) for found in outcome.violations],
    }


def _violation(found: Violation) -> dict[str, str]:
    return {
        "code": found.code,
        "severity": found.severity.value,
        "keyword": found.keyword,
        "instance_pointer": found.instance_pointer,
        "schema_pointer": found.schema_pointer,
        "message": found.message,
        "suggestion": found.suggestion,
    }


def _lines(report: Report) -> list[str]:
    outcome = report.outcome
    name = _printable(report.name)
    if isinstance(outcome, Refusal):
        said = _printable(f"{outcome.reason.value}: {outcome.message}")
        return [f"{name}: {click.style('refused', fg='red', bold=True)}", f"  {said}"]
    head = click.style("valid", fg="green") if outcome.valid else click.style("invalid", fg="red")
    lines = [f"{name}: {head}"]
    places = [_printable(found.instance_pointer) or "(root)" for found in outcome.violations]
    width = min(max(map(len, places), default=0), 40)
    codes = max((len(found.code) for found in outcome.violations), default=0)
    for place, found in zip(places, outcome.violations, strict=True):
        code = click.style(f"{found.code:<{codes}}", fg=_COLOURS[found.severity])
        lines.append(f"  {place:<{width}}  {code}  {_printable(found.message)}")
    if outcome.truncated:
        lines.append("  ... there may be more; see --max-violations")
    return lines


def _printable(text: str) -> str:
    return "".join(each if each.isprintable() else json.dumps(each)[1:-1] for each in text)
