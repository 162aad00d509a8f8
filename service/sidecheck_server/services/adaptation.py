"""Adaptation of tool definitions to protocol versions."""

from sidecheck_server.core.limits import Limits
from sidecheck_server.core.mcp.wrapping.definitions import AdaptedTool, adapt_tool
from sidecheck_server.services.cache import DEFAULT_SHARES, Begin, Cache, weigh_entry
from sidecheck_server.services.offload import OffloadRule, Work
from sidecheck_server.services.targets import InlineTool

__all__ = ["ToolAdapter"]


class ToolAdapter:
    """Adapts tool definitions to protocol versions, and caches the results.

    They may take *memory* bytes.
    """

    def __init__(self, limits: Limits, memory: int = DEFAULT_SHARES.adapted_tools) -> None:
        self._limits = limits
        self._offload = OffloadRule(limits)
        # By the text of the definition and the protocol version.
        self._cache: Cache[tuple[bytes, str], AdaptedTool] = Cache(memory, weigh_entry)

    @property
    def cache(self) -> Cache[tuple[bytes, str], AdaptedTool]:
        """The cache, for metrics."""
        return self._cache

    async def adapt(self, definition: InlineTool, version: str) -> AdaptedTool:
        """Return *definition*, adapted to *version*.

        Raises:
            RequestError: as `adapt_tool`.
        """
        text = definition.json

        async def compute(_: Begin) -> AdaptedTool:
            return await self._offload.run(
                Work.ADAPT_DEFINITION, text, lambda: adapt_tool(text, version, self._limits)
            )

        return await self._cache.get((text, version), compute)
