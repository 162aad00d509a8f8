"""Comparisons as Markdown, for a comment on a pull request."""

from collections.abc import Iterator

from sidecheck_server.cli.comparison_summary import (
    other_reading,
    shown_changes,
    shown_payload,
    summary,
    witness_sentence,
)
from sidecheck_server.cli.rows import printable
from sidecheck_server.core.compat.changes import (
    Change,
    Reading,
    SetComparison,
    ToolComparison,
    ToolStatus,
)

__all__ = ["comparison_markdown"]


def comparison_markdown(compared: SetComparison, reading: Reading) -> str:
    """Return *compared* as a section with a table for each tool that differs."""
    lines = ["### Changes of tools", "", f"{summary(compared, reading)}."]
    for tool in compared.tools:
        if tool.status is not ToolStatus.UNCHANGED:
            lines += _tool_lines(tool, reading)
    return "\n".join(lines)


def _tool_lines(tool: ToolComparison, reading: Reading) -> Iterator[str]:
    yield from ("", f"#### {_code(tool.name)}: {tool.level(reading)}")
    for schema in tool.schemas:
        if reason := schema.verdicts.of(reading).reason:
            yield from ("", f"{_code(schema.part)}: {_text(reason)}")
    shown = shown_changes(tool, reading)
    if shown:
        yield from ("", "| Level | Change | Where | What |", "| --- | --- | --- | --- |")
        yield from (_row(change, reading) for change in shown)
    if hidden := len(tool.changes) - len(shown):
        noun = "change is" if hidden == 1 else "changes are"
        yield from ("", f"{hidden} further {noun} cosmetic.")


def _row(change: Change, reading: Reading) -> str:
    effect = change.effects.of(reading)
    location = change.new_location if change.new_location is not None else change.old_location
    parts = [_text(change.message)]
    if effect.witness is not None:
        sentence = witness_sentence(change.part, effect.witness)
        parts.append(f"{_code(shown_payload(effect.witness))} {_text(sentence)}")
    written = other_reading(change, reading)
    if written is not None and written.witness is not None:
        sentence = witness_sentence(change.part, written.witness)
        payload = _code(shown_payload(written.witness))
        parts.append(f"As written: {payload} {_text(sentence)}")
    cells = (effect.level, _code(change.code), _code(location or ""), "<br>".join(parts))
    return f"| {' | '.join(cells)} |"


_SPECIAL = str.maketrans({char: f"\\{char}" for char in "\\`*_[]<>|#~@"})


def _text(text: str) -> str:
    """Return *text* of others, in which no character has a meaning of Markdown."""
    return printable(text).translate(_SPECIAL)


def _code(text: str) -> str:
    """Return *text* of others as code, which neither ends early nor ends a cell."""
    escaped = printable(text).replace("&", "&amp;").replace("<", "&lt;").replace("|", "&#124;")
    return f"<code>{escaped}</code>" if escaped else ""
