"""The cache of compiled schemas: each is compiled once, however many ask for it."""

import asyncio
from collections.abc import Awaitable, Callable, Hashable, MutableMapping

from cachetools import LRUCache

from sidecheck_server.core.compiled import CompiledSchema
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.refusals import Reason, Refusal
from sidecheck_server.core.schemas.compilation import Artifact
from sidecheck_server.core.schemas.source import SchemaSource

__all__ = ["CompiledSchemas"]

_INLINE, _REGISTERED = 0, 1

Compile = Callable[[SchemaSource], Awaitable[Artifact]]

_TRANSIENT = frozenset({Reason.COMPILATION_FAILED})
"""The reasons that say nothing about the schema; everything else is the same each time."""


class CompiledSchemas:
    """Compiled schemas, and refusals to compile, by what they were made from.

    The least recently used are dropped. One cache each serves registered and inline
    schemas, so that callers who send schemas along never push out registered ones.
    """

    def __init__(self, compile_: Compile, limits: Limits, registered: int, inline: int) -> None:
        self._compile = compile_
        self._limits = limits
        self._caches: tuple[MutableMapping[Hashable, CompiledSchema | Refusal], ...] = (
            LRUCache(inline),
            LRUCache(registered),
        )
        self._under_way: dict[tuple[int, Hashable], asyncio.Task[CompiledSchema]] = {}

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
        found = self._caches[kind].get(key)
        if found is None:
            task = self._under_way.get((kind, key))
            if task is None:
                task = asyncio.create_task(self._fill(kind, key, source()))
                self._under_way[kind, key] = task
                task.add_done_callback(lambda _: self._under_way.pop((kind, key)))
            # The compilation outlives a caller who goes away: others may wait for it.
            found = await asyncio.shield(task)
        if isinstance(found, Refusal):
            raise found
        return found

    async def _fill(self, kind: int, key: Hashable, source: SchemaSource) -> CompiledSchema:
        try:
            artifact = await self._compile(source)
        except Refusal as refusal:
            if refusal.reason not in _TRANSIENT:
                self._caches[kind][key] = refusal
            raise
        compiled = CompiledSchema(source, artifact, self._limits)
        self._caches[kind][key] = compiled
        return compiled
