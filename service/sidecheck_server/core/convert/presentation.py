"""What of a definition is not its input schema: what the model reads, and what is left out."""

from dataclasses import dataclass, replace
from typing import Any

import msgspec

from sidecheck_server.core.convert.apis.api import Api
from sidecheck_server.core.convert.words import Action, ConversionOptions, Direction, Loss
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.mcp.tools.definitions import ToolDefinition, decoded_tool
from sidecheck_server.core.types import as_pointer

__all__ = ["Presentation", "noted", "presented"]

_TAKEN = ("name", "inputSchema", "description")
"""The members of a definition that have a place of their own in every API."""

_LONGEST_NOTE = 200
"""Characters of a note that a loss tells."""


@dataclass(frozen=True, slots=True)
class Presentation:
    """What goes along with a schema."""

    description: str
    #: As JSON text, or None.
    output_schema: bytes | None
    losses: tuple[Loss, ...]


def presented(
    definition: ToolDefinition, api: Api, options: ConversionOptions, limits: Limits
) -> Presentation:
    """Return what of *definition* goes along with its schema.

    Without a description its title stands in, or else that of its annotations (MCP
    2025-06-18, server/tools, "Tool": both are for display).
    """
    tool = decoded_tool(definition.json, limits)
    assert isinstance(tool, dict), "a definition that was read is an object"
    losses: list[Loss] = []
    described, used = _described(tool)
    if used:
        said = "stands in for a description, which is missing"
        losses.append(_loss(used, Action.REWRITTEN, said))
    longest = _longest(api, options)
    if longest is not None and len(described) > longest:
        said = f"its {len(described):,} characters are cut to {longest:,}"
        losses.append(_loss(("description",), Action.DROPPED, said))
        described = described[: longest - 1] + "…"
    output = None
    if options.include_output_schema and api.output_schema and "outputSchema" in tool:
        output = msgspec.json.encode(tool["outputSchema"])
    for name, value in tool.items():
        goes = name in _TAKEN or used == (name,) or (name == "outputSchema" and output is not None)
        if not goes and value is not None:
            said = f"{api.in_words} has no place for it"
            losses.append(_loss((name,), Action.DROPPED, said))
    return Presentation(described, output, tuple(losses))


def noted(shown: Presentation, note: str, api: Api, options: ConversionOptions) -> Presentation:
    """Return *shown* with a *note* on the schema after its description, if there is room."""
    described = f"{shown.description} {note}".strip()
    longest = _longest(api, options)
    if not note or note == shown.description:
        return shown
    if longest is not None and len(described) > longest:
        said = f"no room is left to tell the model of the schema: {note[:_LONGEST_NOTE]}"
        left_out = _loss(("inputSchema",), Action.DROPPED, said)
        return replace(shown, losses=(*shown.losses, left_out))
    return replace(shown, description=described)


def _described(tool: dict[str, Any]) -> tuple[str, tuple[str, ...]]:
    """Return a description, and the way to it if it is not that of the tool."""
    annotations = tool.get("annotations")
    titled = annotations.get("title") if isinstance(annotations, dict) else None
    ways: tuple[tuple[Any, tuple[str, ...]], ...] = (
        (tool.get("description"), ()),
        (tool.get("title"), ("title",)),
        (titled, ("annotations", "title")),
    )
    for text, way in ways:
        if isinstance(text, str) and text.strip():
            return text, way
    return "", ()


def _longest(api: Api, options: ConversionOptions) -> int | None:
    known = [each for each in (api.description_length, options.description_length) if each]
    return min(known) if known else None


def _loss(way: tuple[str, ...], action: Action, message: str) -> Loss:
    return Loss(as_pointer(way), "", action, Direction.SAME, message)
