"""Services without workers: offloaded work runs in process."""

from sidecheck_server.cli.in_process import InProcessWorker
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.mcp.context import DEFAULT_VERSION
from sidecheck_server.registry import Registry
from sidecheck_server.services.comparison import ToolComparer
from sidecheck_server.services.definitions import DefinitionChecker
from sidecheck_server.services.protocol import ProtocolChecker
from sidecheck_server.services.registration import Registrar, RegistryWriter
from sidecheck_server.services.schemas import CompiledSchemas, ProtocolSchemas

__all__ = ["checker_of", "registrar_of", "run_in_process"]

_LIMITS = Limits()
#: Runs tasks in place of a worker.
run_in_process = InProcessWorker(_LIMITS).run


def checker_of(schemas: CompiledSchemas, limits: Limits = _LIMITS) -> ProtocolChecker:
    """Return a checker that compiles the schemas of subjects by *schemas*."""
    run = InProcessWorker(limits).run
    return ProtocolChecker(ProtocolSchemas(run, limits), schemas, run, limits)


def registrar_of(
    registry: Registry, schemas: CompiledSchemas, limits: Limits = _LIMITS
) -> Registrar:
    """Return a registrar that compiles schemas by *schemas*."""
    definitions = DefinitionChecker(schemas, checker_of(schemas, limits), limits)
    writer = RegistryWriter(registry, lambda _: None)
    comparer = ToolComparer(InProcessWorker(limits).run, limits)
    return Registrar(registry, writer, definitions, comparer, DEFAULT_VERSION)
