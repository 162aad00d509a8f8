"""Compiled schemas: those of registered tools, those of requests, those of the protocol."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeAlias

from sidecheck_server.core.compiler.compilation import Artifact, CompiledSchema
from sidecheck_server.core.errors import RequestError
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.mcp.protocol_schemas import NotCompiledError, type_schema_source
from sidecheck_server.core.schemas.dialects import SchemaSource
from sidecheck_server.services.cache import Begin, Cache

__all__ = ["Compile", "CompiledSchemas", "ProtocolSchemas"]

#: Compiles a schema, and calls back when it begins.
Compile: TypeAlias = Callable[[SchemaSource, Begin], Awaitable[Artifact]]

_BYTES_PER_UNIT = 16 << 10
"""The text of a schema, its documents included, that weighs as much as a small schema."""

_PATTERN_WEIGHT = 64
"""The weight of a pattern: what RE2 keeps of past searches may fill a megabyte."""


class CompiledSchemas:
    """Cache of compiled schemas, and of the errors of schemas that cannot be compiled.

    Registered and inline schemas have a cache each, so that requests with inline schemas
    never displace registered ones. *registered* and *inline* are the numbers of small
    schemas that are kept; large ones count as several.
    """

    def __init__(self, compile_: Compile, limits: Limits, registered: int, inline: int) -> None:
        self._compile = compile_
        self._limits = limits
        # By digest, and whether formats are asserted.
        self._registered: Cache[tuple[str, bool], CompiledSchema] = Cache(
            registered, lambda _, outcome: _weight(outcome)
        )
        self._inline: Cache[SchemaSource, CompiledSchema] = Cache(
            inline, lambda source, outcome: _weight(outcome, source)
        )

    async def inline(self, source: SchemaSource) -> CompiledSchema:
        """Return the compiled schema of *source*, which a request contains.

        Raises:
            RequestError: the schema cannot be compiled.
        """
        return await self._inline.get(source, lambda begin: self._compiled(source, begin))

    async def registered(
        self,
        digest: str,
        source: SchemaSource | Callable[[], SchemaSource],
        *,
        assert_formats: bool = False,
    ) -> CompiledSchema:
        """Return the compiled schema of *digest*, of a tool that is or will be registered.

        *source*, or the result of calling it, is compiled if the schema is not cached.

        Raises:
            RequestError: the schema cannot be compiled.
        """

        async def compute(begin: Begin) -> CompiledSchema:
            text = source if isinstance(source, SchemaSource) else source()
            return await self._compiled(text, begin)

        return await self._registered.get((digest, assert_formats), compute)

    async def _compiled(self, source: SchemaSource, begin: Begin) -> CompiledSchema:
        artifact = await self._compile(source, begin)
        # A thousand large patterns take a second to load.
        return await asyncio.to_thread(_load, source, artifact, self._limits)


class ProtocolSchemas:
    """Compiled schemas of the protocol's types, by protocol version and type name.

    Each is compiled when it is first needed. There are some hundreds of them and requests
    cannot add any, so none is ever dropped.
    """

    def __init__(
        self,
        compile_: Compile,
        limits: Limits,
        source: Callable[[str, str], SchemaSource] = type_schema_source,
    ) -> None:
        self._compile = compile_
        self._limits = limits
        self._source = source
        self._schemas: Cache[tuple[str, str], CompiledSchema] = Cache(None, lambda *_: 0)

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
            artifact = await self._compile(source, begin)
            return await asyncio.to_thread(_load_complete, source, artifact, self._limits)

        await self._schemas.get((version, name), compute)


def _load(source: SchemaSource, artifact: Artifact, limits: Limits) -> CompiledSchema:
    compiled = CompiledSchema(source, artifact, limits)
    if not compiled.backtracking:
        _ = compiled.fast
    return compiled


def _load_complete(source: SchemaSource, artifact: Artifact, limits: Limits) -> CompiledSchema:
    compiled = _load(source, artifact, limits)
    # The engine that explains takes some milliseconds to build.
    _ = compiled.complete
    return compiled


def _weight(outcome: CompiledSchema | RequestError, source: SchemaSource | None = None) -> int:
    """Return the weight of a cache entry: 1 for a small schema."""
    if isinstance(outcome, RequestError):
        size = sum(violation.length for violation in outcome.violations)
        return 1 + (size + (0 if source is None else _size(source))) // _BYTES_PER_UNIT
    weight = 1 + _size(outcome.source) // _BYTES_PER_UNIT
    if outcome.artifact.fast is not None:
        weight += _PATTERN_WEIGHT * len(outcome.artifact.fast.patterns)
    return weight


def _size(source: SchemaSource) -> int:
    return len(source.json) + sum(len(document.json) for document in source.documents)
