"""Adaptation of tool definitions to protocol versions."""

from sidecheck_server.core.errors import RequestError
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.mcp.wrapping.definitions import AdaptedTool, adapt_tool
from sidecheck_server.services.cache import Begin, Cache
from sidecheck_server.services.offload import OffloadRule, Work
from sidecheck_server.services.targets import InlineTool

__all__ = ["ToolAdapter"]

_CAPACITY = 16 << 20
"""The text of all cached definitions and what they were adapted to, in bytes."""


class ToolAdapter:
    """Adapts tool definitions to protocol versions, and caches the results."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._offload = OffloadRule(limits)
        # By the text of the definition and the protocol version.
        self._cache: Cache[tuple[bytes, str], AdaptedTool] = Cache(_CAPACITY, _weight)

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


def _weight(key: tuple[bytes, str], outcome: AdaptedTool | RequestError) -> int:
    text, _ = key
    if isinstance(outcome, RequestError):
        return len(text) + sum(violation.length for violation in outcome.violations)
    return len(text) + len(outcome.json)
