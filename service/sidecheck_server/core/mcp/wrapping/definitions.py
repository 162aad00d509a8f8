"""Adapts tool definitions to a protocol version."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import msgspec

from sidecheck_server.core.limits import Exhausted, Limits, limit_exceeded_error
from sidecheck_server.core.mcp.context import VERSIONS
from sidecheck_server.core.mcp.tool_definitions import read_tool
from sidecheck_server.core.mcp.types.model import ObjectType
from sidecheck_server.core.mcp.types.rendering import TYPES, properties_of
from sidecheck_server.core.mcp.wrapping.schemas import AdaptedSchema, adapt_schema
from sidecheck_server.core.payload import encode_json, read_json

__all__ = ["AdaptedTool", "adapt_tool", "adapted_output_schema"]

_OUTPUT = "outputSchema"
_PROPERTIES = msgspec.json.Decoder(dict[str, msgspec.Raw])


@dataclass(frozen=True, slots=True)
class AdaptedTool:
    """A tool definition in the form for a protocol version."""

    #: JSON text; the text of `read_tool` if the version requires no change.
    json: bytes
    #: The adapted output schema, or None if the tool or the version has none.
    output: AdaptedSchema | None
    #: Removed properties, which the version does not have, in their order.
    dropped_properties: tuple[str, ...] = ()

    @property
    def wraps_output(self) -> bool:
        """Whether adapting wrapped or unwrapped the output schema."""
        output = self.output
        return output is not None and (output.wraps_content or bool(output.unwrapped_property))

    @property
    def wrapped_property(self) -> str:
        """Property of structured content that holds the value, or "" if it is not wrapped."""
        return "" if self.output is None else self.output.wrapped_property


# Decision 0039: one canonical definition; adapting is a pure function of it and the version.
def adapt_tool(text: bytes, version: str, limits: Limits) -> AdaptedTool:
    """Return the tool definition *text* in the form for *version*.

    Properties that no version defines stay. Unchanged properties keep their order and text.

    Raises:
        RequestError: INVALID_TOOL, also for a wrap marker that contradicts the schema;
            LIMIT_EXCEEDED.
    """
    definition = read_tool(text, (), limits)
    text = definition.json
    properties = _PROPERTIES.decode(text)
    dropped = tuple(name for name in properties if name in _find_missing_properties(version))
    output, has_changed = None, False
    if definition.output is not None and _OUTPUT not in dropped:
        schema: dict[str, Any] = read_json(definition.output.json)
        output = adapted_output_schema(schema, version, limits)
        has_changed = output.schema is not schema
    if not (dropped or has_changed):
        return AdaptedTool(text, output)
    adapted: dict[str, Any] = {name: properties[name] for name in properties if name not in dropped}
    if output is not None and has_changed:
        adapted[_OUTPUT] = output.schema
    return AdaptedTool(encode_json(adapted), output, dropped)


def adapted_output_schema(schema: dict[str, Any], version: str, limits: Limits) -> AdaptedSchema:
    """Return the output *schema* in the form for *version*; see `adapt_schema`.

    Raises:
        RequestError: INVALID_TOOL or LIMIT_EXCEEDED.
    """
    try:
        return adapt_schema(schema, version, [limits.steps])
    except (Exhausted, RecursionError):
        message = "adapting the output schema takes too long"
        raise limit_exceeded_error("steps", limits.steps, message) from None


@lru_cache(maxsize=16)  # exceeds the number of versions
def _find_missing_properties(version: str) -> frozenset[str]:
    """Return the properties of a tool that other versions have and *version* lacks."""
    by_version = {candidate: _list_tool_properties(candidate) for candidate in VERSIONS}
    names = frozenset().union(*(properties.keys() for properties in by_version.values()))
    return names - by_version[version].keys()


def _list_tool_properties(version: str) -> Mapping[str, Any]:
    tool = TYPES["Tool"]
    assert isinstance(tool, ObjectType)
    return properties_of(TYPES, tool, version)
