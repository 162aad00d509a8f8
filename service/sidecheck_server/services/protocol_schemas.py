"""Surfaces that are compiled when they are first asked for, and stay."""

import asyncio
from collections.abc import Callable

from sidecheck_server.core.compiler.compiled_schema import CompiledSchema
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.mcp.protocol_schemas import NotCompiledError, source_of
from sidecheck_server.core.schemas.source import SchemaSource
from sidecheck_server.services.schemas import Compile, CompiledSchemas

__all__ = ["ProtocolSchemas"]


class ProtocolSchemas:
    """The compiled schemas of the protocol's types, by version and name.

    There are some hundreds of them, and no caller can add another: none is ever dropped.
    """

    def __init__(
        self,
        compile_: Compile,
        limits: Limits,
        source: Callable[[str, str], SchemaSource] = source_of,
    ) -> None:
        self._source = source
        # It lets those wait together who ask for the same; what is done is kept here.
        self._compiling = CompiledSchemas(compile_, limits, registered=0, inline=0)
        self._kept: dict[tuple[str, str], CompiledSchema] = {}

    def __call__(self, version: str, name: str) -> CompiledSchema:
        """Return the compiled schema of the type *name* in *version*.

        Raises:
            NotCompiledError: it is not there yet; see `ensure`.
        """
        found = self._kept.get((version, name))
        if found is None:
            raise NotCompiledError(version, name)
        return found

    async def ensure(self, version: str, name: str) -> None:
        """Return when the type *name* of *version* is there.

        Raises:
            KeyError: *version* has no such type.
            Refusal: the worker that compiled it died or took too long.
        """
        if (version, name) in self._kept:
            return
        compiled = await self._compiling.inline(self._source(version, name))
        # The engine that explains takes some milliseconds to make, too long for the loop.
        await asyncio.to_thread(lambda: compiled.complete)
        self._kept[version, name] = compiled
