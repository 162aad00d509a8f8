"""Projection: the definitions of tools in the forms for protocol versions."""

import asyncio

from cachetools import LRUCache

from sidecheck_server.core.limits import Limits
from sidecheck_server.core.mcp.boxes.definitions import ProjectedTool, project_tool
from sidecheck_server.state.targets import InlineTool, Target
from sidecheck_server.state.validation import Validator

__all__ = ["Projector"]

_BYTES_AT_ONCE = 8 << 10
"""The largest definition that is projected in the event loop: some milliseconds, if it is
made of nothing but small schemas."""

_KEPT_BYTES = 16 << 20
"""How much text the forms may have together that stay known."""


class Projector:
    """Projects tools."""

    def __init__(self, validator: Validator, limits: Limits) -> None:
        self._validator = validator
        self._limits = limits
        self._known: LRUCache[tuple[bytes, str], ProjectedTool] = LRUCache(
            _KEPT_BYTES, getsizeof=lambda tool: len(tool.json)
        )

    async def project(self, target: Target, version: str) -> ProjectedTool:
        """Return the definition of the tool that *target* names in the form for *version*.

        Raises:
            Refusal: as `Validator.definition` and `project_tool`.
        """
        return await self.form(self._validator.definition(target).definition, version)

    async def form(self, definition: InlineTool, version: str) -> ProjectedTool:
        """Return *definition* in the form for *version*.

        Raises:
            Refusal: as `project_tool`.
        """
        text = definition.json
        found = self._known.get((text, version))
        if found is None:
            if len(text) <= _BYTES_AT_ONCE:
                found = project_tool(text, version, self._limits)
            else:
                found = await asyncio.to_thread(project_tool, text, version, self._limits)
            if len(text) + len(found.json) <= self._known.maxsize:
                self._known[text, version] = found
        return found
