"""Caches of compiled schemas of registered tools, requests and the protocol."""

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

from sidecheck_server.core.compiler.compilation import Artifact, CompiledSchema
from sidecheck_server.core.errors import RequestError
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.mcp.protocol_schemas import NotCompiledError, type_schema_source
from sidecheck_server.core.schemas.dialects import SchemaSource
from sidecheck_server.services.cache import Begin, Cache, weigh_entry
from sidecheck_server.workers.tasks import CompileSchema, RunTask

__all__ = ["CompiledSchemas", "ProtocolSchemas"]


class CompiledSchemas:
    """Cache of compiled schemas, and of the errors of schemas that cannot be compiled.

    Registered and inline schemas have separate caches, so that requests with inline schemas
    never displace registered ones. *registered* and *inline* are their capacities in bytes.
    """

    def __init__(self, run: RunTask, limits: Limits, registered: int, inline: int) -> None:
        self._run = run
        self._limits = limits
        # Keys: the digest, and whether formats are asserted.
        self._registered: Cache[tuple[str, bool], CompiledSchema] = Cache(registered, _weigh_schema)
        self._inline: Cache[SchemaSource, CompiledSchema] = Cache(inline, _weigh_schema)

    @property
    def caches(self) -> Mapping[str, Cache[Any, CompiledSchema]]:
        """The caches by their names, for metrics."""
        return {"registered_schemas": self._registered, "inline_schemas": self._inline}

    @property
    def dropped(self) -> int:
        """Number of registered schemas that were evicted, or too heavy to be stored.

        An object that holds compiled schemas outside the cache drops them when this changes.
        """
        return self._registered.dropped

    async def inline(self, source: SchemaSource) -> CompiledSchema:
        """Return the compiled schema of *source*, which a request contains.

        Raises:
            RequestError: the schema cannot be compiled.
        """
        return await self._inline.get(source, lambda begin: self.compile(source, begin))

    async def registered(
        self,
        digest: str,
        source: SchemaSource | Callable[[], SchemaSource],
        *,
        assert_formats: bool = False,
    ) -> CompiledSchema:
        """Return the compiled schema of *digest*, which belongs to a registered tool.

        The tool may also be one that is about to be registered. If the schema is not cached,
        *source*, or the result of calling it, is compiled.

        Raises:
            RequestError: the schema cannot be compiled.
        """

        async def compute(begin: Begin) -> CompiledSchema:
            text = source if isinstance(source, SchemaSource) else source()
            return await self.compile(text, begin)

        return await self._registered.get((digest, assert_formats), compute)

    async def compile(self, source: SchemaSource, begin: Begin) -> CompiledSchema:
        """Compile *source*, which is not cached; *begin* is called when the task starts.

        Raises:
            RequestError: the schema cannot be compiled.
        """
        artifact = await self._run(CompileSchema(source), begin)
        # In a thread: a thousand large patterns take a second to load.
        return await asyncio.to_thread(_load, source, artifact, self._limits)


class ProtocolSchemas:
    """Compiled schemas of the protocol's types, by protocol version and type name.

    Each is compiled at its first use. Requests cannot add to the some hundreds of types, so
    none is ever dropped; all of them take 16 MiB.
    """

    def __init__(
        self,
        run: RunTask,
        limits: Limits,
        source: Callable[[str, str], SchemaSource] = type_schema_source,
    ) -> None:
        self._run = run
        self._limits = limits
        self._source = source
        self._schemas: Cache[tuple[str, str], CompiledSchema] = Cache(None, lambda *_: 0)

    @property
    def cache(self) -> Cache[tuple[str, str], CompiledSchema]:
        """The cache, for metrics."""
        return self._schemas

    def __call__(self, version: str, name: str) -> CompiledSchema:
        """Return the compiled schema of the type *name* of *version*.

        Raises:
            NotCompiledError: the schema is not compiled yet; see `ensure`.
        """
        schema = self._schemas.find((version, name))
        if schema is None:
            raise NotCompiledError(version, name)
        return schema

    async def ensure(self, version: str, name: str) -> None:
        """Compile the type *name* of *version* unless it is compiled.

        Raises:
            KeyError: *version* has no such type.
            RequestError: the worker that compiled it crashed or took too long.
        """

        async def compute(begin: Begin) -> CompiledSchema:
            source = self._source(version, name)
            artifact = await self._run(CompileSchema(source, is_known_valid=True), begin)
            return await asyncio.to_thread(_load_complete, source, artifact, self._limits)

        await self._schemas.get((version, name), compute)


def _load(source: SchemaSource, artifact: Artifact, limits: Limits) -> CompiledSchema:
    compiled = CompiledSchema(source, artifact, limits)
    if not compiled.backtracking:
        _ = compiled.fast
    return compiled


def _load_complete(source: SchemaSource, artifact: Artifact, limits: Limits) -> CompiledSchema:
    compiled = _load(source, artifact, limits)
    # Building the engine that explains takes milliseconds, which the event loop must not spend.
    _ = compiled.complete
    return compiled


def _weigh_schema(key: object, outcome: CompiledSchema | RequestError) -> int:
    if isinstance(outcome, RequestError):
        return weigh_entry(key, outcome)
    # The weight of the artifact includes the source, which may also be the key.
    return weigh_entry(key, None) + outcome.artifact.memory
