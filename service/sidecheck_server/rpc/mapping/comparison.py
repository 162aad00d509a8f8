"""Messages of comparisons: sets of tools, and the changes between them."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from sidecheck.v1 import comparison_pb2 as proto
from sidecheck.v1 import registry_service_pb2

from sidecheck_server.core.compat.changes import (
    Change,
    Effect,
    Level,
    Part,
    Reading,
    Relation,
    SchemaComparison,
    SchemaVerdict,
    ToolComparison,
    ToolStatus,
    Witness,
)
from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.limits import Limits, limit_exceeded_error
from sidecheck_server.rpc.mapping.fields import unknown_value
from sidecheck_server.rpc.mapping.targets import tools_from_proto
from sidecheck_server.services.comparison import RegisteredTools
from sidecheck_server.services.targets import InlineTool

__all__ = [
    "ComparisonWriter",
    "level_to_proto",
    "reading_from_proto",
    "tool_set_from_proto",
    "witness_to_proto",
]

_LEVELS: Final[Mapping[Level, proto.ChangeLevel]] = MappingProxyType(
    {
        Level.COSMETIC: proto.CHANGE_LEVEL_COSMETIC,
        Level.COMPATIBLE: proto.CHANGE_LEVEL_COMPATIBLE,
        Level.RISKY: proto.CHANGE_LEVEL_RISKY,
        Level.UNDECIDED: proto.CHANGE_LEVEL_UNDECIDED,
        Level.BREAKING: proto.CHANGE_LEVEL_BREAKING,
    }
)
_READINGS: Final[Mapping[int, Reading]] = MappingProxyType(
    {
        proto.SCHEMA_READING_UNSPECIFIED: Reading.ASSUME_CLOSED,
        proto.SCHEMA_READING_ASSUME_CLOSED: Reading.ASSUME_CLOSED,
        proto.SCHEMA_READING_AS_WRITTEN: Reading.AS_WRITTEN,
    }
)
_RELATIONS: Final[Mapping[Relation, proto.SchemaRelation]] = MappingProxyType(
    {
        Relation.EQUAL: proto.SCHEMA_RELATION_EQUAL,
        Relation.WIDENED: proto.SCHEMA_RELATION_WIDENED,
        Relation.NARROWED: proto.SCHEMA_RELATION_NARROWED,
        Relation.INCOMPARABLE: proto.SCHEMA_RELATION_INCOMPARABLE,
        Relation.UNDECIDED: proto.SCHEMA_RELATION_UNDECIDED,
    }
)
_PARTS: Final[Mapping[Part, proto.DefinitionPart]] = MappingProxyType(
    {
        Part.TOOL: proto.DEFINITION_PART_TOOL,
        Part.INPUT: proto.DEFINITION_PART_INPUT_SCHEMA,
        Part.OUTPUT: proto.DEFINITION_PART_OUTPUT_SCHEMA,
    }
)
_STATUSES: Final[Mapping[ToolStatus, proto.ToolComparison.Status]] = MappingProxyType(
    {
        ToolStatus.ADDED: proto.ToolComparison.STATUS_ADDED,
        ToolStatus.REMOVED: proto.ToolComparison.STATUS_REMOVED,
        ToolStatus.RENAMED: proto.ToolComparison.STATUS_RENAMED,
        ToolStatus.CHANGED: proto.ToolComparison.STATUS_CHANGED,
        ToolStatus.UNCHANGED: proto.ToolComparison.STATUS_UNCHANGED,
    }
)


async def tool_set_from_proto(
    request: registry_service_pb2.CompareToolsRequest, field: str, limits: Limits
) -> RegisteredTools | tuple[InlineTool, ...]:
    """Return the set in *field* of *request*.

    Raises:
        RequestError: INVALID_REQUEST if the set is missing, or its fields contradict each other;
            LIMIT_EXCEEDED if it has too many names or tools.
    """
    tool_set: registry_service_pb2.ToolSet = getattr(request, field)
    if not request.HasField(field):
        raise _invalid(field, "is not set")
    if tool_set.server and tool_set.tools:
        raise _invalid(field, "has both a server and tools")
    if tool_set.names and not tool_set.server:
        raise _invalid(field, "has names, but no server")
    limit = limits.batch_items
    for noun, count in (("names", len(tool_set.names)), ("tools", len(tool_set.tools))):
        if count > limit:
            raise limit_exceeded_error("batch_items", limit, f"the {noun} of {field}", count)
    if tool_set.server:
        return RegisteredTools(tool_set.server, tuple(tool_set.names))
    return await tools_from_proto(tool_set.tools)


def _invalid(field: str, fault: str) -> RequestError:
    return RequestError(ErrorReason.INVALID_REQUEST, f"{field} {fault}", {"field": field})


def reading_from_proto(reading: proto.SchemaReading) -> Reading:
    """Return the reading of schemas by which to compare.

    Raises:
        RequestError: INVALID_REQUEST for an unknown enum value.
    """
    if reading not in _READINGS:
        raise unknown_value("reading")
    return _READINGS[reading]


def level_to_proto(level: Level) -> proto.ChangeLevel:
    """Return the value for *level*."""
    return _LEVELS[level]


class ComparisonWriter:
    """Writes comparisons to a response, without details beyond half of its size.

    So the response can always report the outcome for every tool.
    """

    def __init__(self, limits: Limits) -> None:
        self._room = limits.message_bytes // 2

    def write(self, tool: ToolComparison) -> proto.ToolComparison:
        """Return the message of *tool*."""
        message = _tool_to_proto(tool)
        if message.ByteSize() > self._room:
            message.ClearField("schemas")
            message.ClearField("changes")
        self._room -= message.ByteSize()
        return message


def _tool_to_proto(tool: ToolComparison) -> proto.ToolComparison:
    return proto.ToolComparison(
        status=_STATUSES[tool.status],
        name=tool.name,
        old_name=tool.old_name,
        old_definition_digest=tool.old_digest,
        new_definition_digest=tool.new_digest,
        assume_closed=_LEVELS[tool.level(Reading.ASSUME_CLOSED)],
        as_written=_LEVELS[tool.level(Reading.AS_WRITTEN)],
        schemas=map(_schema_to_proto, tool.schemas),
        changes=map(_change_to_proto, tool.changes),
    )


def _schema_to_proto(schema: SchemaComparison) -> proto.SchemaComparison:
    return proto.SchemaComparison(
        part=_PARTS[schema.part],
        assume_closed=_verdict_to_proto(schema.verdicts.assume_closed),
        as_written=_verdict_to_proto(schema.verdicts.as_written),
    )


def _verdict_to_proto(verdict: SchemaVerdict) -> proto.SchemaVerdict:
    return proto.SchemaVerdict(
        relation=_RELATIONS[verdict.relation],
        level=_LEVELS[verdict.level],
        reason=verdict.reason,
        witness=witness_to_proto(verdict.witness),
    )


def _change_to_proto(change: Change) -> proto.DefinitionChange:
    return proto.DefinitionChange(
        code=change.code,
        part=_PARTS[change.part],
        keyword=change.keyword,
        old_location=change.old_location,
        new_location=change.new_location,
        message=change.message,
        old_value=change.old_value,
        new_value=change.new_value,
        assume_closed=_effect_to_proto(change.effects.assume_closed),
        as_written=_effect_to_proto(change.effects.as_written),
    )


def _effect_to_proto(effect: Effect) -> proto.ChangeEffect:
    return proto.ChangeEffect(level=_LEVELS[effect.level], witness=witness_to_proto(effect.witness))


def witness_to_proto(witness: Witness | None) -> proto.Witness | None:
    """Return the message of *witness*, or None."""
    if witness is None:
        return None
    return proto.Witness(
        payload=witness.payload,
        message=witness.message,
        instance_location=witness.instance_location,
        keyword_location=witness.keyword_location,
    )
