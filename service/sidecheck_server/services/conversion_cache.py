"""Forms of definitions: converted at once or by a worker, and kept."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from copy import copy
from dataclasses import dataclass, replace
from typing import NamedTuple

import msgspec
from cachetools import LRUCache

from sidecheck_server.core.convert.converted_tool import ToolForm
from sidecheck_server.core.convert.providers.provider import Provider
from sidecheck_server.core.convert.tool_conversion import convert_definition
from sidecheck_server.core.convert.types import ConversionOptions, ModelApi, ServerPrefix
from sidecheck_server.core.errors import RequestError
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.mcp.tools.definitions import read_tool
from sidecheck_server.core.types import Document
from sidecheck_server.services.schemas import is_passing
from sidecheck_server.services.targets import InlineTool

__all__ = ["ConvertLong", "Forms"]

#: Converts a definition in a worker.
ConvertLong = Callable[
    [bytes, tuple[Document, ...], ModelApi, ConversionOptions], Awaitable[ToolForm]
]

_INLINE_BYTES = 8 << 10
"""The largest definition that is converted in the event loop: a few milliseconds."""

_KEPT_BYTES = 64 << 20
"""How much text all forms that are kept, and what they were made of, may have together."""

_LEAST_WEIGHT = 1 << 10
"""What a form takes beside its text."""
_LOSS_WEIGHT = 200
"""What a loss takes beside its text."""
_GUIDE_WEIGHT = 4
"""How many times the length of its JSON text a guide takes."""


@dataclass(frozen=True, slots=True)
class _Key:
    # The text rather than its digest: definitions that differ in the order of members
    # have one digest, and models are shown that order.
    definition: InlineTool
    api: ModelApi
    options: ConversionOptions


class _Kept(NamedTuple):
    outcome: ToolForm | RequestError
    weight: int


class Forms:
    """The forms of definitions, and refusals of those that have none."""

    def __init__(self, convert_long: ConvertLong, limits: Limits) -> None:
        self._convert_long = convert_long
        self._limits = limits
        self._at_once = replace(limits, steps=min(limits.steps, limits.inline_steps))
        # What the event loop has to do for many tools of many requests is done one by one.
        self._turn = asyncio.Lock()
        self._kept: LRUCache[_Key, _Kept] = LRUCache(_KEPT_BYTES, getsizeof=_weight)

    async def form(
        self, definition: InlineTool, api: Provider, options: ConversionOptions
    ) -> ToolForm:
        """Return the form that *definition* has for *api*.

        Raises:
            Refusal: as `form_of` and `read_tool`; LIMIT_EXCEEDED if it takes too many
                seconds or too much memory; WORKER_CRASHED if the worker died.
        """
        # A form has no name.
        options = replace(options, server_prefix=ServerPrefix.AUTOMATIC)
        key = _Key(definition, api.key, options)
        kept = self._kept.get(key)
        found = await self._made(key, api) if kept is None else kept.outcome
        if isinstance(found, RequestError):
            # A traceback must not keep the caller's request.
            raise copy(found)
        return found

    async def _made(self, key: _Key, api: Provider) -> ToolForm | RequestError:
        definition, options = key.definition, key.options
        try:
            async with self._turn:
                # Converting holds the loop; other calls have their turn in between.
                await asyncio.sleep(0)
                found: ToolForm | RequestError | None = self._made_at_once(definition, api, options)
            if found is None:
                found = await self._convert_long(
                    definition.json, definition.documents, api.key, options
                )
        except RequestError as refusal:
            found = copy(refusal)
            if is_passing(refusal):
                return found
        with suppress(ValueError):  # it is larger than all that is kept
            self._kept[key] = _Kept(found, _size(definition) + _size_of(found))
        return found

    def _made_at_once(
        self, definition: InlineTool, api: Provider, options: ConversionOptions
    ) -> ToolForm | None:
        """Return the form, or None if to make it takes longer than a moment."""
        if _size(definition) > _INLINE_BYTES:
            return None
        try:
            read = read_tool(definition.json, definition.documents, self._at_once)
            return convert_definition(read, api, options, self._at_once)
        except RequestError as refusal:
            if refusal.metadata.get("bound") == "steps":
                return None
            raise


def _size(definition: InlineTool) -> int:
    return len(definition.json) + sum(len(document.json) for document in definition.documents)


def _size_of(found: ToolForm | RequestError) -> int:
    if isinstance(found, RequestError):
        return _LEAST_WEIGHT + sum(problem.length for problem in found.violations)
    guide = b"" if found.decoder is None else msgspec.json.encode(found.decoder)
    beside = _LOSS_WEIGHT * len(found.losses) + _GUIDE_WEIGHT * len(guide)
    return _LEAST_WEIGHT + found.length + beside


def _weight(kept: _Kept) -> int:
    return kept.weight
