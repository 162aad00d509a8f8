"""Composition root: creates the registry, the workers, the services and the server."""

from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager

import structlog

from sidecheck_server.registry import Registry
from sidecheck_server.registry.sqlite import open_registry
from sidecheck_server.rpc.server import Server
from sidecheck_server.services.adaptation import ToolAdapter
from sidecheck_server.services.calls import CallValidator, ResultChecker
from sidecheck_server.services.checks import SubjectChecker
from sidecheck_server.services.container import Services
from sidecheck_server.services.conversion import Converter
from sidecheck_server.services.conversion_cache import ConversionCache
from sidecheck_server.services.definitions import DefinitionChecker
from sidecheck_server.services.inference import Inferrer
from sidecheck_server.services.model_calls import CallConverter
from sidecheck_server.services.normalization import Normalizer
from sidecheck_server.services.prepared_targets import PreparedTargets
from sidecheck_server.services.protocol import ProtocolChecker
from sidecheck_server.services.registration import Registrar, Registration
from sidecheck_server.services.resolution import TargetResolver
from sidecheck_server.services.result_messages import ResultConverter
from sidecheck_server.services.schemas import CompiledSchemas, ProtocolSchemas
from sidecheck_server.services.tools import ToolsChecker
from sidecheck_server.services.validation import Validator
from sidecheck_server.settings import Settings
from sidecheck_server.workers import Workers

__all__ = ["running_service"]

_log = structlog.get_logger("sidecheck.service")


@asynccontextmanager
async def running_service(
    settings: Settings, preload: Sequence[Registration] = ()
) -> AsyncIterator[Server]:
    """Run the service: it is ready when the block is entered, and drains when it is left.

    The tools of *preload* are registered before the server listens. Those that are
    rejected are logged.

    Raises:
        AddressInUseError: an address is taken.
        RegistryInUse: another server has opened the registry's file.
        RegistryUnusable: the file is not a registry.
    """
    async with AsyncExitStack() as stack:
        registry = open_registry(settings.registry)
        stack.callback(registry.close)
        # Processes are spawned before gRPC has threads.
        workers = Workers(settings.workers, settings.limits)
        stack.callback(workers.close)
        await workers.start()
        services = _create_services(settings, registry, workers)
        for registration in preload:
            await _preload(services.registrar, registration)
        server = Server(settings, registry, services)
        await server.start()
        stack.push_async_callback(server.stop)
        server.report_ready()
        yield server


def _create_services(settings: Settings, registry: Registry, workers: Workers) -> Services:
    limits = settings.limits
    schemas = CompiledSchemas(
        workers.compile, limits, settings.registered_schemas, settings.inline_schemas
    )
    protocol_schemas = ProtocolSchemas(workers.compile, limits)
    checker = ProtocolChecker(protocol_schemas, schemas, workers.check, workers.validate, limits)
    resolver = TargetResolver(registry, schemas, limits, frozenset(settings.report_only))
    validator = Validator(workers.validate)
    calls = CallValidator(resolver, validator, checker, limits)
    results = ResultChecker(resolver, validator, checker)
    adapter = ToolAdapter(resolver, limits)
    conversions = ConversionCache(workers.convert, limits)
    return Services(
        prepared_targets=PreparedTargets(resolver, validator, calls, registry),
        protocol_checker=checker,
        subject_checker=SubjectChecker(checker, results),
        tools_checker=ToolsChecker(checker, limits),
        registrar=Registrar(registry, DefinitionChecker(schemas, checker, limits)),
        converter=Converter(resolver, registry, conversions, limits),
        call_converter=CallConverter(resolver, validator, registry, limits),
        result_converter=ResultConverter(results, limits),
        normalizer=Normalizer(resolver, adapter, results, limits),
        adapter=adapter,
        inferrer=Inferrer(workers.infer, limits, enabled=settings.inference),
    )


async def _preload(registrar: Registrar, registration: Registration) -> None:
    """Register *registration*; the log names tools by their position in the file alone."""
    outcomes = (await registrar.register(registration)).outcomes
    rejected = [position for position, tool in enumerate(outcomes) if tool.action is None]
    for position in rejected:
        codes = sorted({violation.code for violation in outcomes[position].violations})
        _log.warning("preload.rejected", server=registration.server, tool=position, codes=codes)
    _log.info(
        "preload.registered",
        server=registration.server,
        tools=len(outcomes) - len(rejected),
        rejected=len(rejected),
    )
