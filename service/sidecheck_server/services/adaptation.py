"""Projection: the definitions of tools in the forms for protocol versions."""

import asyncio

from cachetools import LRUCache

from sidecheck_server.core.limits import Limits
from sidecheck_server.core.mcp.wrapping.definitions import AdaptedTool, adapt_tool
from sidecheck_server.services.targets import InlineTool, Target
from sidecheck_server.services.validation import Validator

__all__ = ["ToolAdapter"]

_INLINE_BYTES = 8 << 10
"""The largest definition that is projected in the event loop: some milliseconds, if it is
made of nothing but small schemas."""

_KEPT_BYTES = 16 << 20
"""How much text the forms may have together that stay known."""


class ToolAdapter:
    """Projects tools."""

    def __init__(self, validator: Validator, limits: Limits) -> None:
        self._validator = validator
        self._limits = limits
        self._known: LRUCache[tuple[bytes, str], AdaptedTool] = LRUCache(
            _KEPT_BYTES, getsizeof=lambda tool: len(tool.json)
        )

    async def project(self, target: Target, version: str) -> AdaptedTool:
        """Return the definition of the tool that *target* names in the form for *version*.

        Raises:
            Refusal: as `Validator.definition` and `adapt_tool`.
        """
        return await self.form(self._validator.definition(target).definition, version)

    async def form(self, definition: InlineTool, version: str) -> AdaptedTool:
        """Return *definition* in the form for *version*.

        Raises:
            Refusal: as `adapt_tool`.
        """
        text = definition.json
        found = self._known.get((text, version))
        if found is None:
            if len(text) <= _INLINE_BYTES:
                found = adapt_tool(text, version, self._limits)
            else:
                found = await asyncio.to_thread(adapt_tool, text, version, self._limits)
            if len(text) + len(found.json) <= self._known.maxsize:
                self._known[text, version] = found
        return found
