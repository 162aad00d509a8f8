"""Tool definitions that are sent along, read once for several requests."""

import asyncio
from contextlib import suppress

from cachetools import LRUCache

from sidecheck_server.core.errors import RequestError
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.mcp.tools.definitions import ToolDefinition, read_tool
from sidecheck_server.services.targets import InlineTool

__all__ = ["InlineTools"]

_KEPT_BYTES = 64 << 20
"""How much text the tools may have together that stay read."""

_INLINE_BYTES = 16 << 10
"""The largest definition that is read in the event loop: a few milliseconds."""


class InlineTools:
    """Reads definitions, and keeps those that were read last."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._kept: LRUCache[InlineTool, ToolDefinition] = LRUCache(_KEPT_BYTES, getsizeof=_size)

    def read(self, tool: InlineTool) -> ToolDefinition:
        """Return the definition that *tool* is.

        Raises:
            Refusal: as `read_tool`.
        """
        found = self._kept.get(tool)
        if found is None:
            found = read_tool(tool.json, tool.documents, self._limits)
            self._kept[tool] = found
        return found

    async def read_ahead(self, tool: InlineTool) -> None:
        """Read a large *tool* beside the event loop, for whoever asks for it next.

        What is wrong with it, they find out.
        """
        if len(tool.json) > _INLINE_BYTES and tool not in self._kept:
            with suppress(RequestError):
                self._kept[tool] = await asyncio.to_thread(
                    read_tool, tool.json, tool.documents, self._limits
                )


def _size(tool: ToolDefinition) -> int:
    schemas = (tool.input, tool.output)
    texts = [tool.json, *(schema.json for schema in schemas if schema is not None)]
    return sum(map(len, texts)) + sum(len(document.json) for document in tool.input.documents)
