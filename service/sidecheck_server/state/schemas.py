"""The cache of compiled schemas: each is compiled once, however many ask for it."""

import asyncio
from collections.abc import Awaitable, Callable, Hashable
from copy import copy
from typing import NamedTuple

from cachetools import LRUCache

from sidecheck_server.core.compiled import CompiledSchema
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.refusals import Reason, Refusal
from sidecheck_server.core.schemas.compilation import Artifact
from sidecheck_server.core.schemas.source import SchemaSource

__all__ = ["CompiledSchemas"]

_INLINE, _REGISTERED = 0, 1

_BYTES_OF_ONE = 16 << 10
"""A schema with more text than this, its documents included, counts as several."""

Compile = Callable[[SchemaSource], Awaitable[Artifact]]

_TRANSIENT = frozenset({Reason.COMPILATION_FAILED})
"""The reasons that say nothing about the schema; everything else is the same each time."""


class _Kept(NamedTuple):
    outcome: CompiledSchema | Refusal
    weight: int


class CompiledSchemas:
    """Compiled schemas, and refusals to compile, by what they were made from.

    The least recently used are dropped. One cache each serves registered and inline
    schemas, so that callers who send schemas along never push out registered ones. As
    many schemas are kept as *registered* and *inline* say, or fewer if they are large.
    """

    def __init__(self, compile_: Compile, limits: Limits, registered: int, inline: int) -> None:
        self._compile = compile_
        self._limits = limits
        self._caches: tuple[LRUCache[Hashable, _Kept], ...] = (
            LRUCache(inline, getsizeof=_weight),
            LRUCache(registered, getsizeof=_weight),
        )
        self._under_way: dict[tuple[int, Hashable], asyncio.Task[CompiledSchema | Refusal]] = {}

    async def inline(self, source: SchemaSource) -> CompiledSchema:
        """Return the compiled schema of *source*, which was sent along.

        Raises:
            Refusal: the schema cannot be compiled.
        """
        return await self._get(_INLINE, source, lambda: source)

    async def registered(
        self,
        digest: str,
        source: SchemaSource | Callable[[], SchemaSource],
        *,
        assert_formats: bool = False,
    ) -> CompiledSchema:
        """Return the compiled schema of *digest*, of a tool that is or will be registered.

        *source*, or what it returns, is what to compile if need be.

        Raises:
            Refusal: the schema cannot be compiled.
        """
        make = (lambda: source) if isinstance(source, SchemaSource) else source
        return await self._get(_REGISTERED, (digest, assert_formats), make)

    async def _get(
        self, kind: int, key: Hashable, source: Callable[[], SchemaSource]
    ) -> CompiledSchema:
        kept = self._caches[kind].get(key)
        if kept is not None:
            found = kept.outcome
        else:
            task = self._under_way.get((kind, key))
            if task is None:
                task = asyncio.create_task(self._fill(kind, key, source()))
                self._under_way[kind, key] = task
                task.add_done_callback(lambda done: self._ended(kind, key, done))
            # The compilation outlives a caller who goes away: others may wait for it.
            found = await asyncio.shield(task)
        if isinstance(found, Refusal):
            # Raising adds to an exception's traceback, whose frames hold the caller's
            # request: the one that is kept must never be raised itself.
            raise copy(found)
        return found

    async def _fill(
        self, kind: int, key: Hashable, source: SchemaSource
    ) -> CompiledSchema | Refusal:
        try:
            artifact = await self._compile(source)
        except Refusal as refusal:
            found: CompiledSchema | Refusal = copy(refusal)
            if refusal.reason in _TRANSIENT:
                return found
        else:
            # A thousand large patterns take a second, and give way in between.
            found = await asyncio.to_thread(CompiledSchema, source, artifact, self._limits)
        kept = _Kept(found, 1 + _size(source) // _BYTES_OF_ONE)
        if kept.weight <= self._caches[kind].maxsize:
            self._caches[kind][key] = kept
        return found

    def _ended(
        self, kind: int, key: Hashable, task: asyncio.Task[CompiledSchema | Refusal]
    ) -> None:
        del self._under_way[kind, key]
        # Whoever still waits gets it; if nobody does, asyncio would print it.
        if not task.cancelled():
            task.exception()


def _weight(kept: _Kept) -> int:
    return kept.weight


def _size(source: SchemaSource) -> int:
    return len(source.json) + sum(len(document.json) for document in source.documents)
