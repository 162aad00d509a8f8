"""Services without workers: offloaded work is done in process."""

from sidecheck_server.core.compiler.compilation import Artifact, CompiledSchema, compile_schema
from sidecheck_server.core.evaluate import EvaluationOptions, evaluate
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.mcp.check import CheckReport, check
from sidecheck_server.core.mcp.context import DEFAULT_VERSION
from sidecheck_server.core.mcp.protocol_schemas import compile_protocol_schemas
from sidecheck_server.core.mcp.subjects import CheckRequest
from sidecheck_server.core.schemas.dialects import SchemaSource
from sidecheck_server.core.types import Verdict
from sidecheck_server.registry import Registry
from sidecheck_server.services.cache import Begin
from sidecheck_server.services.comparison import ToolComparer
from sidecheck_server.services.definitions import DefinitionChecker
from sidecheck_server.services.protocol import ProtocolChecker
from sidecheck_server.services.registration import Registrar, RegistryWriter
from sidecheck_server.services.schemas import CompiledSchemas, ProtocolSchemas
from sidecheck_server.workers.in_process import InProcessWorker

__all__ = [
    "PROTOCOL_SCHEMAS",
    "checker_of",
    "compile_in_process",
    "registrar_of",
    "validate_in_process",
]

_LIMITS = Limits()
PROTOCOL_SCHEMAS = compile_protocol_schemas(_LIMITS)


async def compile_in_process(source: SchemaSource, begin: Begin) -> Artifact:
    """Compile *source* in place of a worker."""
    begin()
    return compile_schema(source, _LIMITS)


async def validate_in_process(
    compiled: CompiledSchema, payload: bytes, options: EvaluationOptions
) -> Verdict:
    """Validate *payload* in place of a worker."""
    return evaluate(compiled, payload, options)


def checker_of(schemas: CompiledSchemas, limits: Limits = _LIMITS) -> ProtocolChecker:
    """Return a checker that compiles the schemas of subjects by *schemas*."""

    async def check_in_process(request: CheckRequest) -> CheckReport:
        return check(request, limits, PROTOCOL_SCHEMAS)

    protocol_schemas = ProtocolSchemas(compile_in_process, limits)
    return ProtocolChecker(protocol_schemas, schemas, check_in_process, validate_in_process, limits)


def registrar_of(
    registry: Registry, schemas: CompiledSchemas, limits: Limits = _LIMITS
) -> Registrar:
    """Return a registrar that compiles schemas by *schemas*."""
    definitions = DefinitionChecker(schemas, checker_of(schemas, limits), limits)
    writer = RegistryWriter(registry, lambda _: None)
    comparer = ToolComparer(InProcessWorker(limits).compare, limits)
    return Registrar(registry, writer, definitions, comparer, DEFAULT_VERSION)
