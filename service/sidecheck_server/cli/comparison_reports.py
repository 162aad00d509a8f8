"""Reports of comparisons as text, JSON, Markdown and SARIF, and their summary."""

from collections import Counter
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final

from sidecheck_server.cli.compared_tools import ComparedFiles
from sidecheck_server.cli.findings import Finding
from sidecheck_server.cli.reports import format_count
from sidecheck_server.cli.rows import Row, escape, write_rows
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
    "breaking_effect_as_written",
    "comparison_markdown",
    "comparison_object",
    "comparison_sarif",
    "describe_witness",
    "format_payload",
    "summarize",
    "visible_changes",
    "witness_object",
    "write_comparison",
]

_MAX_PAYLOAD_CHARACTERS = 200
"""Maximum length of a payload, except in JSON output, which has the whole payload."""


def visible_changes(tool: ToolComparison, reading: Reading) -> list[Change]:
    """Return the changes of *tool* that are not cosmetic, the worst first."""
    changes = [
        change
        for change in tool.changes
        if any(
            change.effects.of(any_reading).level is not Level.COSMETIC for any_reading in Reading
        )
    ]
    return sorted(changes, key=lambda change: LEVELS.index(change.effects.of(reading).level))


def breaking_effect_as_written(change: Change, reading: Reading) -> Effect | None:
    """Return the effect of *change* as written if it breaks only in that reading."""
    effect = change.effects.as_written
    if reading is Reading.AS_WRITTEN or effect.level is not Level.BREAKING:
        return None
    return None if change.effects.assume_closed.level is Level.BREAKING else effect


def format_payload(witness: Witness) -> str:
    """Return the payload of *witness* in one line."""
    text = escape(witness.payload.decode())
    return text if len(text) <= _MAX_PAYLOAD_CHARACTERS else f"{text[:_MAX_PAYLOAD_CHARACTERS]}…"


def describe_witness(part: Part, witness: Witness) -> str:
    """Return the end of a sentence that begins with the payload of *witness*."""
    message = escape(witness.message)
    if part is Part.OUTPUT:
        return f"is allowed now, and was not: {message}"
    return f"was valid, and is not: {message}"


def summarize(comparison: SetComparison, reading: Reading) -> str:
    """Return a line with the number of tools by level."""
    levels = Counter(
        tool.level(reading) for tool in comparison.tools if tool.status is not ToolStatus.UNCHANGED
    )
    counts = [f"{levels[level]:,} {level}" for level in LEVELS if levels[level]]
    unchanged = len(comparison.tools) - sum(levels.values())
    counts += [f"{unchanged:,} unchanged"] if unchanged else []
    details = f": {', '.join(counts)}" if counts else ""
    return f"{format_count(len(comparison.tools), 'tool')}{details} ({reading})"


_SARIF_LEVELS = (Level.BREAKING, Level.UNDECIDED, Level.RISKY)


def comparison_sarif(
    comparison: SetComparison, files: ComparedFiles, reading: Reading
) -> dict[str, Any]:
    """Return the SARIF log of the breaking, undecided and risky changes in *reading*."""
    changes = [
        (tool, change)
        for tool in comparison.tools
        for change in tool.changes
        if change.effects.of(reading).level in _SARIF_LEVELS
    ]
    # Code scanners have only the new files.
    findings = files.find_in_new(changes, reading)
    old_findings = files.find_in_old(changes, reading)
    log = sarif_run(files.names, findings, (), _rule)
    results = log["runs"][0]["results"]
    for result, (_tool, change), old in zip(results, changes, old_findings, strict=True):
        effect = change.effects.of(reading)
        properties = {
            "level": effect.level.value,
            "old_location": change.old_location,
            "new_location": change.new_location,
        }
        if effect.witness is not None:
            payload, sentence = (
                format_payload(effect.witness),
                describe_witness(change.part, effect.witness),
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
    descriptor: dict[str, Any] = {"id": code, "shortDescription": {"text": rule.sentence}}
    return {**descriptor, "helpUri": rule.source} if rule.source else descriptor


def comparison_markdown(comparison: SetComparison, reading: Reading) -> str:
    """Return *comparison* as a Markdown section with a table for each changed tool."""
    lines = ["### Changes of tools", "", f"{summarize(comparison, reading)}."]
    for tool in comparison.tools:
        if tool.status is not ToolStatus.UNCHANGED:
            lines += _tool_lines(tool, reading)
    return "\n".join(lines)


def _tool_lines(tool: ToolComparison, reading: Reading) -> Iterator[str]:
    yield from ("", f"#### {_inline_code(tool.name)}: {tool.level(reading)}")
    for schema in tool.schemas:
        if reason := schema.verdicts.of(reading).reason:
            yield from ("", f"{_inline_code(schema.part)}: {_escape_markdown(reason)}")
    changes = visible_changes(tool, reading)
    if changes:
        yield from ("", "| Level | Change | Where | What |", "| --- | --- | --- | --- |")
        yield from (_row(change, reading) for change in changes)
    if hidden := len(tool.changes) - len(changes):
        noun = "change is" if hidden == 1 else "changes are"
        yield from ("", f"{hidden} further {noun} cosmetic.")


def _row(change: Change, reading: Reading) -> str:
    effect = change.effects.of(reading)
    location = change.new_location if change.new_location is not None else change.old_location
    parts = [_escape_markdown(change.message)]
    if effect.witness is not None:
        sentence = describe_witness(change.part, effect.witness)
        parts.append(f"{_inline_code(format_payload(effect.witness))} {_escape_markdown(sentence)}")
    effect_as_written = breaking_effect_as_written(change, reading)
    if effect_as_written is not None and effect_as_written.witness is not None:
        sentence = describe_witness(change.part, effect_as_written.witness)
        payload = _inline_code(format_payload(effect_as_written.witness))
        parts.append(f"As written: {payload} {_escape_markdown(sentence)}")
    cells = (
        effect.level,
        _inline_code(change.code),
        _inline_code(location or ""),
        "<br>".join(parts),
    )
    return f"| {' | '.join(cells)} |"


_SPECIAL = str.maketrans({char: f"\\{char}" for char in "\\`*_[]<>|#~@"})


def _escape_markdown(text: str) -> str:
    """Return the untrusted *text* with the special characters of Markdown escaped."""
    return escape(text).translate(_SPECIAL)


def _inline_code(text: str) -> str:
    """Return the untrusted *text* as inline code, safe in a table cell."""
    escaped = escape(text).replace("&", "&amp;").replace("<", "&lt;").replace("|", "&#124;")
    return f"<code>{escaped}</code>" if escaped else ""


_PARTS: Final[Mapping[Part, str]] = MappingProxyType(
    {Part.TOOL: "tool", Part.INPUT: "input-schema", Part.OUTPUT: "output-schema"}
)
_READINGS: Final[Mapping[Reading, str]] = MappingProxyType(
    {Reading.ASSUME_CLOSED: "assume_closed", Reading.AS_WRITTEN: "as_written"}
)


def comparison_object(comparison: SetComparison, reading: Reading) -> dict[str, Any]:
    """Return *comparison* as a JSON object, with the overall level in *reading*."""
    levels = [
        tool.level(reading) for tool in comparison.tools if tool.status is not ToolStatus.UNCHANGED
    ]
    return {
        "reading": reading.value,
        "level": comparison.level(reading).value,
        "differs": comparison.differs,
        "summary": {level.value: levels.count(level) for level in LEVELS},
        "tools": [_tool_object(tool) for tool in comparison.tools],
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
        "witness": witness_object(verdict.witness),
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
    return {"level": effect.level.value, "witness": witness_object(effect.witness)}


def witness_object(witness: Witness | None) -> dict[str, Any] | None:
    """Return *witness* as a JSON object, or None."""
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


def write_comparison(comparison: SetComparison, files: ComparedFiles, reading: Reading) -> None:
    """Write *comparison* to standard output: a block per changed tool, and a summary.

    Cosmetic changes are only counted.
    """
    changed_tools = [tool for tool in comparison.tools if tool.status is not ToolStatus.UNCHANGED]
    changes = [
        (tool, change) for tool in changed_tools for change in visible_changes(tool, reading)
    ]
    findings = iter(files.create_findings(changes, reading))
    rows: list[Row] = []
    for tool in changed_tools:
        rows += _tool_rows(tool, findings, reading)
    write_rows([*rows, Row(((summarize(comparison, reading), "bold"),))])


def _tool_rows(
    tool: ToolComparison, findings: Iterator[Finding], reading: Reading
) -> Iterator[Row]:
    level = tool.level(reading)
    yield Row(((f"{escape(tool.name) or '(no name)'}: ", "bold"), (level, _STYLES[level])))
    for schema in tool.schemas:
        if reason := schema.verdicts.of(reading).reason:
            yield Row(((f"{schema.part}: {escape(reason)}", ""),), indent=2)
    changes = visible_changes(tool, reading)
    for change in changes:
        yield from _change_rows(change, next(findings), reading)
    if hidden := len(tool.changes) - len(changes):
        noun = "change is" if hidden == 1 else "changes are"
        yield Row(((f"{hidden} further {noun} cosmetic", "dim"),), indent=2)


def _change_rows(change: Change, finding: Finding, reading: Reading) -> Iterator[Row]:
    effect = change.effects.of(reading)
    location = change.new_location if change.new_location is not None else change.old_location
    position = f"{escape(finding.source.name)}:{finding.place.line}:{finding.place.column}: "
    yield Row(
        (
            (position, ""),
            (f"{effect.level} ", _STYLES[effect.level]),
            (change.code, "bold"),
            (f" {escape(location)}" if location else "", "cyan"),
        ),
        indent=2,
        wraps=False,
    )
    yield Row(((escape(change.message), ""),), indent=4)
    if effect.witness is not None:
        sentence = describe_witness(change.part, effect.witness)
        yield Row(((f"{format_payload(effect.witness)} {sentence}", ""),), indent=4)
    effect_as_written = breaking_effect_as_written(change, reading)
    if effect_as_written is not None and effect_as_written.witness is not None:
        text = f"as written: {format_payload(effect_as_written.witness)} "
        yield Row(
            ((text + describe_witness(change.part, effect_as_written.witness), "dim"),), indent=4
        )
