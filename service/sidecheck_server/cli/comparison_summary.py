"""Words that the reports of a comparison share."""

from collections import Counter

from sidecheck_server.cli.reports import counted
from sidecheck_server.cli.rows import printable
from sidecheck_server.core.compat.changes import (
    LEVELS,
    Change,
    Effect,
    Level,
    Part,
    Reading,
    SetComparison,
    ToolComparison,
    ToolStatus,
    Witness,
)

__all__ = ["other_reading", "shown_changes", "shown_payload", "summary", "witness_sentence"]

_LONGEST = 200
"""Longest payload that is shown, in characters; JSON output has all of it."""


def shown_changes(tool: ToolComparison, reading: Reading) -> list[Change]:
    """Return the changes of *tool* that are not cosmetic in both readings, the worst first."""
    changes = [
        change
        for change in tool.changes
        if any(change.effects.of(each).level is not Level.COSMETIC for each in Reading)
    ]
    return sorted(changes, key=lambda change: LEVELS.index(change.effects.of(reading).level))


def other_reading(change: Change, reading: Reading) -> Effect | None:
    """Return the effect of *change* as written, if that is worse than in *reading*."""
    written = change.effects.as_written
    if reading is Reading.AS_WRITTEN or written.level is not Level.BREAKING:
        return None
    return None if change.effects.assume_closed.level is Level.BREAKING else written


def shown_payload(witness: Witness) -> str:
    """Return the payload of *witness* in one line."""
    text = printable(witness.payload.decode())
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def witness_sentence(part: Part, witness: Witness) -> str:
    """Return why *witness* is rejected, after its payload."""
    message = printable(witness.message)
    if part is Part.OUTPUT:
        return f"is allowed now, and was not: {message}"
    return f"was valid, and is not: {message}"


def summary(compared: SetComparison, reading: Reading) -> str:
    """Return the number of tools by level, as a line."""
    levels = Counter(
        tool.level(reading) for tool in compared.tools if tool.status is not ToolStatus.UNCHANGED
    )
    counts = [f"{levels[level]:,} {level}" for level in LEVELS if levels[level]]
    unchanged = len(compared.tools) - sum(levels.values())
    counts += [f"{unchanged:,} unchanged"] if unchanged else []
    listed = f": {', '.join(counts)}" if counts else ""
    return f"{counted(len(compared.tools), 'tool')}{listed} ({reading})"
