"""What commands say of findings: text for people, JSON for programs."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sidecheck_server.cli.findings import Finding, count
from sidecheck_server.cli.rows import Part, Row, page_width, printable, write_rows
from sidecheck_server.core.types import Severity

__all__ = ["STYLES", "Block", "counted", "in_json", "problem_object", "tally", "write_blocks"]

STYLES = {
    Severity.ERROR: "bold red",
    Severity.WARNING: "bold yellow",
    Severity.INFO: "bold cyan",
}
_WIDEST = 48
"""Columns that are wider than this are not aligned with the others."""


@dataclass(frozen=True, slots=True)
class Block:
    """What is said of one thing: a row, its findings, and what is to be added."""

    heading: tuple[Part, ...] = ()
    findings: Sequence[Finding] = ()
    note: str = ""

    def in_order(self) -> list[Finding]:
        """Return the findings in the order of their places."""
        return sorted(self.findings, key=lambda finding: finding.place.start)


def write_blocks(
    blocks: Sequence[Block], summary: str, *, excerpts: bool, aside: bool = False
) -> None:
    """Write *blocks* to standard output, and a line at the end that sums them up.

    What is said *aside* goes to standard error.
    """
    rows = _long_rows(blocks, page_width(aside=aside)) if excerpts else _short_rows(blocks)
    write_rows([*rows, Row(((summary, "bold"),))], aside=aside)


def in_json(value: Any) -> str:
    """Return *value* as JSON in ASCII, for a terminal or a pipe alike."""
    return json.dumps(value, indent=2)


def problem_object(finding: Finding) -> dict[str, Any]:
    """Return the members of *finding* in JSON."""
    found = finding.violation
    return {
        "code": found.code,
        "severity": found.severity.value,
        "keyword": found.keyword,
        "instance_location": found.instance_location,
        "keyword_location": found.keyword_location,
        "message": found.message,
        "suggestion": found.suggestion,
        "clause": found.clause,
        "line": finding.place.line,
        "column": finding.place.column,
    }


def counted(number: int, noun: str) -> str:
    """Return "1 tool" or "2 tools"."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def tally(findings: Sequence[Finding]) -> str:
    """Return how many errors, warnings and notes there are."""
    nouns = ((Severity.ERROR, "error"), (Severity.WARNING, "warning"), (Severity.INFO, "note"))
    counts = [(count(findings, severity), noun) for severity, noun in nouns]
    return ", ".join(counted(*each) for each in counts if each[0]) or "no problems"


def _short_rows(blocks: Sequence[Block]) -> Iterator[Row]:
    """Yield a row for each finding, with columns that are aligned over all blocks."""
    cells = [[_cells(finding) for finding in block.in_order()] for block in blocks]
    every = [each for block in cells for each in block]
    widths = [
        min(max((len(each[column]) for each in every), default=0), _WIDEST) for column in range(4)
    ]
    for block, lines in zip(blocks, cells, strict=True):
        if block.heading:
            yield Row(block.heading)
        for finding, line in zip(block.in_order(), lines, strict=True):
            style = STYLES[finding.violation.severity]
            padded = [f"{cell:<{width}}" for cell, width in zip(line, widths, strict=True)]
            location, severity, code, place = padded
            said = printable(finding.violation.message)
            yield Row(
                (
                    (f"{location} ", ""),
                    (f"{severity}  ", style),
                    (f"{code}  ", "bold"),
                    (f"{place}  ", "cyan"),
                    (said, ""),
                ),
                wraps=False,
            )
        if block.note:
            yield Row(((block.note, ""),))


def _cells(finding: Finding) -> tuple[str, str, str, str]:
    found = finding.violation
    place = " ".join(filter(None, (finding.tool, found.instance_location)))
    return (
        f"{_location(finding)}:",
        found.severity.value,
        found.code,
        printable(place) or "(root)",
    )


def _long_rows(blocks: Sequence[Block], width: int) -> Iterator[Row]:
    """Yield several rows for each finding: what, where, and an excerpt of its source."""
    from sidecheck_server.cli.excerpts import excerpt_rows  # noqa: PLC0415  (reads rich)

    for block in blocks:
        if block.heading:
            yield Row(block.heading)
        for finding in block.in_order():
            found = finding.violation
            style = STYLES[found.severity]
            where: list[Part] = [(f"{_location(finding)}: ", "bold")]
            where += [(f"{found.severity.value} ", style), (found.code, "bold")]
            if finding.tool:
                where += [(" in ", ""), (printable(finding.tool), "bold")]
            if found.instance_location:
                where += [(" at ", ""), (printable(found.instance_location), "cyan")]
            yield Row(tuple(where))
            yield Row(((printable(found.message), ""),), indent=2)
            if found.clause:
                yield Row(((printable(found.clause), "dim"),), indent=2)
            yield from excerpt_rows(finding, width, style)
            yield Row()
        if block.note:
            yield Row(((block.note, ""),))


def _location(finding: Finding) -> str:
    return f"{printable(finding.source.name)}:{finding.place.line}:{finding.place.column}"
