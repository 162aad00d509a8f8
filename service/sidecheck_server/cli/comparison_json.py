"""Comparisons as JSON: the tools as the API returns them over HTTP, and what the command adds."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from sidecheck_server.core.compat.changes import (
    LEVELS,
    Change,
    Effect,
    Part,
    Reading,
    SchemaComparison,
    SchemaVerdict,
    SetComparison,
    ToolComparison,
    ToolStatus,
    Witness,
)
from sidecheck_server.core.payload import read_json

__all__ = ["comparison_object"]

_PARTS: Final[Mapping[Part, str]] = MappingProxyType(
    {Part.TOOL: "tool", Part.INPUT: "input_schema", Part.OUTPUT: "output_schema"}
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
        "reading": _READINGS[reading],
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
