"""Reports of comparisons: text for people, JSON, Markdown, SARIF, and a summary."""

from collections import Counter
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final

from sidecheck_server.cli.compared_tools import ComparedFiles
from sidecheck_server.cli.findings import Finding
from sidecheck_server.cli.reports import counted
from sidecheck_server.cli.rows import Row, printable, write_rows
from sidecheck_server.cli.sarif import sarif_location, sarif_run
from sidecheck_server.core.compat.changes import (
    LEVELS,
    Change,
    Effect,
    Level,
    Part,
    Reading,
    SchemaComparison,
    SchemaVerdict,
    SetComparison,
    ToolComparison,
    ToolStatus,
    Witness,
)
from sidecheck_server.core.compat.rules import CHANGE_RULES
from sidecheck_server.core.payload import read_json

__all__ = [
    "comparison_markdown",
    "comparison_object",
    "comparison_sarif",
    "other_reading",
    "shown_changes",
    "shown_payload",
    "summary",
    "witness_sentence",
    "write_comparison",
]

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


_REPORTED = (Level.BREAKING, Level.UNDECIDED, Level.RISKY)


def comparison_sarif(
    compared: SetComparison, files: ComparedFiles, reading: Reading
) -> dict[str, Any]:
    """Return the log of the changes of *compared* that are not harmless in *reading*."""
    changes = [
        (tool, change)
        for tool in compared.tools
        for change in tool.changes
        if change.effects.of(reading).level in _REPORTED
    ]
    # Scanners show results in the files that they have, which are the new ones.
    findings = files.find_in_new(changes, reading)
    before = files.find_in_old(changes, reading)
    log = sarif_run(files.names, findings, (), _rule)
    results = log["runs"][0]["results"]
    for result, (_, change), old in zip(results, changes, before, strict=True):
        effect = change.effects.of(reading)
        properties = {
            "level": effect.level.value,
            "old_location": change.old_location,
            "new_location": change.new_location,
        }
        if effect.witness is not None:
            payload, sentence = (
                shown_payload(effect.witness),
                witness_sentence(change.part, effect.witness),
            )
            result["message"]["text"] += f". {payload} {sentence}"
            properties["witness"] = effect.witness.payload.decode()
        result["properties"] = properties
        if old is not None:
            related = {"id": 1, **sarif_location(old, files.names)}
            result["relatedLocations"] = [{**related, "message": {"text": "before the change"}}]
    return log


def _rule(code: str) -> dict[str, Any]:
    rule = CHANGE_RULES[code]
    described: dict[str, Any] = {"id": code, "shortDescription": {"text": rule.sentence}}
    return {**described, "helpUri": rule.source} if rule.source else described


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


_PARTS: Final[Mapping[Part, str]] = MappingProxyType(
    {Part.TOOL: "tool", Part.INPUT: "input-schema", Part.OUTPUT: "output-schema"}
)
_READINGS: Final[Mapping[Reading, str]] = MappingProxyType(
    {Reading.ASSUME_CLOSED: "assume_closed", Reading.AS_WRITTEN: "as_written"}
)


def comparison_object(compared: SetComparison, reading: Reading) -> dict[str, Any]:
    """Return *compared* as a JSON object; *reading* is the one that decides."""
    levels = [
        tool.level(reading) for tool in compared.tools if tool.status is not ToolStatus.UNCHANGED
    ]
    return {
        "reading": reading.value,
        "level": compared.level(reading).value,
        "differs": compared.differs,
        "summary": {level.value: levels.count(level) for level in LEVELS},
        "tools": [_tool_object(tool) for tool in compared.tools],
    }


def _tool_object(tool: ToolComparison) -> dict[str, Any]:
    return {
        "status": tool.status.value,
        "name": tool.name,
        "old_name": tool.old_name,
        "old_definition_digest": tool.old_digest,
        "new_definition_digest": tool.new_digest,
        **{name: tool.level(reading).value for reading, name in _READINGS.items()},
        "schemas": [_schema_object(schema) for schema in tool.schemas],
        "changes": [_change_object(change) for change in tool.changes],
    }


def _schema_object(schema: SchemaComparison) -> dict[str, Any]:
    verdicts = schema.verdicts
    return {
        "part": _PARTS[schema.part],
        **{name: _verdict_object(verdicts.of(reading)) for reading, name in _READINGS.items()},
    }


def _verdict_object(verdict: SchemaVerdict) -> dict[str, Any]:
    return {
        "relation": verdict.relation.value,
        "level": verdict.level.value,
        "reason": verdict.reason,
        "witness": _witness_object(verdict.witness),
    }


def _change_object(change: Change) -> dict[str, Any]:
    effects = change.effects
    return {
        "code": change.code,
        "part": _PARTS[change.part],
        "keyword": change.keyword,
        "old_location": change.old_location,
        "new_location": change.new_location,
        "message": change.message,
        "old_value": change.old_value,
        "new_value": change.new_value,
        **{name: _effect_object(effects.of(reading)) for reading, name in _READINGS.items()},
    }


def _effect_object(effect: Effect) -> dict[str, Any]:
    return {"level": effect.level.value, "witness": _witness_object(effect.witness)}


def _witness_object(witness: Witness | None) -> dict[str, Any] | None:
    if witness is None:
        return None
    return {
        "payload": read_json(witness.payload),
        "message": witness.message,
        "instance_location": witness.instance_location,
        "keyword_location": witness.keyword_location,
    }


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
