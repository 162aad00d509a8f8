"""Comparisons as text for people."""

from collections.abc import Iterator

from sidecheck_server.cli.compared_files import ComparedFiles
from sidecheck_server.cli.comparison_summary import (
    other_reading,
    shown_changes,
    shown_payload,
    summary,
    witness_sentence,
)
from sidecheck_server.cli.findings import Finding
from sidecheck_server.cli.rows import Row, printable, write_rows
from sidecheck_server.core.compat.changes import (
    Change,
    Level,
    Reading,
    SetComparison,
    ToolComparison,
    ToolStatus,
)

__all__ = ["write_comparison"]

_STYLES = {
    Level.BREAKING: "bold red",
    Level.UNDECIDED: "bold yellow",
    Level.RISKY: "bold yellow",
    Level.COMPATIBLE: "bold green",
    Level.COSMETIC: "dim",
}


def write_comparison(compared: SetComparison, files: ComparedFiles, reading: Reading) -> None:
    """Write *compared* to standard output: a block for each tool that differs, and a summary.

    Changes that are cosmetic are counted, and not listed.
    """
    differing = [tool for tool in compared.tools if tool.status is not ToolStatus.UNCHANGED]
    changes = [(tool, change) for tool in differing for change in shown_changes(tool, reading)]
    findings = iter(files.find(changes, reading))
    rows: list[Row] = []
    for tool in differing:
        rows += _tool_rows(tool, findings, reading)
    write_rows([*rows, Row(((summary(compared, reading), "bold"),))])


def _tool_rows(
    tool: ToolComparison, findings: Iterator[Finding], reading: Reading
) -> Iterator[Row]:
    level = tool.level(reading)
    yield Row(((f"{printable(tool.name) or '(no name)'}: ", "bold"), (level, _STYLES[level])))
    for schema in tool.schemas:
        if reason := schema.verdicts.of(reading).reason:
            yield Row(((f"{schema.part}: {printable(reason)}", ""),), indent=2)
    shown = shown_changes(tool, reading)
    for change in shown:
        yield from _change_rows(change, next(findings), reading)
    if hidden := len(tool.changes) - len(shown):
        noun = "change is" if hidden == 1 else "changes are"
        yield Row(((f"{hidden} further {noun} cosmetic", "dim"),), indent=2)


def _change_rows(change: Change, finding: Finding, reading: Reading) -> Iterator[Row]:
    effect = change.effects.of(reading)
    location = change.new_location if change.new_location is not None else change.old_location
    position = f"{printable(finding.source.name)}:{finding.place.line}:{finding.place.column}: "
    yield Row(
        (
            (position, ""),
            (f"{effect.level} ", _STYLES[effect.level]),
            (change.code, "bold"),
            (f" {printable(location)}" if location else "", "cyan"),
        ),
        indent=2,
        wraps=False,
    )
    yield Row(((printable(change.message), ""),), indent=4)
    if effect.witness is not None:
        sentence = witness_sentence(change.part, effect.witness)
        yield Row(((f"{shown_payload(effect.witness)} {sentence}", ""),), indent=4)
    written = other_reading(change, reading)
    if written is not None and written.witness is not None:
        text = f"as written: {shown_payload(written.witness)} "
        yield Row(((text + witness_sentence(change.part, written.witness), "dim"),), indent=4)
