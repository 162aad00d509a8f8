"""Comparisons as JSON."""

from typing import Any

import msgspec

from sidecheck_server.core.compat.changes import (
    LEVELS,
    Change,
    Effect,
    Reading,
    SchemaComparison,
    SchemaVerdict,
    SetComparison,
    ToolComparison,
    Witness,
)

__all__ = ["comparison_object"]


def comparison_object(compared: SetComparison, reading: Reading) -> dict[str, Any]:
    """Return *compared* as a JSON object; *reading* is the one that decides."""
    levels = [tool.level(reading) for tool in compared.tools if tool.status != "unchanged"]
    return {
        "reading": reading.value,
        "level": compared.level(reading).value,
        "differs": compared.differs,
        "summary": {level.value: levels.count(level) for level in LEVELS},
        "tools": [_tool_object(tool) for tool in compared.tools],
    }


def _tool_object(tool: ToolComparison) -> dict[str, Any]:
    return {
        "name": tool.name,
        "old_name": tool.old_name or tool.name,
        "status": tool.status.value,
        "levels": {reading.value: tool.level(reading).value for reading in Reading},
        "old_digest": tool.old_digest,
        "new_digest": tool.new_digest,
        "schemas": [_schema_object(schema) for schema in tool.schemas],
        "changes": [_change_object(change) for change in tool.changes],
    }


def _schema_object(schema: SchemaComparison) -> dict[str, Any]:
    return {
        "part": schema.part.value,
        "verdicts": {
            reading.value: _verdict_object(schema.verdicts.of(reading)) for reading in Reading
        },
    }


def _verdict_object(verdict: SchemaVerdict) -> dict[str, Any]:
    return {
        "relation": verdict.relation.value,
        "level": verdict.level.value,
        "reason": verdict.reason,
        "witness": _witness_object(verdict.witness),
    }


def _change_object(change: Change) -> dict[str, Any]:
    return {
        "code": change.code,
        "part": change.part.value,
        "keyword": change.keyword,
        "old_location": change.old_location,
        "new_location": change.new_location,
        "message": change.message,
        "old_value": change.old_value,
        "new_value": change.new_value,
        "effects": {
            reading.value: _effect_object(change.effects.of(reading)) for reading in Reading
        },
    }


def _effect_object(effect: Effect) -> dict[str, Any]:
    return {"level": effect.level.value, "witness": _witness_object(effect.witness)}


def _witness_object(witness: Witness | None) -> dict[str, Any] | None:
    if witness is None:
        return None
    return {
        "payload": msgspec.json.decode(witness.payload),
        "message": witness.message,
        "instance_location": witness.instance_location,
        "keyword_location": witness.keyword_location,
    }
