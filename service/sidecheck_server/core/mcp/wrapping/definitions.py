"""Projection: a tool definition in the form for a protocol version."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import msgspec

from sidecheck_server.core.budget import Exhausted
from sidecheck_server.core.limits import Limits, exceeded
from sidecheck_server.core.mcp.tools.definitions import read_tool
from sidecheck_server.core.mcp.types.model import ObjectType
from sidecheck_server.core.mcp.types.rendering import fields_of
from sidecheck_server.core.mcp.types.tables import TYPES
from sidecheck_server.core.mcp.versions import VERSIONS
from sidecheck_server.core.mcp.wrapping.schemas import AdaptedSchema, adapt_schema

__all__ = ["AdaptedTool", "adapt_tool", "adapted_output_schema"]

_OUTPUT = "outputSchema"
_MEMBERS = msgspec.json.Decoder(dict[str, msgspec.Raw])


@dataclass(frozen=True, slots=True)
class AdaptedTool:
    """A definition in the form for a version."""

    #: The JSON text; the very one that was given if nothing had to change.
    json: bytes
    #: What became of the output schema, or None if there is none, or in that version none.
    output: AdaptedSchema | None
    #: The members that the version does not know, in their order.
    left_out: tuple[str, ...] = ()

    @property
    def box(self) -> str:
        """The member of structured content that is the value, or "" if all of it is."""
        return "" if self.output is None else self.output.box


def adapt_tool(text: bytes, version: str, limits: Limits) -> AdaptedTool:
    """Return the tool definition *text* in the form for *version*.

    Members that no version knows stay. The texts of what stays are kept, and the order.

    Raises:
        Refusal: INVALID_TOOL, also for a mark of a box that says what is not so;
            LIMIT_EXCEEDED.
    """
    definition = read_tool(text, (), limits)
    members = _MEMBERS.decode(text)
    left_out = tuple(name for name in members if name in _unknown_in(version))
    output, changed = None, False
    if definition.output is not None and _OUTPUT not in left_out:
        schema: dict[str, Any] = msgspec.json.decode(definition.output.json)
        output = adapted_output_schema(schema, version, limits)
        changed = output.schema is not schema
    if not (left_out or changed):
        return AdaptedTool(text, output)
    kept: dict[str, Any] = {name: members[name] for name in members if name not in left_out}
    if output is not None and changed:
        kept[_OUTPUT] = output.schema
    return AdaptedTool(msgspec.json.encode(kept), output, left_out)


def adapted_output_schema(schema: dict[str, Any], version: str, limits: Limits) -> AdaptedSchema:
    """Return the output *schema* in the form for *version*; see `boxing.adapt_schema`.

    Raises:
        Refusal: INVALID_TOOL or LIMIT_EXCEEDED.
    """
    try:
        return adapt_schema(schema, version, [limits.steps])
    except (Exhausted, RecursionError):
        said = "giving the output schema another form takes too long"
        raise exceeded("steps", limits.steps, said) from None


@lru_cache(maxsize=16)  # There are fewer versions.
def _unknown_in(version: str) -> frozenset[str]:
    """Return the members of a definition that other versions know, and *version* does not."""
    known = {each: _members_in(each) for each in VERSIONS}
    return frozenset().union(*(fields.keys() for fields in known.values())) - known[version].keys()


def _members_in(version: str) -> Mapping[str, Any]:
    tool = TYPES["Tool"]
    assert isinstance(tool, ObjectType)
    return fields_of(TYPES, tool, version)
