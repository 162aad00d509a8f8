"""Reports of findings, as text and JSON."""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from sidecheck_server.cli.findings import Finding, count
from sidecheck_server.cli.rows import Part, Row, escape, page_width, write_rows
from sidecheck_server.core.exact_numbers import ExactNumber
from sidecheck_server.core.types import Severity

__all__ = [
    "STYLES",
    "Block",
    "format_count",
    "format_json",
    "format_severities",
    "violation_object",
    "write_blocks",
]

STYLES = {
    Severity.ERROR: "bold red",
    Severity.WARNING: "bold yellow",
    Severity.INFO: "bold cyan",
}
_MAX_COLUMN_WIDTH = 48
"""Maximum width of an aligned column, in characters."""


@dataclass(frozen=True, slots=True)
class Block:
    """Heading, findings and note of one subject, such as a tool."""

    heading: tuple[Part, ...] = ()
    findings: Sequence[Finding] = ()
    note: str = ""

    def sorted_findings(self) -> list[Finding]:
        """Return the findings, sorted by position."""
        return sorted(self.findings, key=lambda finding: finding.place.start)


def write_blocks(
    blocks: Sequence[Block], summary: str, *, excerpts: bool, to_stderr: bool = False
) -> None:
    """Write *blocks* and a summary to standard output, or *to_stderr*."""
    rows = _long_rows(blocks, page_width(to_stderr=to_stderr)) if excerpts else _short_rows(blocks)
    write_rows([*rows, Row(((summary, "bold"),))], to_stderr=to_stderr)


def format_json(value: Any) -> str:
    """Return *value* as indented JSON in ASCII, which any encoding can represent."""
    marker = uuid4().hex
    text = json.dumps(_mark_numbers(value, marker), indent=2)
    return re.sub(f'"{marker}([^"]+)"', r"\1", text) if marker in text else text


def _mark_numbers(value: Any, marker: str) -> Any:
    """Return *value* with *marker* and the text in place of each exact number.

    json.dumps would round the numbers.
    """
    if isinstance(value, dict):
        return {name: _mark_numbers(part, marker) for name, part in value.items()}
    if isinstance(value, list):
        return [_mark_numbers(part, marker) for part in value]
    return f"{marker}{value.text}" if isinstance(value, ExactNumber) else value


def violation_object(finding: Finding) -> dict[str, Any]:
    """Return *finding* as a JSON object."""
    violation = finding.violation
    return {
        "code": violation.code,
        "severity": violation.severity.value,
        "keyword": violation.keyword,
        "instance_location": violation.instance_location,
        "keyword_location": violation.keyword_location,
        "message": violation.message,
        "suggestion": violation.suggestion,
        "spec_url": violation.spec_url,
        "line": finding.place.line,
        "column": finding.place.column,
    }


def format_count(number: int, noun: str) -> str:
    """Return *number* and *noun*, in the plural unless *number* is 1: "2 tools"."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def format_severities(findings: Sequence[Finding]) -> str:
    """Return the number of findings by severity, such as "1 error, 2 warnings"."""
    nouns = ((Severity.ERROR, "error"), (Severity.WARNING, "warning"), (Severity.INFO, "note"))
    counts = [(count(findings, severity), noun) for severity, noun in nouns]
    return ", ".join(format_count(*pair) for pair in counts if pair[0]) or "no violations"


def _short_rows(blocks: Sequence[Block]) -> Iterator[Row]:
    """Yield a row for each finding, with columns aligned over all blocks."""
    cells = [[_cells(finding) for finding in block.sorted_findings()] for block in blocks]
    all_lines = [line for block in cells for line in block]
    widths = [
        min(max((len(line[column]) for line in all_lines), default=0), _MAX_COLUMN_WIDTH)
        for column in range(4)
    ]
    for block, lines in zip(blocks, cells, strict=True):
        if block.heading:
            yield Row(block.heading)
        for finding, line in zip(block.sorted_findings(), lines, strict=True):
            style = STYLES[finding.violation.severity]
            padded = [f"{cell:<{width}}" for cell, width in zip(line, widths, strict=True)]
            position, severity, code, location = padded
            message = escape(finding.violation.message)
            yield Row(
                (
                    (f"{position} ", ""),
                    (f"{severity}  ", style),
                    (f"{code}  ", "bold"),
                    (f"{location}  ", "cyan"),
                    (message, ""),
                ),
                wraps=False,
            )
        if block.note:
            yield Row(((block.note, ""),))


def _cells(finding: Finding) -> tuple[str, str, str, str]:
    violation = finding.violation
    location = " ".join(filter(None, (finding.tool, violation.instance_location)))
    return (
        f"{_position(finding)}:",
        violation.severity.value,
        violation.code,
        escape(location) or "(root)",
    )


def _long_rows(blocks: Sequence[Block], width: int) -> Iterator[Row]:
    """Yield several rows for each finding, with an excerpt of its source."""
    from sidecheck_server.cli.excerpts import excerpt_rows  # noqa: PLC0415  (imports rich)

    for block in blocks:
        if block.heading:
            yield Row(block.heading)
        for finding in block.sorted_findings():
            violation = finding.violation
            style = STYLES[violation.severity]
            heading: list[Part] = [(f"{_position(finding)}: ", "bold")]
            heading += [(f"{violation.severity.value} ", style), (violation.code, "bold")]
            if finding.tool:
                heading += [(" in ", ""), (escape(finding.tool), "bold")]
            if violation.instance_location:
                heading += [(" at ", ""), (escape(violation.instance_location), "cyan")]
            yield Row(tuple(heading))
            yield Row(((escape(violation.message), ""),), indent=2)
            if violation.spec_url:
                yield Row(((escape(violation.spec_url), "dim"),), indent=2)
            yield from excerpt_rows(finding, width, style)
            yield Row()
        if block.note:
            yield Row(((block.note, ""),))


def _position(finding: Finding) -> str:
    return f"{escape(finding.source.name)}:{finding.place.line}:{finding.place.column}"
