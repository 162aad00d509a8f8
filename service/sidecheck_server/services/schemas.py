"""The cache of compiled schemas: each is compiled once, however many ask for it."""

import asyncio
from collections.abc import Awaitable, Callable, Hashable
from copy import copy
from dataclasses import dataclass
from typing import NamedTuple

from cachetools import LRUCache

from sidecheck_server.core.compiler.compilation import Artifact
from sidecheck_server.core.compiler.compiled_schema import CompiledSchema
from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.schemas.source import SchemaSource

__all__ = ["Compile", "CompiledSchemas", "is_passing"]

_INLINE, _REGISTERED = 0, 1

_BYTES_OF_ONE = 16 << 10
"""A schema with more text than this, its documents included, counts as several."""

_PATTERN = 64
"""Each pattern counts as so many more: what it keeps of past searches may fill a megabyte."""

#: Compiles a schema, and calls back when it begins.
Compile = Callable[[SchemaSource, Callable[[], None]], Awaitable[Artifact]]

_MACHINE = frozenset({"compile_seconds", "worker_bytes"})
"""The bounds that another time might hold; every other refusal is the same each time."""


class _Kept(NamedTuple):
    outcome: CompiledSchema | RequestError
    weight: int


@dataclass(slots=True)
class _UnderWay:
    """A compilation, and how many wait for it."""

    begun: bool = False
    waiting: int = 0
    task: asyncio.Task[CompiledSchema | RequestError] | None = None

    def begin(self) -> None:
        self.begun = True


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
        self._under_way: dict[tuple[int, Hashable], _UnderWay] = {}

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
            found = await self._compiled(kind, key, source)
        if isinstance(found, RequestError):
            # Raising adds to an exception's traceback, whose frames hold the caller's
            # request: the one that is kept must never be raised itself.
            raise copy(found)
        return found

    async def _compiled(
        self, kind: int, key: Hashable, source: Callable[[], SchemaSource]
    ) -> CompiledSchema | RequestError:
        one = self._under_way.get((kind, key))
        if one is None or one.task is None:
            text, one = source(), _UnderWay()
            self._under_way[kind, key] = one
            one.task = asyncio.create_task(self._fill(kind, key, text, one.begin))
            one.task.add_done_callback(lambda done: self._ended(kind, key, done))
        one.waiting += 1
        try:
            # Once begun it outlives a caller who goes away: it is needed again.
            return await asyncio.shield(one.task)
        finally:
            one.waiting -= 1
            if not one.waiting and not one.begun:
                self._under_way.pop((kind, key), None)
                one.task.cancel()

    async def _fill(
        self, kind: int, key: Hashable, source: SchemaSource, begin: Callable[[], None]
    ) -> CompiledSchema | RequestError:
        try:
            artifact = await self._compile(source, begin)
        except RequestError as refusal:
            found: CompiledSchema | RequestError = copy(refusal)
            if is_passing(refusal):
                return found
        else:
            # A thousand large patterns take a second, and give way in between.
            found = await asyncio.to_thread(_loaded, source, artifact, self._limits)
        kept = _Kept(found, _weight_of(source, found))
        if kept.weight <= self._caches[kind].maxsize:
            self._caches[kind][key] = kept
        return found

    def _ended(
        self, kind: int, key: Hashable, task: asyncio.Task[CompiledSchema | RequestError]
    ) -> None:
        one = self._under_way.get((kind, key))
        if one is not None and one.task is task:
            del self._under_way[kind, key]
        # Whoever still waits gets it; if nobody does, asyncio would print it.
        if not task.cancelled():
            task.exception()


def _loaded(source: SchemaSource, artifact: Artifact, limits: Limits) -> CompiledSchema:
    compiled = CompiledSchema(source, artifact, limits)
    if not compiled.backtracking:
        _ = compiled.fast
    return compiled


def is_passing(refusal: RequestError) -> bool:
    """Return whether the same schema may be compiled another time."""
    return refusal.reason is ErrorReason.WORKER_CRASHED or refusal.metadata.get("bound") in _MACHINE


def _weight(kept: _Kept) -> int:
    return kept.weight


def _weight_of(source: SchemaSource, found: CompiledSchema | RequestError) -> int:
    weight = 1 + _size(source) // _BYTES_OF_ONE
    if isinstance(found, CompiledSchema) and found.artifact.fast is not None:
        weight += _PATTERN * len(found.artifact.fast.patterns)
    return weight


def _size(source: SchemaSource) -> int:
    return len(source.json) + sum(len(document.json) for document in source.documents)
