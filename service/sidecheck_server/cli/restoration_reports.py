"""What `sidecheck restore` says: the params, what was changed, and what is wrong."""

import json
from collections.abc import Iterator
from typing import Any

from sidecheck_server.cli.files import write_output
from sidecheck_server.cli.findings import Finding, Spot, find
from sidecheck_server.cli.reports import (
    Block,
    counted,
    in_json,
    problem_object,
    tally,
    write_blocks,
)
from sidecheck_server.cli.restorations import Restored
from sidecheck_server.cli.rows import Row, is_terminal, printable, write_rows
from sidecheck_server.cli.tables import table

__all__ = ["write_restored"]


def write_restored(form: str, restored: Restored, *, excerpts: bool | None) -> None:
    """Write the params of *restored* to standard output in the format *form*.

    In text, the rest goes to standard error. *excerpts* says whether places are shown; on
    a terminal they are if it is None.
    """
    if form == "json":
        write_output(in_json(_object(restored)))
        return
    if restored.params:
        write_output(restored.params)
    if restored.changes:
        write_rows(_changes(restored), aside=True)
    findings = _findings(restored)
    word = ("valid", "bold green") if restored.verdict.valid else ("invalid", "bold red")
    what = printable(restored.tool or restored.source.name)
    more = "... there may be more" if restored.verdict.truncated else ""
    said = tally(findings)
    if restored.changes:
        said += f", {counted(len(restored.changes), 'change')}"
    shown = is_terminal(aside=True) if excerpts is None else excerpts
    block = Block(((f"{what}: ", "bold"), word), findings, more)
    write_blocks([block], said, excerpts=shown, aside=True)


def _changes(restored: Restored) -> Iterator[Row]:
    lines = [
        ("changed", one.pointer or "(root)", one.rule.value, one.message)
        for one in restored.changes
    ]
    yield from table(lines, ("bold", "cyan", "bold", ""))


def _object(restored: Restored) -> dict[str, Any]:
    return {
        "server": restored.server,
        "tool": restored.tool,
        "call_id": restored.call_id,
        "params": json.loads(restored.params) if restored.params else None,
        "valid": restored.verdict.valid,
        "violations": [
            {name: value for name, value in problem_object(found).items() if name not in _PLACE}
            for found in _findings(restored)
        ],
        "changes": [
            {"pointer": one.pointer, "code": one.rule.value, "message": one.message}
            for one in restored.changes
        ],
        "tool_error_text": restored.tool_error_text,
    }


def _findings(restored: Restored) -> list[Finding]:
    found = restored.verdict.violations
    return find(
        restored.source, [Spot(each, restored.at + each.instance_location) for each in found]
    )


# In JSON the params have no lines of their own.
_PLACE = ("line", "column")
