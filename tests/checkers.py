"""Checkers without workers: what takes long is done here."""

from sidecheck_server.core.compiled import CompiledSchema
from sidecheck_server.core.judge import Judging, judge
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.mcp.check import Checked, check
from sidecheck_server.core.mcp.subjects import Asked
from sidecheck_server.core.mcp.surfaces import compiling_surfaces
from sidecheck_server.core.schemas.compilation import Artifact, compile_source
from sidecheck_server.core.schemas.source import SchemaSource
from sidecheck_server.core.words import Verdict
from sidecheck_server.state.protocol import Checker
from sidecheck_server.state.schemas import CompiledSchemas
from sidecheck_server.state.surfaces import KeptSurfaces

__all__ = ["SURFACES", "checker_of"]

_LIMITS = Limits()
SURFACES = compiling_surfaces(_LIMITS)


async def _compile(source: SchemaSource, begun: object) -> Artifact:
    return compile_source(source, _LIMITS)


async def _check(asked: Asked) -> Checked:
    return check(asked, _LIMITS, SURFACES)


async def _judge(compiled: CompiledSchema, payload: bytes, how: Judging) -> Verdict:
    return judge(compiled, payload, how)


def checker_of(schemas: CompiledSchemas) -> Checker:
    """Return a checker that has the schemas of payloads compiled by *schemas*."""
    return Checker(KeptSurfaces(_compile, _LIMITS), schemas, _check, _judge, _LIMITS)
