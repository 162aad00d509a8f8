"""Cache of converted definitions, which have no names yet."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from sidecheck_server.core.convert.converted_tool import ToolForm
from sidecheck_server.core.convert.providers.provider import Provider
from sidecheck_server.core.convert.tool_conversion import convert_definition
from sidecheck_server.core.convert.types import ConversionOptions, ModelApi, ServerPrefix
from sidecheck_server.core.errors import RequestError
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.mcp.tool_definitions import read_tool
from sidecheck_server.core.types import Document
from sidecheck_server.services.cache import Begin, Cache
from sidecheck_server.services.memory import DEFAULT_SHARES, weigh_entry
from sidecheck_server.services.offload import OffloadRule, Work, steps_of
from sidecheck_server.services.request_work import charge_work
from sidecheck_server.services.targets import InlineTool

__all__ = ["ConversionCache", "OffloadConversion"]

#: Converts a definition in a worker.
OffloadConversion: TypeAlias = Callable[
    [bytes, tuple[Document, ...], ModelApi, ConversionOptions], Awaitable[ToolForm]
]


_ENTRY_STEPS = 10_000
"""Steps of converting a definition, however short, and of looking it up."""


@dataclass(frozen=True, slots=True)
class _Key:
    # The text rather than its digest: definitions that differ in the order of properties
    # have the same digest, and models are shown that order.
    definition: InlineTool
    api: ModelApi
    options: ConversionOptions


class ConversionCache:
    """Converts definitions, in the event loop or in a worker, and keeps the results.

    They may take *memory* bytes.
    """

    def __init__(
        self,
        offload_conversion: OffloadConversion,
        limits: Limits,
        memory: int = DEFAULT_SHARES.conversions,
    ) -> None:
        self._offload_conversion = offload_conversion
        self._limits = limits
        self._inline_limits = replace(limits, steps=min(limits.steps, limits.inline_steps))
        self._offload = OffloadRule(limits)
        # Conversions in the event loop take turns, so that other calls run in between.
        self._lock = asyncio.Lock()
        self._cache: Cache[_Key, ToolForm] = Cache(memory, weigh_entry)

    @property
    def cache(self) -> Cache[Any, ToolForm]:
        """The cache, for metrics."""
        return self._cache

    async def convert(
        self, definition: InlineTool, api: Provider, options: ConversionOptions
    ) -> ToolForm:
        """Return *definition* converted to *api*.

        Raises:
            RequestError: as `form_of` and `read_tool`; LIMIT_EXCEEDED if it takes too much
                time or memory; WORKER_CRASHED.
        """
        # Prefixes are part of the name, which is added later.
        options = replace(options, server_prefix=ServerPrefix.AUTOMATIC)

        async def compute(_: Begin) -> ToolForm:
            async with self._lock:
                await asyncio.sleep(0)
                form = self._try_inline(definition, api, options)
            if form is not None:
                return form
            documents = definition.documents
            return await self._offload_conversion(definition.json, documents, api.key, options)

        return await self._cache.get(_Key(definition, api.key, options), compute)

    def _try_inline(
        self, definition: InlineTool, api: Provider, options: ConversionOptions
    ) -> ToolForm | None:
        """Return the converted definition, or None if it takes too many steps."""
        if not self._offload.runs_inline(Work.CONVERT_DEFINITION, definition.size):
            return None
        charge_work(_ENTRY_STEPS + steps_of(Work.CONVERT_DEFINITION, definition.json))
        try:
            tool = read_tool(definition.json, definition.documents, self._inline_limits)
            return convert_definition(tool, api, options, self._inline_limits)
        except RequestError as error:
            if error.metadata.get("bound") == "steps":
                return None
            raise
