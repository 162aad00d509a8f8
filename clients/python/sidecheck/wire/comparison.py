"""Messages of comparisons of tools."""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any, Final, TypeVar

from google.protobuf.descriptor import EnumDescriptor

from sidecheck.comparison import (
    ChangeEffect,
    ChangeLevel,
    Comparison,
    DefinitionChange,
    DefinitionPart,
    SchemaComparison,
    SchemaReading,
    SchemaRelation,
    SchemaVerdict,
    ServerTools,
    ToolComparison,
    ToolStatus,
    Witness,
)
from sidecheck.errors import InvalidResponse
from sidecheck.v1 import comparison_pb2 as comparison_pb
from sidecheck.v1 import registry_service_pb2 as registry_pb
from sidecheck.v1 import target_pb2 as target_pb
from sidecheck.verdicts import JsonText
from sidecheck.wire.errors import require_json
from sidecheck.wire.values import copy_fields, find_label

__all__ = [
    "COMPATIBILITY_POLICIES",
    "READINGS",
    "decode_comparison",
    "decode_tool_comparison",
    "decode_witness",
    "encode_comparison",
    "encode_tool_set",
    "members_by_number",
]

Member = TypeVar("Member", bound=StrEnum)

READINGS: Final[Mapping[str, str]] = {
    "assume-closed": "SCHEMA_READING_ASSUME_CLOSED",
    "as-written": "SCHEMA_READING_AS_WRITTEN",
}
COMPATIBILITY_POLICIES: Final[Mapping[str, str]] = {
    "ignore": "COMPATIBILITY_POLICY_IGNORE",
    "report": "COMPATIBILITY_POLICY_REPORT",
    "reject-breaking": "COMPATIBILITY_POLICY_REJECT_BREAKING",
    "reject-undecided": "COMPATIBILITY_POLICY_REJECT_UNDECIDED",
}


def members_by_number(enum: EnumDescriptor, prefix: str, kind: type[Member]) -> dict[int, Member]:
    """Return the members of *kind* by the numbers of *enum*."""
    return {
        value.number: kind[value.name.removeprefix(prefix)]
        for value in enum.values
        if value.name.removeprefix(prefix) in kind.__members__
    }


LEVELS: Final = members_by_number(
    comparison_pb.ChangeLevel.DESCRIPTOR, "CHANGE_LEVEL_", ChangeLevel
)
RELATIONS: Final = members_by_number(
    comparison_pb.SchemaRelation.DESCRIPTOR, "SCHEMA_RELATION_", SchemaRelation
)
PARTS: Final = members_by_number(
    comparison_pb.DefinitionPart.DESCRIPTOR, "DEFINITION_PART_", DefinitionPart
)
STATUSES: Final = members_by_number(
    comparison_pb.ToolComparison.Status.DESCRIPTOR, "STATUS_", ToolStatus
)


def encode_tool_set(tools: ServerTools | Sequence[target_pb.InlineTool]) -> registry_pb.ToolSet:
    """Return the message for a set of tools."""
    if isinstance(tools, ServerTools):
        return registry_pb.ToolSet(server=tools.server, names=tools.names)
    return registry_pb.ToolSet(tools=tools)


def encode_comparison(
    old: registry_pb.ToolSet, new: registry_pb.ToolSet, reading: SchemaReading
) -> registry_pb.CompareToolsRequest:
    """Return the request to compare *old* with *new*.

    Raises:
        ValueError: *reading* is unknown.
    """
    label = find_label("reading", reading, READINGS)
    return registry_pb.CompareToolsRequest(old=old, new=new, reading=label)


def decode_comparison(response: registry_pb.CompareToolsResponse) -> Comparison:
    """Return the comparison of two sets.

    Raises:
        InvalidResponse: *response* has no level.
    """
    if not response.level:
        raise InvalidResponse("CompareToolsResponse.level is missing in the response")
    return Comparison(
        tools=tuple(map(decode_tool_comparison, response.tools)),
        level=LEVELS.get(response.level, ChangeLevel.UNSPECIFIED),
        registry_revision=response.registry_revision,
    )


def decode_tool_comparison(message: comparison_pb.ToolComparison) -> ToolComparison:
    """Return the comparison of one tool."""
    return copy_fields(
        message,
        ToolComparison,
        status=STATUSES.get(message.status, ToolStatus.UNSPECIFIED),
        assume_closed=LEVELS.get(message.assume_closed, ChangeLevel.UNSPECIFIED),
        as_written=LEVELS.get(message.as_written, ChangeLevel.UNSPECIFIED),
        schemas=tuple(map(decode_schema, message.schemas)),
        changes=tuple(map(decode_change, message.changes)),
    )


def decode_schema(message: comparison_pb.SchemaComparison) -> SchemaComparison:
    """Return the verdicts on one schema."""
    return SchemaComparison(
        part=PARTS.get(message.part, DefinitionPart.UNSPECIFIED),
        assume_closed=decode_schema_verdict(message.assume_closed),
        as_written=decode_schema_verdict(message.as_written),
    )


def decode_schema_verdict(message: comparison_pb.SchemaVerdict) -> SchemaVerdict:
    """Return the verdict in one reading."""
    return SchemaVerdict(
        relation=RELATIONS.get(message.relation, SchemaRelation.UNSPECIFIED),
        level=LEVELS.get(message.level, ChangeLevel.UNSPECIFIED),
        reason=message.reason,
        witness=decode_witness(message),
    )


def decode_change(message: comparison_pb.DefinitionChange) -> DefinitionChange:
    """Return one difference between two definitions."""
    return copy_fields(
        message,
        DefinitionChange,
        part=PARTS.get(message.part, DefinitionPart.UNSPECIFIED),
        old_location=message.old_location if message.HasField("old_location") else None,
        new_location=message.new_location if message.HasField("new_location") else None,
        assume_closed=decode_effect(message.assume_closed),
        as_written=decode_effect(message.as_written),
    )


def decode_effect(message: comparison_pb.ChangeEffect) -> ChangeEffect:
    """Return the effect of a change in one reading."""
    level = LEVELS.get(message.level, ChangeLevel.UNSPECIFIED)
    return ChangeEffect(level=level, witness=decode_witness(message))


def decode_witness(message: Any) -> Witness | None:
    """Return the witness of *message*, or None."""
    if not message.HasField("witness"):
        return None
    witness: comparison_pb.Witness = message.witness
    return copy_fields(witness, Witness, payload=JsonText(require_json(witness, "payload")))
