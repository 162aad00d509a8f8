"""Messages of comparisons."""

from collections.abc import Mapping, Sequence
from typing import Final

from sidecheck.comparison import ServerTools
from sidecheck.errors import InvalidResponse
from sidecheck.v1 import registry_service_pb2 as registry_pb
from sidecheck.v1 import target_pb2 as target_pb
from sidecheck.values.comparison import Comparison, SchemaReading
from sidecheck.wire.decoders import comparison as decoders
from sidecheck.wire.values import find_label

__all__ = [
    "READINGS",
    "decode_comparison",
    "encode_comparison",
    "encode_tool_set",
]

READINGS: Final[Mapping[str, str]] = {
    "assume-closed": "SCHEMA_READING_ASSUME_CLOSED",
    "as-written": "SCHEMA_READING_AS_WRITTEN",
}


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
    return decoders.decode_comparison(response)
