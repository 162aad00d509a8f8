"""Registered tools: their lookup by name, and the error for names that are not registered."""

import sys
from dataclasses import dataclass

from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.explain.nearest import MOST_CANDIDATES, find_nearest
from sidecheck_server.registry import Registry
from sidecheck_server.registry.definitions import Binding
from sidecheck_server.services.targets import InlineTool

__all__ = ["ResolvedTool", "registered_tool", "require_binding"]

_SHOWN_NAME = 128
"""How many characters of a name an error repeats."""


@dataclass(frozen=True, slots=True)
class ResolvedTool:
    """A tool that a target names."""

    #: The server that it is registered for, or "".
    server: str
    name: str
    definition: InlineTool
    definition_digest: str
    #: The digest of its output schema, or "" if it has none.
    output_schema_digest: str
    #: Whether the caller should act on verdicts.
    enforced: bool = True


def require_binding(registry: Registry, server: str, name: str) -> Binding:
    """Return the binding of *name* in the namespace of *server*.

    Raises:
        RequestError: UNKNOWN_TOOL if there is none, with the nearest name that there is.
    """
    binding = registry.find(server, name)
    if binding is None:
        raise _unknown_tool(registry, server, name)
    return binding


def _unknown_tool(registry: Registry, server: str, name: str) -> RequestError:
    message = f"no tool {name[:_SHOWN_NAME]!r} is registered for the server {server[:_SHOWN_NAME]!r}"
    metadata = {"server": server[:_SHOWN_NAME], "tool": name[:_SHOWN_NAME]}
    names = _names_to_compare(registry, server, name)
    nearest = find_nearest(name, names)
    if nearest:
        message += f"; did you mean {nearest!r}?"
        metadata["nearest"] = nearest
    elif not names:
        message += ", which has no tools"
    return RequestError(ErrorReason.UNKNOWN_TOOL, message, metadata)


def _names_to_compare(registry: Registry, server: str, name: str) -> list[str]:
    """Return names of *server*: those from the first letter of *name* on, and the first ones.

    A server may have a hundred thousand tools, and most misspellings keep the first letter.
    """
    half = MOST_CANDIDATES // 2
    names: dict[str, None] = {}
    for after in ((server, name[:1]), None):
        bindings, _ = registry.page(server, after, half, sys.maxsize)
        names.update((binding.name, None) for binding in bindings)
    return list(names)


def registered_tool(binding: Binding) -> ResolvedTool:
    """Return the tool of *binding*."""
    definition = binding.definition
    return ResolvedTool(
        binding.server,
        definition.name,
        InlineTool(definition.json, definition.documents),
        definition.digest,
        definition.output_schema_digest or "",
    )
