"""Compiled schemas and rule visitors of the protocol's types, by version."""

from collections.abc import Callable
from functools import lru_cache

import msgspec

from sidecheck_server.core.compiler.compilation import CompiledSchema, compile_schema
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.mcp.rules.catalogue import RULES
from sidecheck_server.core.mcp.rules.visitors import Visitors
from sidecheck_server.core.mcp.types.rendering import render_schema
from sidecheck_server.core.mcp.types.tables import TYPES
from sidecheck_server.core.schemas.source import SchemaSource

__all__ = [
    "NotCompiledError",
    "SchemaLookup",
    "compile_protocol_schemas",
    "type_schema_source",
    "visitors_of",
]


class NotCompiledError(Exception):
    """The schema of a type is not compiled yet; the caller compiles it and tries again."""

    def __init__(self, version: str, name: str) -> None:
        super().__init__(version, name)
        self.version = version
        self.name = name


#: Returns the compiled schema of a type, by version and name of the type.
#:
#: Raises:
#:     NotCompiledError: the schema is not compiled yet.
SchemaLookup = Callable[[str, str], CompiledSchema]


@lru_cache(maxsize=1024)  # more than there are types and versions
def type_schema_source(version: str, name: str) -> SchemaSource:
    """Return the schema source of the type *name* in *version*.

    Raises:
        KeyError: *version* has no such type.
    """
    return SchemaSource(msgspec.json.encode(render_schema(TYPES, name, version)))


@lru_cache(maxsize=16)  # more than there are versions
def visitors_of(version: str) -> Visitors:
    """Return the visitors that apply the rules of *version*."""
    return Visitors(TYPES, RULES, version)


def compile_protocol_schemas(limits: Limits) -> SchemaLookup:
    """Return a lookup that compiles each schema at its first use and caches it."""
    cache: dict[tuple[str, str], CompiledSchema] = {}

    def lookup(version: str, name: str) -> CompiledSchema:
        compiled = cache.get((version, name))
        if compiled is None:
            source = type_schema_source(version, name)
            compiled = CompiledSchema(source, compile_schema(source, limits), limits)
            cache[version, name] = compiled
        return compiled

    return lookup
