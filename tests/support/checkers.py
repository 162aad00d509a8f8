"""Checkers without workers: what takes long is done here."""

from sidecheck_server.core.compiler.compilation import Artifact, compile_source
from sidecheck_server.core.compiler.compiled_schema import CompiledSchema
from sidecheck_server.core.evaluate import EvaluationOptions, judge
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.mcp.check import Checked, check
from sidecheck_server.core.mcp.protocol_schemas import compile_protocol_schemas
from sidecheck_server.core.mcp.subjects import CheckRequest
from sidecheck_server.core.schemas.source import SchemaSource
from sidecheck_server.core.types import Verdict
from sidecheck_server.services.protocol import Checker
from sidecheck_server.services.protocol_schemas import ProtocolSchemas
from sidecheck_server.services.schemas import CompiledSchemas

__all__ = ["SURFACES", "checker_of"]

_LIMITS = Limits()
SURFACES = compile_protocol_schemas(_LIMITS)


async def _compile(source: SchemaSource, begun: object) -> Artifact:
    return compile_source(source, _LIMITS)


async def _check(asked: CheckRequest) -> Checked:
    return check(asked, _LIMITS, SURFACES)


async def _judge(compiled: CompiledSchema, payload: bytes, how: EvaluationOptions) -> Verdict:
    return judge(compiled, payload, how)


def checker_of(schemas: CompiledSchemas) -> Checker:
    """Return a checker that has the schemas of payloads compiled by *schemas*."""
    return Checker(ProtocolSchemas(_compile, _LIMITS), schemas, _check, _judge, _LIMITS)
