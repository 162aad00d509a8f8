"""Surfaces: what judges values of the protocol's types, version by version."""

from collections.abc import Callable
from functools import lru_cache

import msgspec

from sidecheck_server.core.compiler.compilation import compile_source
from sidecheck_server.core.compiler.compiled_schema import CompiledSchema
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.mcp.rules.catalogue import RULES
from sidecheck_server.core.mcp.types.rendering import rendered
from sidecheck_server.core.mcp.types.tables import TYPES
from sidecheck_server.core.mcp.types.visitors import Visitors
from sidecheck_server.core.schemas.source import SchemaSource

__all__ = ["NotCompiledError", "Surfaces", "compile_protocol_schemas", "source_of", "visitors_of"]


class NotCompiledError(Exception):
    """The schema of a type is not compiled yet, and compiling it is for someone else."""

    def __init__(self, version: str, name: str) -> None:
        super().__init__(version, name)
        self.version = version
        self.name = name


#: Returns the compiled schema of the type of a name in a version.
#:
#: Raises:
#:     NotCompiledError: it is to be asked again when that is done.
Surfaces = Callable[[str, str], CompiledSchema]


@lru_cache(maxsize=1024)  # There are fewer types and versions.
def source_of(version: str, name: str) -> SchemaSource:
    """Return what the schema of the type *name* in *version* is compiled from.

    Raises:
        KeyError: *version* has no such type.
    """
    return SchemaSource(msgspec.json.encode(rendered(TYPES, name, version)))


@lru_cache(maxsize=16)  # There are fewer versions.
def visitors_of(version: str) -> Visitors:
    """Return the visitors that apply the rules of *version*."""
    return Visitors(TYPES, RULES, version)


def compile_protocol_schemas(limits: Limits) -> Surfaces:
    """Return surfaces that compile what they are asked for, once, which takes a while."""
    kept: dict[tuple[str, str], CompiledSchema] = {}

    def surface(version: str, name: str) -> CompiledSchema:
        found = kept.get((version, name))
        if found is None:
            source = source_of(version, name)
            found = CompiledSchema(source, compile_source(source, limits), limits)
            kept[version, name] = found
        return found

    return surface
