"""Checkers without workers: what takes long is done here."""

from sidecheck_server.core.compiler.compilation import Artifact, CompiledSchema, compile_schema
from sidecheck_server.core.evaluate import EvaluationOptions, evaluate
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.mcp.check import CheckReport, check
from sidecheck_server.core.mcp.protocol_schemas import compile_protocol_schemas
from sidecheck_server.core.mcp.subjects import CheckRequest
from sidecheck_server.core.schemas.source import SchemaSource
from sidecheck_server.core.types import Verdict
from sidecheck_server.services.protocol import Checker
from sidecheck_server.services.protocol_schemas import ProtocolSchemas
from sidecheck_server.services.schemas import CompiledSchemas

__all__ = ["PROTOCOL_SCHEMAS", "checker_of"]

_LIMITS = Limits()
PROTOCOL_SCHEMAS = compile_protocol_schemas(_LIMITS)


async def _compile(source: SchemaSource, begun: object) -> Artifact:
    return compile_schema(source, _LIMITS)


async def _check(asked: CheckRequest) -> CheckReport:
    return check(asked, _LIMITS, PROTOCOL_SCHEMAS)


async def _judge(compiled: CompiledSchema, payload: bytes, how: EvaluationOptions) -> Verdict:
    return evaluate(compiled, payload, how)


def checker_of(schemas: CompiledSchemas) -> Checker:
    """Return a checker that has the schemas of payloads compiled by *schemas*."""
    return Checker(ProtocolSchemas(_compile, _LIMITS), schemas, _check, _judge, _LIMITS)
